// Lanes, their parcels and lowerings.

import OMParcels
import OMRecords
import OMSecrets
import OMSyncKeys
import Testing

@Suite("Lanes") struct LaneTests {
    let lane = Lane(.whenUnlocked, epoch: 2, key(0x07))
    private let maker = [UInt8](repeating: 3, count: 32)

    private func sealed(_ content: [UInt8] = [1, 2, 3], by lane: Lane? = nil) -> Parcel {
        (lane ?? self.lane).seal(.item, SecretBytes(copying: content), id: item, vault: vault)
    }

    private func opens(_ parcel: Parcel, by lane: Lane? = nil, in vault: [UInt8] = vault) -> Bool {
        do {
            _ = try (lane ?? self.lane).open(parcel, vault: vault)
            return true
        } catch { return false }
    }

    @Test(
        "a parcel opens to its content and zeros, and its length is in steps of 256",
        arguments: [0, 1, 253, 254, 255, 65_536, 261_910])
    func seals(count: Int) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let parcel = sealed(content)
        #expect(parcel.box.count == 40 + (2 + count + 255) / 256 * 256)
        let opened = try lane.open(try Parcel(decoding: parcel.encoded), vault: vault)
        #expect(opened.kind == .item && opened.level == .whenUnlocked)
        #expect(plain(opened.content) == content + [UInt8](repeating: 0, count: parcel.box.count - 42 - count))
    }

    @Test("a parcel opens in its own place only: not with a changed byte, in another vault, or under another lane")
    func bound() throws {
        let parcel = sealed()
        #expect(opens(parcel) && !opens(parcel, in: bytes(0x12, 16)))
        #expect(!opens(parcel, by: Lane(.whenUnlocked, epoch: 2, key(0x08))))
        // The same key says another level, or another epoch.
        #expect(!opens(parcel, by: Lane(.always, epoch: 2, key(0x07))))
        #expect(!opens(parcel, by: Lane(.whenUnlocked, epoch: 3, key(0x07))))
        let encoded = parcel.encoded
        for index in encoded.indices {
            var changed = encoded
            changed[index] ^= 1
            guard let parcel = try? Parcel(decoding: changed) else { continue }
            #expect(!opens(parcel), "byte \(index)")
        }
    }

    @Test("two parcels of one content have nothing in common behind their id and epoch")
    func salted() {
        let (one, other) = (sealed(), sealed())
        #expect(one.header.salt != other.header.salt && one.header.commitment != other.header.commitment)
        #expect(zip(one.box, other.box).count(where: ==) < 32)
    }

    @Test("a set of lanes opens what its lanes sealed, and says when it has no lane for a parcel")
    func sets() throws {
        var lanes = LaneSet()
        for level in ProtectionLevel.Availability.allCases where level != .whenUnlocked {
            lanes.insert(Lane(level, epoch: 2, key(level.rawValue)), madeBy: maker)
        }
        let isOpened = { (parcel: Parcel) throws(SecretsError) in
            if case .some = try lanes.open(parcel, vault: vault) { true } else { false }
        }
        for level in ProtectionLevel.Availability.allCases {
            let parcel = sealed(by: Lane(level, epoch: 2, key(level.rawValue)))
            let (opened, ofOldEpoch) = (
                try isOpened(parcel), try isOpened(sealed(by: Lane(level, epoch: 1, key(level.rawValue))))
            )
            #expect(opened == (level != .whenUnlocked) && !ofOldEpoch)
        }
        // The commitment is right, and the box is another's.
        let (one, other) = (
            sealed(by: lanes.lane(.always, epoch: 2, madeBy: maker)), sealed(by: lanes.lane(.always, epoch: 2, madeBy: maker))
        )
        #expect(throws: SecretsError.cannotOpen) { try isOpened(Parcel(header: one.header, box: other.box)) }
    }

    @Test("the MAC of a lowering holds for its vault, item, edits, epoch and level alone")
    func lowerings() throws {
        let seen = try #require(Seen([Dot(device: 1, count: 4)]))
        let more = try #require(Seen([Dot(device: 1, count: 5)]))
        let stored = lane.prove(Lowering(from: .whenUnlocked, seen: seen), item: item, vault: vault)
        #expect(lane.proves(stored, item: item, vault: vault))
        #expect(!lane.proves(stored, item: bytes(0x34, 16), vault: vault))
        #expect(!lane.proves(stored, item: item, vault: bytes(0x12, 16)))
        #expect(!Lane(.whenUnlocked, epoch: 2, key(0x08)).proves(stored, item: item, vault: vault))
        let forged = [
            StoredLowering(Lowering(from: .whenUnlocked, seen: more), laneEpoch: 2, mac: stored.mac),
            StoredLowering(Lowering(from: .afterFirstUnlock, seen: seen), laneEpoch: 2, mac: stored.mac),
            StoredLowering(stored.claimed, laneEpoch: 1, mac: stored.mac),
        ]
        for lowering in forged { #expect(!lane.proves(lowering, item: item, vault: vault)) }
    }

    @Test("a lowering counts with the right MAC; without the lane of its epoch it waits, and that of a closed level is left open")
    func checkedLowerings() throws {
        let seen = try #require(Seen([Dot(device: 1, count: 4)]))
        let lowering = Lowering(from: .whenUnlocked, seen: seen)
        let stored = lane.prove(lowering, item: item, vault: vault)
        let open: Set = [ProtectionLevel.Availability.whenUnlocked, .always]
        var lanes = LaneSet()
        lanes.insert(lane, madeBy: maker)
        #expect(try lanes.lowerings([stored], item: item, vault: vault, openLevels: open) == [lowering])
        let forged = StoredLowering(lowering, laneEpoch: stored.laneEpoch, mac: bytes(1))
        #expect(throws: SecretsError.cannotOpen) { try lanes.lowerings([forged], item: item, vault: vault, openLevels: open) }
        #expect(throws: SecretsError.cannotOpen) {
            try lanes.lowerings([stored], item: bytes(0x34, 16), vault: vault, openLevels: open)
        }
        let unknown = StoredLowering(lowering, laneEpoch: 99, mac: stored.mac)
        #expect(try lanes.lowerings([unknown], item: item, vault: vault, openLevels: open) == nil)
        #expect(try LaneSet().lowerings([stored], item: item, vault: vault, openLevels: open) == nil)
        #expect(try lanes.lowerings([forged], item: item, vault: vault, openLevels: [.always]) == [lowering])
    }
}
