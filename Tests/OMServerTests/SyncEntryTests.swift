#if Server
// Entries of the roll on the server. docs/formats/sync.md, "Over HTTP".

import OMParcels
import OMRecords
import OMSecrets
import OMServerStore
import Testing

@testable import OMServer

@Suite("Entries of the roll on the server") struct SyncEntryTests {
    @Test("an entry that continues the roll is stored, once; the recovery code signs too", arguments: StoreKind.allCases)
    func stored(kind: StoreKind) async throws {
        var (server, roll) = try await SyncServer.withRemote(kind)
        let entries = [
            Sample.add(20, to: roll), Sample.add(30, to: try roll.with(Sample.add(20, to: roll)), by: 50),
        ]
        for entry in entries {
            #expect(try server.put(entry) == 204)
            let rows = try server.remoteRows()
            #expect(try server.put(entry) == 204)
            #expect(try server.remoteRows() == rows)
            #expect(try server.get(entry.file) == entry.encoded)
            try roll.append(entry)
        }
        let removal = Sample.remove([20, 30], from: roll)
        #expect(try server.put(removal) == 204)
        #expect(try server.list() == (4, Set((entries + [removal]).map(\.file))))
        // Entry 0 has no other name.
        #expect(try server.get(Sample.founding().file) == nil)
        #expect(try server.put(Sample.founding()) == 422)
    }

    @Test("what is no right entry under its name is refused", arguments: StoreKind.allCases)
    func refused(kind: StoreKind) async throws {
        let (server, roll) = try await SyncServer.withRemote(kind)
        let rows = try server.remoteRows()
        let entry = Sample.add(20, to: roll)
        let other = try Roll(Sample.founding(time: 2))
        #expect(try server.put(.entry(number: 1, digest: Sample.bytes(1)), entry.encoded) == 422)
        #expect(try server.put(.entry(number: 2, digest: entry.digest), entry.encoded) == 422)
        var changed = entry.encoded
        changed[changed.count - 1] ^= 1
        #expect(try server.put(.entry(number: 1, digest: PublicHash.hash(changed)), changed) == 422)
        let later = [UInt8(2)] + entry.encoded.dropFirst()
        #expect(try server.put(.entry(number: 1, digest: PublicHash.hash(later)), later) == 422)
        let longer = try roll.with(entry)
        for wrong in [
            // It does not continue a stored entry.
            Sample.add(20, to: other), Sample.add(30, to: longer),
            // No member signed it.
            Sample.add(20, to: roll, by: 20),
            // The rules of its kind: a device does not remove itself, and no number comes twice.
            Sample.remove([10], from: roll), Sample.add(10, to: roll),
        ] { #expect(try server.put(wrong) == 422) }
        // Of another vault, with a right signature.
        var contents = entry.contents
        contents.vault = Sample.bytes(9, 16)
        #expect(try server.put(RollEntry(contents, anchor: nil, signedWith: Sample.key(11))) == 422)
        // Signed in the name of a member with another key.
        #expect(try server.put(RollEntry(entry.contents, anchor: nil, signedWith: Sample.key(21))) == 422)
        #expect(try server.remoteRows() == rows)
    }

    @Test("a removed device signs nothing behind its removal", arguments: StoreKind.allCases)
    func removedSigner(kind: StoreKind) async throws {
        var (server, roll) = try await SyncServer.withRemote(kind)
        for next in [{ Sample.add(20, to: $0) }, { Sample.remove([20], from: $0) }] as [(Roll) -> RollEntry] {
            let entry = next(roll)
            #expect(try server.put(entry) == 204)
            try roll.append(entry)
        }
        #expect(try server.put(Sample.add(30, to: roll, by: 20)) == 422)
        #expect(try server.put(Sample.add(30, to: roll)) == 204)
    }

    @Test(
        "two entries of one number are kept, both can be continued, and devices of both may write", arguments: StoreKind.allCases)
    func branches(kind: StoreKind) async throws {
        let (server, roll) = try await SyncServer.withRemote(kind)
        let (one, other) = (Sample.add(20, to: roll), Sample.add(30, to: roll, by: 50))
        let behindOther = Sample.add(40, to: try roll.with(other))
        for entry in [one, other, behindOther] { #expect(try server.put(entry) == 204) }
        #expect(try server.files() == [one.file, other.file, behindOther.file])
        for device in [UInt8(10), 20, 30, 40] {
            let pack = Sample.pack(1, of: device)
            #expect(try server.put(pack) == 204)
            var chain = TestChain(device)
            let branch = device == 20 ? try roll.with(one) : try roll.with(other, behindOther)
            #expect(try server.put(chain.next(branch, packs: [pack]), &chain) == 204)
        }
        // Behind the removal on its branch a device is no member. On the other one it is.
        let removal = Sample.remove([10], from: try roll.with(one), by: 20)
        #expect(try server.put(removal) == 204)
        #expect(try server.put(Sample.pack(2)) == 204)
        #expect(try server.put(Sample.remove([10], from: try roll.with(other, behindOther), by: 30)) == 204)
        #expect(try server.put(Sample.pack(3)) == 422)
        #expect(try server.put(Sample.pack(2, of: 20)) == 204)
    }

    @Test("a signer has four entries of one number at most", arguments: StoreKind.allCases)
    func four(kind: StoreKind) async throws {
        let (server, roll) = try await SyncServer.withRemote(kind)
        for time in 1...4 { #expect(try server.put(Sample.add(20, to: roll, time: Int64(time))) == 204) }
        #expect(try server.put(Sample.add(20, to: roll, time: 5)) == 409)
        #expect(try server.put(Sample.add(20, to: roll, time: 4)) == 204)
        // The owner of the paper is not kept out by what a device wrote.
        #expect(try server.put(Sample.remove([10], from: roll, by: 50)) == 204)
    }

    @Test("behind the quota of entries there is place for removals and the recovery code", arguments: StoreKind.allCases)
    func reserved(kind: StoreKind) async throws {
        var limits = SyncLimits()
        (limits.entries, limits.reservedEntries) = (4, 2)
        let (server, roll) = try await SyncServer.withRemote(kind, limits: limits)
        let longer = try roll.with(Sample.add(20, to: roll))
        #expect(try server.put(longer.entries[1]) == 204)
        let rows = try server.remoteRows()
        #expect(try server.put(Sample.add(30, to: longer)) == 507)
        #expect(try server.remoteRows() == rows)
        #expect(try server.put(Sample.remove([20], from: longer)) == 204)
        #expect(try server.put(Sample.add(30, to: longer, by: 50)) == 204)
        #expect(try server.put(Sample.remove([10], from: longer, by: 50)) == 507)
        // What members pushed into packs delays no entry, and the other way round.
        #expect(try server.put(Sample.pack(1)) == 204)
        var bytes = SyncLimits()
        (bytes.entryBytes, bytes.reservedBytes) = (Int64(Sample.founding().encoded.count + 400), 0)
        let (small, _) = try await SyncServer.withRemote(kind, limits: bytes)
        #expect(try small.put(Sample.add(20, to: roll)) == 507)
    }

    @Test("a number keeps the keys that came first", arguments: StoreKind.allCases)
    func otherKeys(kind: StoreKind) async throws {
        let (server, roll) = try await SyncServer.withRemote(kind)
        let entry = Sample.add(20, to: roll)
        // Keys with the number of another device take 2^32 tries. So the store gets them here.
        try server.store.transaction(.write) { transaction in
            let remote = try #require(try transaction.row("SELECT id FROM remote")).bytes(0)
            try transaction.rows(
                "INSERT INTO remote_member (remote, device, kind, keys) VALUES (?1, ?2, 1, ?3)", .bytes(remote),
                .number(Int64(Sample.member(20).number)), .bytes(Sample.member(30).keys.encoded))
        }
        let rows = try server.remoteRows()
        #expect(try server.put(entry) == 422)
        #expect(try server.remoteRows() == rows)
        #expect(try server.put(Sample.add(40, to: roll)) == 204)
    }
}
#endif
