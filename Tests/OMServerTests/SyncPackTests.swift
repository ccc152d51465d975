#if Server
// Packs, messages and quotas on the server. docs/formats/sync.md, "Over HTTP".

import OMParcels
import OMSecrets
import OMServerStore
import Testing

@testable import OMServer

@Suite("Packs on the server") struct SyncPackTests {
    private static let day: Int64 = 86_400

    private func collect(_ server: SyncServer) throws { try SyncCollection.run(server.store, now: server.service.now) }

    @Test("a pack of a present member is stored and never changes", arguments: StoreKind.allCases)
    func stored(kind: StoreKind) async throws {
        let (server, _) = try await SyncServer.withRemote(kind)
        let last = Sample.pack(.max, ids: 1...3, steps: 700)
        for pack in [Sample.pack(1), last] {
            #expect(try server.put(pack) == 204 && server.get(pack.file) == pack.encoded)
            let rows = try server.remoteRows()
            #expect(try server.put(pack) == 204)
            #expect(try server.put(pack.file, Sample.pack(pack.number, ids: 5...5).encoded) == 409)
            #expect(try server.remoteRows() == rows)
        }
        let rows = try server.remoteRows()
        let pack = Sample.pack(2)
        #expect(try server.put(Sample.pack(2, of: 20)) == 422)
        #expect(try server.put(.pack(device: pack.device, number: 3), pack.encoded) == 422)
        #expect(try server.put(.pack(device: Sample.member(50).number, number: 2), pack.encoded) == 422)
        let code = Sample.pack(2, of: 50)
        let foreign = Pack(vault: Sample.bytes(9, 16), device: pack.device, number: 2, parcels: pack.parcels)
        let empty = Pack(vault: Sample.vault, device: pack.device, number: 2, parcels: [])
        for wrong in [code, foreign, empty] { #expect(try server.put(wrong) == 422) }
        #expect(try server.put(pack.file, pack.encoded + [0]) == 422)
        #expect(try server.remoteRows() == rows)
    }

    @Test("a superseded pack is out of the list, and readable for 30 days", arguments: StoreKind.allCases)
    func superseded(kind: StoreKind) async throws {
        let (server, roll) = try await SyncServer.withRemote(kind)
        var chain = TestChain(10)
        let packs = (1...3).map { Sample.pack($0, ids: UInt8($0)...UInt8($0)) }
        for pack in packs { #expect(try server.put(pack) == 204) }
        #expect(try server.put(chain.next(roll, packs: Array(packs[..<2])), &chain) == 204)
        #expect(try server.delete(packs[0].file) == 409)
        #expect(try server.put(chain.next(roll, packs: [packs[1], packs[2]]), &chain) == 204)
        let heads = [false, true].map { RemoteFile.head(device: chain.number, isSecond: $0) }
        #expect(try server.files() == Set(heads + [packs[1].file, packs[2].file]))
        // Its device may ask for its removal, as in a folder.
        #expect(try server.delete(packs[0].file) == 204)
        let rows = try server.remoteRows()
        #expect(try server.put(packs[0]) == 204 && server.remoteRows() == rows)
        server.service.pass(30 * Self.day)
        try collect(server)
        #expect(try server.get(packs[0].file) == packs[0].encoded)
        let change = try server.list().change
        server.service.pass(1)
        try collect(server)
        #expect(try server.get(packs[0].file) == nil)
        #expect(try server.list() == (change, Set(heads + [packs[1].file, packs[2].file])))
    }

    @Test("a later head may list a superseded pack again", arguments: StoreKind.allCases)
    func again(kind: StoreKind) async throws {
        let (server, roll) = try await SyncServer.withRemote(kind)
        var chain = TestChain(10)
        let pack = Sample.pack(1)
        #expect(try server.put(pack) == 204)
        for packs in [[pack], [], [pack]] { #expect(try server.put(chain.next(roll, packs: packs), &chain) == 204) }
        #expect(try server.files().contains(pack.file))
        server.service.pass(40 * Self.day)
        try collect(server)
        #expect(try server.get(pack.file) == pack.encoded)
    }

    @Test("a pack that no head lists is forgotten after a day, or deleted", arguments: StoreKind.allCases)
    func unlisted(kind: StoreKind) async throws {
        let (server, _) = try await SyncServer.withRemote(kind)
        let packs = [Sample.pack(1), Sample.pack(2)]
        for pack in packs { #expect(try server.put(pack) == 204) }
        #expect(try server.delete(packs[0].file) == 204 && server.get(packs[0].file) == nil)
        server.service.pass(Self.day)
        try collect(server)
        #expect(try server.files() == [packs[1].file])
        server.service.pass(1)
        try collect(server)
        #expect(try server.list() == (1, []))
    }

    @Test("listed and new packs of a signer have a quota, superseded ones do not count", arguments: StoreKind.allCases)
    func quotas(kind: StoreKind) async throws {
        let size = Int64(Sample.pack(1).encoded.count)
        for change in [
            { $0.parcels = 3 }, { $0.bytes = 3 * size }, { $0.packs = 3 }, { $0.packsOfRemote = 3 },
        ] as [(inout SyncLimits) -> Void] {
            var limits = SyncLimits()
            change(&limits)
            let (server, roll) = try await SyncServer.withRemote(kind, limits: limits)
            var chain = TestChain(10)
            let packs = (1...4).map { Sample.pack($0) }
            for pack in packs[..<3] { #expect(try server.put(pack) == 204) }
            #expect(try server.put(packs[3]) == 507)
            #expect(try server.put(chain.next(roll, packs: Array(packs[..<3])), &chain) == 204)
            #expect(try server.put(packs[3]) == 507)
            #expect(try server.put(packs[2]) == 204)
            // Entries have a quota of their own, and so has each signer.
            let entry = Sample.add(20, to: roll)
            #expect(try server.put(entry) == 204)
            let ofOther = limits.packsOfRemote == 3 ? 507 : 204
            #expect(try server.put(Sample.pack(1, of: 20)) == ofOther)
            #expect(try server.put(chain.next(roll, packs: [packs[0], packs[1]]), &chain) == 204)
            guard ofOther == 204 else { continue }
            #expect(try server.put(packs[3]) == 204)
            // The superseded pack would be one too many.
            if limits.packs > 3 { #expect(try server.put(chain.next(roll, packs: packs), &chain) == 507) }
            #expect(try server.get(packs[2].file) == packs[2].encoded)
        }
    }

    @Test("superseded packs of a signer have the same limits once more, and the oldest go first", arguments: StoreKind.allCases)
    func supersededQuota(kind: StoreKind) async throws {
        var limits = SyncLimits()
        limits.parcels = 2
        let (server, roll) = try await SyncServer.withRemote(kind, limits: limits)
        var chain = TestChain(10)
        let packs = (1...4).map { Sample.pack($0) }
        for pack in packs {
            server.service.pass(1)
            #expect(try server.put(pack) == 204 && server.put(chain.next(roll, packs: [pack]), &chain) == 204)
        }
        #expect(try packs.map { try server.get($0.file) != nil } == [false, true, true, true])
    }

    @Test("a message is stored once, deleted, and ends after a day", arguments: StoreKind.allCases)
    func messages(kind: StoreKind) async throws {
        let (server, _) = try await SyncServer.withRemote(kind)
        let file = RemoteFile.message(mailbox: Sample.bytes(5, 16), number: 2)
        let body = Sample.bytes(1, 40 + 512)
        for wrong in [40, 39, 0, 41 + 256] { #expect(try server.put(file, Sample.bytes(1, wrong)) == 422) }
        #expect(try server.put(file, body) == 204)
        let rows = try server.remoteRows()
        #expect(try server.put(file, body) == 204)
        #expect(try server.put(file, Sample.bytes(2, 40 + 512)) == 409)
        #expect(try server.remoteRows() == rows && server.get(file) == body)
        for number in UInt8(1)...63 {
            #expect(try server.put(.message(mailbox: Sample.bytes(100 + number, 16), number: 1), body) == 204)
        }
        #expect(try server.put(.message(mailbox: Sample.bytes(200, 16), number: 1), body) == 507)
        #expect(try server.delete(file) == 204 && server.get(file) == nil)
        #expect(try server.put(.message(mailbox: Sample.bytes(200, 16), number: 1), body) == 204)
        server.service.pass(Self.day)
        try collect(server)
        let before = try server.list()
        #expect(before.files.count == 64)
        server.service.pass(1)
        try collect(server)
        #expect(try server.list() == (before.change + 1, []))
    }
}
#endif
