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

@Suite("A member that breaks the rules", .onOwnThreads) struct HostileMemberTests {
    /// A device removes another one, and makes the wraps and the link as it likes.
    private func remove(
        _ number: UInt32, by home: SyncedHome, link: LinkKey? = nil, _ change: (LaneWrap) -> LaneWrap = { $0 }
    ) throws {
        let vault = try home.unlock()
        try vault.editSync(now: home.now) { access throws(VaultError) in
            guard let ownLink = try DeviceLanes(vault, access).link else { throw .unchanged }
            let deviceRoll = try DeviceRoll(access)
            let (roll, id) = (deviceRoll.roll, access.vault)
            let (next, epoch) = (UInt32(roll.entries.count), roll.laneEpoch + 1)
            let lanes = ProtectionLevel.Availability.allCases.map { Lane.random($0, epoch: epoch) }
            let rest = roll.members.values.filter { $0.number != number }
            let wraps = try RollChange.wraps(lanes, link ?? ownLink, for: rest, entry: next, vault: id)
            let signer = try vault.signer(access)
            let entry = signer.sign(
                RollEntry.Contents(
                    kind: .remove, vault: id, number: next, previous: roll.digests[roll.digests.count - 1],
                    signer: signer.number, time: home.now, laneEpoch: epoch, added: [], removed: [number],
                    wraps: wraps.map(change)))
            try deviceRoll.keep(entry, &access)
            for lane in lanes { try DeviceLanes.keep(lane, madeBy: entry.digest, vault, &access) }
            try PushNotes.drop(on: nil, of: nil, &access)
        }
    }

    private func epochs(_ home: SyncedHome, _ level: ProtectionLevel.Availability) throws -> Set<UInt8> {
        Set(try home.rows(.lane).filter { $0.key[0] == level.rawValue }.map { $0.key[4] })
    }

    @Test("a wrap that does not open keeps a device from these lanes alone: it goes on, and can remove the member")
    func badWrap() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        for home in synced.homes { try home.sync() }
        let number = try a.number()
        try remove(try c.number(), by: b) { wrap in
            guard wrap.scope.member == number, wrap.scope.kind == .unlocked else { return wrap }
            return LaneWrap(wrap.scope, sender: wrap.sender, box: wrap.box.map { $0 ^ 1 })
        }
        try b.sync()
        try a.put("x", "of a")
        let report = try a.sync()
        #expect(!report.pull.isStopped && !report.pull.isRemoved && report.push.skipped > 0)
        // The lane of `always` is in a wrap of its own.
        #expect(try epochs(a, .always) == [1, 2] && epochs(a, .whenUnlocked) == [1])
        #expect(try a.values() == ["x": "of a"])
        try a.unlock().removeDevices([b.number()], now: a.now)
        #expect(try a.sync().push.skipped == 0)
        #expect(try epochs(a, .whenUnlocked) == [1, 3])
        let parcels = try synced.parcels().filter { $0.device == number }
        #expect(parcels.contains { $0.parcel.header.laneEpoch == 3 })
    }

    @Test("another link in a wrap changes nothing: a device keeps the link that it has")
    func otherLink() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        for home in synced.homes { try home.sync() }
        let before = try a.rows(.link)
        try remove(try c.number(), by: b, link: LinkKey.random())
        for home in [b, a] { try home.sync() }
        #expect(try a.rows(.link) == before && epochs(a, .whenUnlocked) == [1, 2])
        // So both devices still make the same copy.
        try a.put("x", "of a")
        b.now += 10
        try b.put("x", "of b")
        for home in [a, b, a, b] { try home.sync() }
        #expect(try a.values().count == 2 && a.values() == b.values())
    }

    /// The chunks of the only large item, as parcels of any item with any bytes.
    private func chunks(
        of home: SyncedHome, as item: [UInt8]? = nil, _ change: (inout [UInt8]) -> Void = { _ in }
    ) throws -> (item: [UInt8], chunks: [Parcel]) {
        let lane = try home.lane(.whenUnlocked)
        let vault = try home.unlock()
        var (id, parcels): ([UInt8], [Parcel]) = ([], [])
        try vault.readSync { access throws(VaultError) in
            for place in try access.places() {
                let found = try access.version(at: place)
                for chunk in found.content.fields.flatMap(\.chunks) {
                    id = item ?? found.id
                    var bytes = try access.chunk(chunk, of: found).withBytes { bytes in bytes.indices.map { bytes[$0] } }
                    change(&bytes)
                    var content = id
                    content.append(number: UInt32(bytes.count))
                    parcels.append(
                        lane.seal(.chunk, SecretBytes(copying: content + bytes), id: chunk, vault: access.vault))
                }
            }
        }
        return (id, parcels)
    }

    @Test("rubbish under the ids of another member's chunks keeps no device from the value, nor from sending its chunks")
    func rubbishChunks() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, thief, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        for home in synced.homes { try home.sync() }
        let large = String(repeating: "omvault ", count: 160_000)
        try a.addLarge("big", large)
        for home in [a, thief] { try home.sync() }
        // The thief lists the item too, so that its own chunks count for it.
        let (item, rubbish) = try chunks(of: thief) { $0[0] ^= 1 }
        #expect(rubbish.count > 4)
        let lane = try thief.lane(.whenUnlocked)
        let vault = try thief.unlock()
        let copied = try vault.readSync { access throws(VaultError) in
            var copied: Parcel?
            for place in try access.places() {
                let found = try access.version(at: place)
                guard found.id == item, let parts = found.content.parts else { continue }
                copied = lane.seal(.item, try found.content.parcelContent(parts), id: item, vault: access.vault)
            }
            return copied
        }
        _ = try thief.publish([rubbish + [try #require(copied)]], in: try synced.store())
        try c.sync()
        #expect(try c.large("big") == large)
        // The writer goes. Its chunks do not count any more, and those of the thief never did.
        try c.unlock().removeDevices([a.number()], now: c.now)
        try c.sync()
        let number = try c.number()
        let sent = Set(try synced.parcels().filter { $0.device == number }.map(\.parcel.header.id))
        #expect(sent.isSuperset(of: rubbish.map(\.header.id)))
        #expect(try c.unlock().verify(deep: true).findings.isEmpty)
    }

    @Test("a version whose chunks another member lists is taken at once, though a third one lists rubbish under their ids")
    func rubbishBesideOthers() throws {
        let synced = try SyncedHomes(4) { home in try home.add("x", "old") }
        for home in synced.homes { try home.sync() }
        let receiver = synced.homes[3]
        // The thief is the first whose chunks are tried.
        let homes = try synced.homes.prefix(3).map { ($0, try $0.number()) }.sorted { $0.1 < $1.1 }.map(\.0)
        let (thief, writer, editor) = (homes[0], homes[1], homes[2])
        let large = String(repeating: "omvault ", count: 160_000)
        try writer.addLarge("big", large)
        for home in [writer, editor, thief] { try home.sync() }
        // Its parcel names the chunks of the writer.
        try editor.putSecond("big", "note")
        #expect(try editor.sync().push.parcels == 1)
        let (_, rubbish) = try chunks(of: thief) { $0[0] ^= 1 }
        _ = try thief.publish([rubbish], in: try synced.store())
        let pull = try receiver.sync().pull
        #expect(pull.written > 0 && pull.waiting == 0)
        #expect(try receiver.large("big") == large)
        let item = try receiver.unlock().item(try ItemName("big"))
        #expect(item.fields.map(\.name.text).sorted() == ["note", "password"])
    }

    @Test("an item that cannot be written keeps no other item back, also of its own group")
    func unwritable() throws {
        let synced = try SyncedHomes(2) { home in
            try home.addLarge("big", String(repeating: "omvault ", count: 160_000))
        }
        let (a, thief) = (synced.homes[0], synced.homes[1])
        try a.sync()
        // Another item that names the same chunks.
        let id = Random.bytes(16)
        let (item, chunks) = try chunks(of: thief, as: id)
        #expect(item == id)
        let lane = try thief.lane(.whenUnlocked)
        let vault = try thief.unlock()
        let copied = try vault.readSync { access throws(VaultError) in
            let found = try access.version(at: try access.places()[0])
            let dot = Dot(device: access.own?.device ?? 0, count: (access.own?.issued ?? 0) + 1)
            guard let seen = Seen([dot]) else { throw .unchanged }
            let content = try found.content.parcelContent(SyncedParts(dot: dot, seen: seen))
            return lane.seal(.item, content, id: id, vault: access.vault)
        }
        let good = try (0..<5).map { try thief.parcel("good \($0)", "value") }
        _ = try thief.publish([chunks + [copied] + good], in: try synced.store())
        let pull = try a.sync().pull
        #expect(pull.written == 5 && !pull.isStopped)
        #expect(try a.unlock().items().count == 6)
        #expect(try a.unlock().verify(deep: true).findings.isEmpty)
        #expect(try a.sync().pull.written == 0)
    }

    @Test("an item that the user changes between the plan and its commit is not replaced; the next plan makes a copy")
    func editedMeanwhile() throws {
        let synced = try SyncedHomes(2) { home in for name in ["x", "y"] { try home.add(name, "old") } }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for name in ["x", "y"] { try b.put(name, "of b") }
        try b.sync()
        let vault = try a.unlock()
        _ = try vault.fetch(try vault.remotes()[0], from: try synced.store(), now: a.now)
        let reading = try vault.readSync { access throws(VaultError) in try Arrivals(vault, access) }
        let plan = BrakedPlan(reading, at: a.now).plan
        #expect(plan.changes.count == 2)
        try a.put("x", "by the user")
        #expect(try vault.write(reading, plan, now: a.now).isEmpty)
        #expect(try a.values() == ["x": "by the user", "y": "old"])
        for home in [a, b] { try home.sync() }
        #expect(try a.values().values.sorted() == ["by the user", "of b", "of b"] && b.values() == a.values())
    }
}
