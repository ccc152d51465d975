// Every byte string of the sync page, against the second implementation's.

import Foundation
import OMParcels
import OMRecords
import OMSecrets
import OMSyncKeys
import TestSupport
import Testing

@Suite("The published bytes of sync") struct PublishedBytesTests {
    let published: PublishedBytes
    let lanes: [Lane]
    let code = (0..<16).map { UInt8($0) }

    init() throws {
        published = try PublishedBytes.read()
        lanes = ProtectionLevel.Availability.allCases.map { Lane($0, epoch: 1, key(0x60 + $0.rawValue)) }
    }

    @Test("the second implementation makes the published file")
    func secondImplementation() async throws {
        let script = PublishedBytes.folder.appending(path: "bytes.py").path
        let stored = try String(contentsOf: PublishedBytes.folder.appending(path: "bytes.json"), encoding: .utf8)
        let ran = try await run(["/usr/bin/python3", script], in: TestFolder())
        #expect(ran.output == stored, "\(ran)")
    }

    @Test("each label of the page is in a published byte string")
    func labels() throws {
        let page = try String(
            contentsOf: PublishedBytes.folder.appending(path: "../../../docs/formats/sync.md").standardized, encoding: .utf8)
        let labels = Set(page.matches(of: /omv\/sync\/[a-z-]+/).map { String($0.output) })
        #expect(labels.count > 30 && labels == Set(published.labels))
    }

    @Test("the keys of devices and of the recovery code, and the numbers that they give")
    func members() throws {
        let recovery = RecoveryMember(SecretBytes(copying: code), vault: vault)
        let keys = [SampleDevice.one.keys, SampleDevice.two.keys, recovery.publicKeys]
        #expect(keys.map { Hex.encode($0.encoded) } == published.deviceKeys)
        #expect(keys.map { RollMember.number(of: $0, vault: vault) } == published.deviceNumbers)
    }

    @Test("the roll: entries, their digests, signatures, anchor and rules")
    func roll() throws {
        let entries = try published.roll.map { try RollEntry(decoding: unhex($0)) }
        #expect(entries.map { Hex.encode($0.encoded) } == published.roll)
        #expect(entries.map { Hex.encode($0.digest) } == published.rollDigests)
        var roll = try Roll(entries[0])
        for entry in entries.dropFirst() { try roll.append(entry) }
        #expect(roll.laneEpoch == 2 && Set(roll.members.keys) == Set(published.deviceNumbers.dropFirst()))

        let recovery = RecoveryMember(SecretBytes(copying: code), vault: vault)
        let anchor = recovery.anchor(of: entries[0].contents)
        #expect(anchor == entries[0].anchor)
        let signed = [
            RollEntry(entries[0].contents, anchor: entries[0].anchor, signedWith: SampleDevice.one.member),
            RollEntry(entries[1].contents, anchor: nil, signedWith: SampleDevice.one.member),
            RollEntry(entries[2].contents, anchor: nil, signedWith: recovery.member),
        ]
        #expect(signed == entries)

        let names = entries.flatMap(\.contents.added).map { link().name(of: $0, vault: vault)?.text }
        #expect(names == ["laptop", RecoveryMember.name.text, "tour à pied"])
    }

    @Test("the wraps of the roll open for their member, with the lanes and the link")
    func wraps() throws {
        let entries = try published.roll.map { try RollEntry(decoding: unhex($0)) }
        let founding = entries[0].contents.wraps
        let one = try WrappedLanes(opening: founding[0], with: SampleDevice.one.wrapping, entry: 0, vault: vault)
        try expectLanes(one, at: 0x60, epoch: 1)
        let always = try WrappedLanes.always(
            opening: founding[1], with: SampleDevice.one.alwaysWrapping, entry: 0, vault: vault)
        #expect(exposed(always) == bytes(0x61) && always.level == .always && always.epoch == 1)

        let recovery = RecoveryMember(SecretBytes(copying: code), vault: vault)
        let later = entries[2].contents.wraps
        try expectLanes(
            try WrappedLanes(opening: later[2], with: recovery.wrapping, entry: 2, vault: vault), at: 0x70, epoch: 2)
        let last = try WrappedLanes.always(opening: later[3], with: recovery.alwaysWrapping, entry: 2, vault: vault)
        #expect(exposed(last) == bytes(0x71) && last.epoch == 2)
    }

    private func expectLanes(_ lanes: WrappedLanes, at first: UInt8, epoch: UInt32) throws {
        #expect(exposed(lanes.afterFirstUnlock) == bytes(first + 2) && exposed(lanes.whenUnlocked) == bytes(first + 3))
        #expect(lanes.afterFirstUnlock.level == .afterFirstUnlock && lanes.whenUnlocked.level == .whenUnlocked)
        #expect(lanes.afterFirstUnlock.epoch == epoch && lanes.whenUnlocked.epoch == epoch)
        #expect(lanes.link.withKey { $0.withExposedBytes { bytes in (0..<32).map { bytes[$0] } } } == bytes(0x05))
    }

    @Test("parcels open with their lane, and a pack has them by rising id")
    func parcels() throws {
        let parcels = try published.parcels.map { try Parcel(decoding: unhex($0)) }
        let contents = try published.contents.map(unhex)
        var set = LaneSet()
        for lane in lanes { set.insert(lane, madeBy: []) }
        for (index, level) in [ProtectionLevel.Availability.afterFirstUnlock, .whenUnlocked, .always].enumerated() {
            guard let opened = try set.open(parcels[index], vault: vault) else {
                Issue.record("parcel \(index) has no lane")
                continue
            }
            #expect(opened.level == level && opened.kind == (index == 2 ? .chunk : .item))
            let content = plain(opened.content)
            #expect(Array(content.prefix(contents[index].count)) == contents[index])
            #expect(content.dropFirst(contents[index].count).allSatisfy { $0 == 0 })
        }
        let pack = Pack(vault: vault, device: published.deviceNumbers[0], number: 7, parcels: parcels.reversed())
        #expect(Hex.encode(pack.encoded) == published.pack)
        #expect(try Pack(decoding: pack.encoded) == pack)
        #expect(Hex.encode(Pack.digest(of: pack.encoded)) == published.packDigest)
    }

    @Test("the parts of a version, and the MAC of a lowering")
    func parts() throws {
        let content = try unhex(published.contents[0])
        // Behind length, version, state, kept, times, the name of four bytes, type, expiry, tags and the number 1.
        var cursor = ByteCursor()
        _ = try cursor.skip(4 + 1 + 1 + 2 + 16 + 2 + 4 + 1 + 8 + 1 + 1, in: content.span)
        let start = cursor.offset
        let parts = try SyncedParts(&cursor, in: content.span)
        let (one, two) = (published.deviceNumbers[0], published.deviceNumbers[1])
        let seen = [Dot(device: one, count: 3), Dot(device: two, count: 5)].sorted()
        #expect(parts.dot == Dot(device: one, count: 3) && parts.seen == Seen(seen) && parts.origin == bytes(0x44, 16))
        #expect(parts.encoded == Array(content[start..<cursor.offset]))
        let covered = try #require(Seen([Dot(device: one, count: 2)]))
        #expect(parts.lowerings == [lanes[2].prove(Lowering(from: .whenUnlocked, seen: covered), item: item, vault: vault)])
        #expect(lanes[2].proves(parts.lowerings[0], item: item, vault: vault))
    }

    @Test("heads, their digests, their signatures and their list; the comparison digits")
    func heads() throws {
        let heads = try published.heads.map { try Head(decoding: unhex($0)) }
        #expect(heads.map { Head($0.statement, signedWith: SampleDevice.one.head) } == heads)
        #expect(heads.map { Hex.encode($0.encoded) } == published.heads)
        #expect(heads.map { Hex.encode($0.digest) } == published.headDigests)
        #expect(heads[2].statement.skip == heads[1].digest && heads[1].statement.previous == heads[0].digest)
        let list = HeadList(vault: vault, heads: heads.reversed())
        #expect(Hex.encode(list.encoded) == published.headList)
        #expect(try HeadList(decoding: list.encoded) == list)
        let digits = ComparisonDigits.digits(
            vault: vault, incarnation: bytes(0x22, 16),
            heads: [
                Head.Reference(device: published.deviceNumbers[0], number: 3, digest: heads[2].digest),
                Head.Reference(device: published.deviceNumbers[1], number: 1, digest: bytes(0xAA)),
            ].reversed(), rollDigest: try unhex(published.rollDigests[1]))
        #expect(digits == published.comparisonDigits)
    }

    @Test("what the link names: copies, their chunks, names and values")
    func linked() throws {
        let seen = try #require(Seen([Dot(device: published.deviceNumbers[0], count: 3)]))
        var causes: [UInt8] = []
        causes.append(seen)
        causes += Array("a summary".utf8)
        #expect(Hex.encode(link().copyID(of: item, causes: causes)) == published.copyId)
        #expect(Hex.encode(link().copyChunkID(of: bytes(0x35, 16), in: item)) == published.copyChunkId)
        #expect(Hex.encode(link().nameDigits(of: item, name: Array("mail".utf8))) == published.nameDigits)
        let value = PublicHash.hash(Array("hunter2".utf8))
        #expect(Hex.encode(link().valueHash(ofDigest: value)) == published.valueHash)
    }

    @Test("a pairing: the code, its mailbox, the four messages and the digits")
    func pairing() throws {
        let code = try PairingCode(typed: SecretBytes(copying: Array(published.pairingCode.utf8)))
        let (text, mailbox) = (plain(code.text()), Hex.encode(code.mailbox))
        #expect(text == Array(published.pairingCode.utf8) && mailbox == published.pairingMailbox)
        let messages = try published.pairing.map(unhex)
        for message in PairingCode.Message.allCases {
            let index = Int(message.rawValue) - 1
            let opened = try code.open(message, unhex(published.pairingBoxes[index]))
            let again = try code.open(message, code.seal(message, messages[index]))
            #expect(opened == messages[index] && again == messages[index])
        }
        let invitation = try PairingInvitation(decoding: messages[0])
        #expect(invitation.encoded == messages[0] && invitation.commitment == PairingInvitation.commitment(to: bytes(0xCC)))
        #expect(invitation.remotes.map(\.url) == ["https://sync.example.org/", nil])
        let two = SampleDevice.two
        let request = PairingRequest(
            invitation: invitation.digest, two.keys, two.name, vault: vault, headKey: two.head, memberKey: two.member)
        #expect(request.encoded == messages[1] && request.isSigned(vault: vault))
        let read = try PairingRequest(decoding: messages[1])
        #expect(read == request)
        let reveal = PairingReveal(request: request.digest, random: bytes(0xCC))
        #expect(reveal.encoded == messages[2])
        let revealed = try PairingReveal(decoding: messages[2])
        #expect(revealed == reveal)
        let pairing = try Pairing(invitation, request, at: nil)
        #expect(try pairing.digits(reveal) == published.pairingDigits)
        let done = try PairingDone(decoding: messages[3])
        #expect(done.encoded == messages[3] && Hex.encode(done.entryDigest) == published.rollDigests[1])
    }
}

func exposed(_ lane: Lane) -> [UInt8] { lane.withKey { $0.withExposedBytes { bytes in (0..<32).map { bytes[$0] } } } }
