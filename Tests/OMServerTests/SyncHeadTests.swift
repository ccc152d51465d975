#if Server
// Heads and lists of heads on the server. docs/formats/sync.md, "Over HTTP".

import OMParcels
import OMSecrets
import OMServerStore
import Testing

@testable import OMServer

@Suite("Heads on the server") struct SyncHeadTests {
    /// A roll of the devices 10 and 20, stored.
    private func server(_ kind: StoreKind, limits: SyncLimits = SyncLimits()) async throws -> (server: SyncServer, roll: Roll) {
        let (server, roll) = try await SyncServer.withRemote(kind, limits: limits)
        let entry = Sample.add(20, to: roll)
        #expect(try server.put(entry) == 204)
        return (server, try roll.with(entry))
    }

    @Test("a chain is followed; the two newest heads are in the two files", arguments: StoreKind.allCases)
    func chain(kind: StoreKind) async throws {
        let (server, roll) = try await server(kind)
        var chain = TestChain(10)
        for number in 1...40 {
            let head = chain.next(roll)
            // The client's name does not decide.
            #expect(try server.put(.head(device: chain.number, isSecond: number % 3 == 0), head.encoded) == 204, "\(number)")
            chain.append(head)
            let (odd, even) = number % 2 == 1 ? (number, number - 1) : (number - 1, number)
            #expect(try server.get(.head(device: chain.number, isSecond: false)) == chain.heads[odd - 1].encoded)
            let second = even == 0 ? nil : chain.heads[even - 1].encoded
            #expect(try server.get(.head(device: chain.number, isSecond: true)) == second)
        }
        let rows = try server.remoteRows()
        #expect(try server.put(chain.file(chain.heads[39]), chain.heads[39].encoded) == 204)
        #expect(try server.remoteRows() == rows)
        // Few digests are enough for every later skip.
        #expect(try #require(rows["remote_head"]).count <= 8)
        #expect(try server.list().change == 42)
    }

    @Test("what is no head of this device on this remote is refused", arguments: StoreKind.allCases)
    func refused(kind: StoreKind) async throws {
        let (server, roll) = try await server(kind)
        let chain = TestChain(10)
        let pack = Sample.pack(1)
        #expect(try server.put(pack) == 204)
        let rows = try server.remoteRows()
        let good = chain.next(roll, packs: [pack])
        var changed = good.encoded
        changed[changed.count - 1] ^= 1
        #expect(try server.put(chain.file(good), changed) == 422)
        #expect(try server.put(chain.file(good), [1]) == 422)
        #expect(try server.put(.head(device: TestChain(20).number, isSecond: false), good.encoded) == 422)
        let unknown = TestChain(30), code = TestChain(50)
        for (chain, head) in [
            (chain, chain.next(roll) { $0.vault = Sample.bytes(9, 16) }),
            (chain, chain.next(roll) { $0.incarnation = Sample.bytes(9, 16) }),
            // Signed by another member, or by the key that signs entries.
            (chain, chain.next(roll, signer: 20)), (chain, chain.next(roll, signer: 11)),
            (unknown, unknown.next(roll)), (code, code.next(roll)),
            // It names an entry that is not here.
            (chain, chain.next(roll) { $0.rollDigest = Sample.bytes(9) }), (chain, chain.next(roll) { $0.rollNumber = 0 }),
            (chain, chain.next(try roll.with(Sample.add(30, to: roll)))),
            // It lists a pack that is not here, or another one under its number, or that of another device.
            (chain, chain.next(roll, packs: [Sample.pack(2)])), (chain, chain.next(roll, packs: [Sample.pack(1, ids: 2...2)])),
            (TestChain(20), TestChain(20).next(roll, packs: [pack])),
        ] { #expect(try server.put(chain.file(head), head.encoded) == 422) }
        #expect(try server.remoteRows() == rows)
        #expect(try server.put(chain.file(good), good.encoded) == 204)
    }

    @Test("a head that does not continue its device's chain is a conflict: a clone is found", arguments: StoreKind.allCases)
    func clone(kind: StoreKind) async throws {
        let (server, roll) = try await server(kind)
        var chain = TestChain(10)
        let wrongFirst = chain.next(roll) {
            ($0.number, $0.previous) = (3, Sample.bytes(1)); $0.skip = Sample.bytes(1)
        }
        #expect(try server.put(chain.file(wrongFirst), wrongFirst.encoded) == 409)
        for _ in 1...4 { #expect(try server.put(chain.next(roll), &chain) == 204) }
        let rows = try server.remoteRows()
        var clone = TestChain(10)
        for head in chain.heads.dropLast() { clone.append(head) }
        let second = clone.next(roll, time: 9)
        // The clone's head of the same number, and the one behind it.
        #expect(try server.put(clone.file(second), second.encoded) == 409)
        clone.append(second)
        let third = clone.next(roll)
        #expect(try server.put(clone.file(third), third.encoded) == 409)
        for head in [
            chain.heads[0], chain.heads[2],
            chain.next(roll) { $0.skip = chain.heads[2].digest },
            chain.next(roll) { $0.previous = chain.heads[2].digest },
            chain.next(roll) { ($0.number, $0.skip) = (6, chain.heads[3].digest) },
        ] { #expect(try server.put(chain.file(head), head.encoded) == 409) }
        #expect(try server.remoteRows() == rows)
        #expect(try server.put(chain.next(roll), &chain) == 204)
    }

    @Test("of two copies of a device that push at once, one is stored", arguments: StoreKind.allCases)
    func race(kind: StoreKind) async throws {
        let (server, roll) = try await server(kind)
        let chain = TestChain(10)
        _ = try server.token()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for time in 1...8 {
                group.addTask {
                    let head = chain.next(roll, time: Int64(time))
                    return try server.put(chain.file(head), head.encoded)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [204] + [Int](repeating: 409, count: 7))
    }

    @Test("a device has 60 heads a minute, and is told when to come again", arguments: StoreKind.allCases)
    func rate(kind: StoreKind) async throws {
        let (server, roll) = try await server(kind)
        server.service.pass(60 - server.service.now % 60 + 10)
        var (chain, other) = (TestChain(10), TestChain(20))
        for _ in 1...60 { #expect(try server.put(chain.next(roll), &chain) == 204) }
        let head = chain.next(roll)
        let answer = try server.call(.put, SyncServer.name() + "/" + chain.file(head).path, head.encoded)
        #expect(answer.status == 429 && answer.headers["retry-after"] == "50")
        // One signer delays no other one, and no entry.
        #expect(try server.put(other.next(roll), &other) == 204)
        #expect(try server.put(Sample.add(30, to: roll)) == 204)
        #expect(try server.put(chain.file(chain.heads[59]), chain.heads[59].encoded) == 204)
        server.service.pass(50)
        #expect(try server.put(head, &chain) == 204)
    }

    @Test("a removed device's heads are stored still", arguments: StoreKind.allCases)
    func removed(kind: StoreKind) async throws {
        let (server, roll) = try await server(kind)
        var chain = TestChain(20)
        #expect(try server.put(chain.next(roll), &chain) == 204)
        #expect(try server.put(Sample.remove([20], from: roll)) == 204)
        #expect(try server.put(chain.next(roll), &chain) == 204)
    }

    @Test("there is a limit of devices with heads", arguments: StoreKind.allCases)
    func signers(kind: StoreKind) async throws {
        var limits = SyncLimits()
        limits.signers = 1
        let (server, roll) = try await server(kind, limits: limits)
        var (chain, other) = (TestChain(10), TestChain(20))
        #expect(try server.put(chain.next(roll), &chain) == 204)
        #expect(try server.put(other.next(roll), &other) == 507)
        #expect(try server.put(chain.next(roll), &chain) == 204)
    }

    @Test("lists of heads of members are stored and replaced", arguments: StoreKind.allCases)
    func lists(kind: StoreKind) async throws {
        let (server, roll) = try await server(kind)
        server.service.pass(60 - server.service.now % 60)
        var chain = TestChain(20)
        for _ in 1...3 { chain.append(chain.next(roll)) }
        let file = RemoteFile.heads(device: TestChain(10).number)
        func list(_ heads: [Head], vault: [UInt8] = Sample.vault) -> [UInt8] { HeadList(vault: vault, heads: heads).encoded }
        // Also heads of other remotes of this vault.
        let elsewhere = TestChain(10).next(roll) { $0.incarnation = Sample.bytes(9, 16) }
        #expect(try server.put(file, list(chain.heads + [elsewhere])) == 204)
        let rows = try server.remoteRows()
        let strange = TestChain(30).next(roll), unsigned = TestChain(20).next(roll, signer: 10)
        let code = TestChain(50).next(roll), foreign = TestChain(20).next(roll) { $0.vault = Sample.bytes(9, 16) }
        for wrong in [
            list([strange]), list(chain.heads + [elsewhere, code]), list([unsigned]), list([foreign], vault: Sample.bytes(9, 16)),
            [1] + Sample.vault + [0, 0], chain.heads[0].encoded,
        ] { #expect(try server.put(file, wrong) == 422) }
        for device in [UInt8(30), 50] {
            #expect(try server.put(.heads(device: Sample.member(device).number), list(chain.heads)) == 422)
        }
        #expect(try server.put(file, list(chain.heads + [elsewhere])) == 204)
        #expect(try server.remoteRows() == rows)
        #expect(try server.put(file, list(chain.heads)) == 204)
        #expect(try server.get(file) == list(chain.heads))
        var statuses: Set<Int> = []
        for index in 0..<58 { statuses.insert(try server.put(file, list([chain.heads[index % 2]]))) }
        #expect(statuses == [204])
        #expect(try server.put(file, list(chain.heads)) == 429)
        // What a token alone can write delays no head.
        var own = TestChain(10)
        #expect(try server.put(own.next(roll), &own) == 204)
    }
}
#endif
