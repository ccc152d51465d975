// Wraps of lanes, names of devices, and the anchor of a recovery code.

import OMParcels
import OMRecords
import OMSecrets
import OMSyncKeys
import Testing

@Suite("What members get") struct MemberTests {
    private func member(_ device: SampleDevice) -> RollMember {
        RollMember(
            .device, device.keys, vault: vault, nameBox: link().seal(device.name, of: device.number, vault: vault))
    }

    private func opens(_ wrap: LaneWrap, for device: SampleDevice = .one, entry: UInt32 = 3, in vault: [UInt8] = vault) -> Bool {
        do {
            if wrap.scope.kind == .unlocked {
                _ = try WrappedLanes(opening: wrap, with: device.wrapping, entry: entry, vault: vault)
            } else {
                _ = try WrappedLanes.always(opening: wrap, with: device.alwaysWrapping, entry: entry, vault: vault)
            }
            return true
        } catch { return false }
    }

    private func wraps() throws -> [LaneWrap] {
        let lanes = WrappedLanes(
            afterFirstUnlock: .random(.afterFirstUnlock, epoch: 5), whenUnlocked: .random(.whenUnlocked, epoch: 5),
            link: .random())
        return [
            try lanes.wrap(for: member(.one), entry: 3, vault: vault),
            try WrappedLanes.wrap(always: .random(.always, epoch: 5), for: member(.one), entry: 3, vault: vault),
        ]
    }

    @Test("a wrap opens for its member, entry, epoch and vault alone")
    func bound() throws {
        for wrap in try wraps() {
            #expect(opens(wrap) && !opens(wrap, for: .two) && !opens(wrap, entry: 4) && !opens(wrap, in: bytes(0x12, 16)))
            let scope = wrap.scope
            let other = LaneWrap.Scope(member: scope.member, kind: scope.kind, laneEpoch: 4)
            #expect(!opens(LaneWrap(other, sender: wrap.sender, box: wrap.box)))
            for index in 0..<wrap.box.count {
                var box = wrap.box
                box[index] ^= 1
                #expect(!opens(LaneWrap(scope, sender: wrap.sender, box: box)), "byte \(index)")
            }
        }
    }

    @Test("a wrap from a key of low order, or from no key at all, is refused")
    func lowOrder() throws {
        for wrap in try wraps() {
            for sender in [bytes(0), [1] + bytes(0, 31), bytes(0xFF)] {
                #expect(!opens(LaneWrap(wrap.scope, sender: sender, box: wrap.box)))
            }
        }
    }

    @Test("a wrap of one kind is not opened as the other")
    func kinds() throws {
        let made = try wraps()
        #expect(throws: SecretsError.cannotOpen) { try refusedAsAlways(made[0]) }
        #expect(throws: SecretsError.cannotOpen) { try refusedAsUnlocked(made[1]) }
    }

    private func refusedAsAlways(_ wrap: LaneWrap) throws {
        _ = try WrappedLanes.always(opening: wrap, with: SampleDevice.one.wrapping, entry: 3, vault: vault)
    }

    private func refusedAsUnlocked(_ wrap: LaneWrap) throws {
        _ = try WrappedLanes(opening: wrap, with: SampleDevice.one.alwaysWrapping, entry: 3, vault: vault)
    }

    @Test("the name of a device opens under its link, vault and number alone")
    func names() {
        let made = member(.one)
        #expect(link().name(of: made, vault: vault)?.text == "laptop")
        #expect(link(0x06).name(of: made, vault: vault) == nil)
        #expect(link().name(of: made, vault: bytes(0x12, 16)) == nil)
        let other = RollMember(.device, SampleDevice.two.keys, vault: vault, nameBox: made.nameBox)
        #expect(link().name(of: other, vault: vault) == nil)
    }

    @Test(
        "a name of a device has 1 to 63 bytes and changes nothing of what a terminal shows",
        arguments: [
            ("a", true), (String(repeating: "x", count: 63), true), ("Büro 2", true), ("", false),
            (String(repeating: "x", count: 64), false), ("a\u{1B}[31m", false), ("a\u{202E}b", false), ("a\nb", false),
        ])
    func deviceNames(text: String, isRight: Bool) {
        #expect((DeviceName(text) != nil) == isRight)
    }

    @Test("another code has no anchor in an entry, and an entry that was changed has none of the code")
    func anchors() throws {
        let entries = try PublishedBytes.read().roll.map { try RollEntry(decoding: unhex($0)) }
        let code = RecoveryMember(SecretBytes(copying: (0..<16).map { UInt8($0) }), vault: vault)
        let other = RecoveryMember(SecretBytes(copying: (1..<17).map { UInt8($0) }), vault: vault)
        var contents = entries[0].contents
        contents.time += 1
        let changed = RollEntry(contents, anchor: entries[0].anchor, signedWith: SampleDevice.one.member)
        let found = [code.anchors(entries[0]), code.anchors(entries[1]), code.anchors(changed), other.anchors(entries[0])]
        #expect(found == [true, false, false, false])
    }
}
