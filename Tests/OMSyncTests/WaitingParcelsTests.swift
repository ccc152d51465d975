import Foundation
import OMItems
import OMParcels
import OMRecords
import OMRemote
import OMSecrets
import OMSyncKeys
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("Parcels that wait", .onOwnThreads) struct WaitingParcelsTests {
    /// A device, one whose head key a thief has, and a third one.
    private func three() throws -> SyncedHomes {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        for home in synced.homes { try home.sync() }
        return synced
    }

    private func unreadable(_ count: Int, by home: SyncedHome) throws -> [Parcel] {
        try (0..<count).map { index in
            let parcel = try home.parcel("rubbish \(index)", "rubbish")
            return Parcel(header: parcel.header, box: parcel.box.map { $0 ^ 1 })
        }
    }

    @Test("a member that lists more than may wait is read no further, and delays no other member", arguments: [true, false])
    func limit(isCounted: Bool) throws {
        let synced = try three()
        let (a, thief, c, store) = (synced.homes[0], synced.homes[1], synced.homes[2], try synced.store())
        let packs = try (0..<6).map { _ in try unreadable(4, by: thief) }
        let limit =
            isCounted
            ? WaitingLimit(bytes: .max, parcels: 10) : WaitingLimit(bytes: 10 * packs[0][0].encoded.count, parcels: .max)
        _ = try thief.publish(packs, in: store)
        try c.put("x", "of c")
        try c.sync()
        let number = try thief.number()
        for _ in 0..<2 {
            let pull = try a.sync(within: limit).pull
            #expect(pull.unreadPacks == [number: 3] && pull.unreadable == 12 && pull.malformed == 0 && pull.waiting == 0)
            #expect(try a.values() == ["x": "of c"])
        }
        // The newest were taken.
        let kept = try a.rows(.unread).map { $0.key.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        let first = try #require(kept.first)
        #expect(kept == [first, first + 1, first + 2])
    }

    @Test("what may wait is no limit for what is applied: many packs come in one exchange, whatever their order")
    func progress() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for index in 0..<23 {
            try b.add("item \(index)", "value \(index)")
            if index % 3 == 0 { try b.put("item \(index / 2)", "later value \(index)") }
            try b.sync()
        }
        let pull = try a.sync(within: WaitingLimit(bytes: .max, parcels: 1)).pull
        #expect(pull.unreadPacks.isEmpty && pull.waiting == 0)
        #expect(try a.values() == b.values() && a.values().count == 24)
        #expect(try a.rows(.unread).isEmpty)
        // What was read needs not be sent by this device.
        #expect(try a.sync().push.parcels == 0)
    }

    @Test("a pack that is not read yet is read later, also if its signer lists it in another pack by then")
    func later() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for index in 0..<6 {
            try b.add("item \(index)", "value \(index)")
            try b.sync()
        }
        // No room at all.
        let none = WaitingLimit(bytes: 0, parcels: 0)
        #expect(try a.sync(within: none).pull.unreadPacks == [b.number(): 6])
        #expect(try a.values() == ["x": "old"])
        for index in 6..<9 {
            try b.add("item \(index)", "value \(index)")
            try b.sync()
            #expect(try a.sync(within: none).pull.written == 0)
        }
        #expect(try a.sync().pull.unreadPacks.isEmpty)
        #expect(try a.values() == b.values() && a.values().count == 10)
    }

    @Test("late, unreadable and malformed versions are counted apart")
    func counts() throws {
        let synced = try three()
        let (a, thief, c, store) = (synced.homes[0], synced.homes[1], synced.homes[2], try synced.store())
        let lane = try thief.lane(.whenUnlocked)
        let rubbish = lane.seal(.item, SecretBytes(copying: [1, 2, 3]), id: Random.bytes(16), vault: try a.unlock().id)
        let late = try thief.parcel("late", "value", seen: [Dot(device: c.number(), count: 1000)])
        let unknown = try thief.parcel("of an unknown member", "value", seen: [Dot(device: 77, count: 1)])
        let later = try thief.parcel("of a later omvault", "value", version: 3)
        _ = try thief.publish([try unreadable(2, by: thief) + [rubbish, late, unknown, later]], in: store)
        let pull = try a.sync().pull
        #expect(pull.unreadable == 2 && pull.malformed == 1 && pull.waiting == 3 && pull.held == 0 && pull.written == 0)
        #expect(!pull.isStopped && pull.forgers.isEmpty)
        #expect(try a.values() == ["x": "old"])
    }

    @Test("behind its removal, nothing of a member stays that no plan takes, on every device")
    func removed() throws {
        let synced = try three()
        let (a, thief, c, store) = (synced.homes[0], synced.homes[1], synced.homes[2], try synced.store())
        let late = try thief.parcel("late", "value", seen: [Dot(device: c.number(), count: 1000)])
        let chunk = try thief.lane(.whenUnlocked).seal(
            .chunk, SecretBytes(copying: Random.bytes(16) + [0, 0, 0, 1, 7]), id: Random.bytes(16), vault: try a.unlock().id)
        let good = try thief.parcel("good", "value")
        _ = try thief.publish([try unreadable(3, by: thief) + [late, chunk], [good]], in: store)
        for home in [a, c] { try home.sync() }
        let number = try thief.number()
        func count(_ home: SyncedHome) throws -> Int {
            try home.rows(.arrived).count { row in row.key[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == number }
        }
        #expect(try count(a) == 6 && count(c) == 6)
        try a.unlock().removeDevices([number], now: a.now)
        for home in [a, c] { try home.sync() }
        #expect(try count(a) == 0 && count(c) == 0)
        // What was merged stays, and comes from another device now.
        #expect(try a.values() == ["x": "old", "good": "value"] && c.values() == a.values())
    }
}
