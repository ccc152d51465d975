// What sync reads from a remote: docs/formats/sync.md.

import OMParcels
import OMRecords
import OMSecrets

enum SyncTargets {
    static let all = [
        FuzzTarget(name: "sync-parcel") { bytes in
            guard let parcel = try? Parcel(decoding: bytes) else { return }
            precondition(parcel.encoded == bytes, "a parcel is written as it was read")
        },
        FuzzTarget(name: "sync-pack") { bytes in
            guard let pack = try? Pack(decoding: bytes) else { return }
            precondition(pack.encoded == bytes, "a pack is written as it was read")
        },
        FuzzTarget(name: "sync-head") { bytes in
            guard let head = try? Head(decoding: bytes) else { return }
            precondition(head.encoded == bytes, "a head is written as it was read")
        },
        FuzzTarget(name: "sync-heads") { bytes in
            guard let list = try? HeadList(decoding: bytes) else { return }
            precondition(list.encoded == bytes, "a list is written as it was read")
        },
        FuzzTarget(name: "sync-parts") { bytes in
            var cursor = ByteCursor()
            guard let parts = try? SyncedParts(&cursor, in: bytes.span) else { return }
            precondition(parts.encoded == Array(bytes[..<cursor.offset]), "parts are written as they were read")
        },
        // The first byte says how long the path is. The rest is the file.
        FuzzTarget(name: "sync-remote", seeds: { foundation.map { [[6] + Array("remote".utf8) + $0.entries[0].encoded] } ?? [] })
        {
            bytes in
            guard let count = bytes.first.map(Int.init), bytes.count > count else { return }
            let path = String(decoding: bytes[1..<(count + 1)], as: UTF8.self)
            guard let file = RemoteFile(path: path) else { return }
            precondition(file.path == path, "a file has one name")
            let contents = RemoteContents(reading: OneFile(file: file, bytes: Array(bytes[(count + 1)...])), vault: vault)
            precondition(contents.headsByDigest.count <= HeadList.maximumHeads, "no more heads than a list has")
        },
        // The first byte says which message. The sender of the others has the code, and is no friend for that.
        FuzzTarget(name: "sync-pairing") { bytes in
            guard let kind = bytes.first else { return }
            let message = Array(bytes.dropFirst())
            let encoded =
                switch kind {
                case 1: (try? PairingInvitation(decoding: message))?.encoded
                case 2: (try? PairingRequest(decoding: message))?.encoded
                case 3: (try? PairingReveal(decoding: message))?.encoded
                default: (try? PairingDone(decoding: message))?.encoded
                }
            precondition(encoded ?? message == message, "a message is written as it was read")
        },
        // An entry is signed again by a member, so that the signature does not stop the change before the rules.
        FuzzTarget(name: "sync-entry", seeds: { foundation.map { [$0.entries[0].encoded] } ?? [] }) { bytes in
            guard let entry = try? RollEntry(decoding: bytes) else { return }
            precondition(entry.encoded == bytes, "an entry is written as it was read")
            var contents = entry.contents
            guard var roll = foundation else { return }
            _ = try? roll.append(entry)
            contents.vault = roll.vault
            (contents.number, contents.previous) = (1, roll.digests[0])
            contents.signer = roll.members.keys.first ?? 0
            _ = try? roll.append(RollEntry(contents, anchor: entry.anchor, signedWith: memberKey()))
            precondition(roll.members.count <= Roll.maximumMembers && !roll.entries.isEmpty, "a roll keeps its rules")
        },
    ]

    private static let vault = [UInt8](repeating: 0x11, count: 16)

    private static func memberKey<Use: KeyUse>(_ byte: UInt8 = 2) -> Key<Use> {
        guard let key = try? Key<Use>(readFrom: SecretBytes(copying: [UInt8](repeating: byte, count: 32))) else {
            preconditionFailure("32 bytes")
        }
        return key
    }

    /// A roll of one device.
    private static let foundation: Roll? = {
        let keys = RollMember.Keys(
            head: EdwardsSignature.publicKey(of: memberKey(1)), member: EdwardsSignature.publicKey(of: memberKey()),
            wrapping: MontgomeryPoint.publicKey(of: memberKey(3)), alwaysWrapping: MontgomeryPoint.publicKey(of: memberKey(4)))
        let member = RollMember(.device, keys, vault: vault, nameBox: [UInt8](repeating: 0, count: RollMember.nameBoxCount))
        let wraps = LaneWrap.Kind.allCases.map { kind in
            LaneWrap(
                LaneWrap.Scope(member: member.number, kind: kind, laneEpoch: 1), sender: [UInt8](repeating: 9, count: 32),
                box: [UInt8](repeating: 0, count: Record.boxOverhead + kind.contentCount))
        }
        let contents = RollEntry.Contents(
            kind: .found, vault: vault, number: 0, previous: [UInt8](repeating: 0, count: 32), signer: member.number, time: 1,
            laneEpoch: 1, added: [member], removed: [], wraps: wraps)
        return try? Roll(RollEntry(contents, anchor: nil, signedWith: memberKey()))
    }()
}

private struct OneFile: RemoteFiles {
    let file: RemoteFile
    let bytes: [UInt8]

    func files() throws(Never) -> [RemoteFile] { [file] }
    func bytes(of file: RemoteFile) throws(Never) -> [UInt8]? { bytes.count <= file.maximumCount ? bytes : nil }
}
