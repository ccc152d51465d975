#if Server
// Members, entries, heads and packs of tests of the server, with real keys.

import OMParcels
import OMRecords
import OMSecrets

enum Sample {
    static let vault = [UInt8](repeating: 0x11, count: 16)
    static let incarnation = [UInt8](repeating: 0x22, count: 16)
    static let zeros = [UInt8](repeating: 0, count: 32)

    static func bytes(_ byte: UInt8, _ count: Int = 32) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    /// A key whose bytes are all this one.
    static func key<Use: KeyUse>(_ byte: UInt8, as use: Use.Type = Use.self) -> Key<Use> {
        let raw = bytes(byte)
        guard let key = try? Key<Use>(readFrom: SecretBytes(copying: raw.span)) else { preconditionFailure("32 bytes") }
        return key
    }

    /// The member whose keys come from this byte. 50 and more are recovery codes.
    static func member(_ byte: UInt8, nameBox: [UInt8] = bytes(0, RollMember.nameBoxCount), vault: [UInt8] = vault) -> RollMember
    {
        let kind: RollMember.Kind = byte < 50 ? .device : .recovery
        let keys = RollMember.Keys(
            head: kind == .device ? EdwardsSignature.publicKey(of: key(byte)) : zeros,
            member: EdwardsSignature.publicKey(of: key(byte + 1)), wrapping: MontgomeryPoint.publicKey(of: key(byte + 2)),
            alwaysWrapping: MontgomeryPoint.publicKey(of: key(byte + 3)))
        return RollMember(kind, keys, vault: vault, nameBox: nameBox)
    }

    static func wraps(_ members: [RollMember], laneEpoch: UInt32) -> [LaneWrap] {
        members.flatMap { member in
            LaneWrap.Kind.allCases.map { kind in
                LaneWrap(
                    LaneWrap.Scope(member: member.number, kind: kind, laneEpoch: laneEpoch), sender: bytes(9),
                    box: bytes(0, Record.boxOverhead + kind.contentCount))
            }
        }
    }

    // MARK: - Entries

    /// Device 10 and the recovery code 50 found the vault.
    static func founding(time: Int64 = 1, vault: [UInt8] = vault) -> RollEntry {
        let members = [member(10, vault: vault), member(50, vault: vault)]
        let contents = RollEntry.Contents(
            kind: .found, vault: vault, number: 0, previous: zeros, signer: members[0].number, time: time, laneEpoch: 1,
            added: members, removed: [], wraps: wraps(members, laneEpoch: 1))
        return RollEntry(contents, anchor: bytes(7), signedWith: key(11))
    }

    /// The entry behind a roll that adds a device.
    static func add(_ device: UInt8, to roll: Roll, by signer: UInt8 = 10, time: Int64 = 1) -> RollEntry {
        next(.add, roll, signer, time, added: [member(device)], wraps: wraps([member(device)], laneEpoch: roll.laneEpoch))
    }

    /// The entry that removes devices.
    static func remove(_ devices: [UInt8], from roll: Roll, by signer: UInt8 = 10, time: Int64 = 1) -> RollEntry {
        let numbers = devices.map { member($0).number }
        let left = roll.members.values.filter { !numbers.contains($0.number) }
        return next(
            .remove, roll, signer, time, removed: numbers.sorted(), wraps: wraps(left, laneEpoch: roll.laneEpoch + 1),
            laneEpoch: roll.laneEpoch + 1)
    }

    private static func next(
        _ kind: RollEntry.Kind, _ roll: Roll, _ signer: UInt8, _ time: Int64, added: [RollMember] = [], removed: [UInt32] = [],
        wraps: [LaneWrap], laneEpoch: UInt32? = nil
    ) -> RollEntry {
        let contents = RollEntry.Contents(
            kind: kind, vault: vault, number: UInt32(roll.entries.count), previous: roll.digests.last ?? zeros,
            signer: member(signer).number, time: time, laneEpoch: laneEpoch ?? roll.laneEpoch, added: added, removed: removed,
            wraps: wraps)
        return RollEntry(contents, anchor: nil, signedWith: key(signer + 1))
    }

    // MARK: - Packs

    static func parcel(_ id: UInt8, steps: Int = 1) -> Parcel {
        Parcel(
            header: Parcel.Header(id: bytes(id, 16), laneEpoch: 1, salt: bytes(1, 16), commitment: bytes(2)),
            box: bytes(3, Record.boxOverhead + steps * Record.step))
    }

    static func pack(_ number: UInt64, of device: UInt8 = 10, ids: ClosedRange<UInt8> = 1...1, steps: Int = 1) -> Pack {
        Pack(
            vault: vault, device: member(device).number, number: number, parcels: ids.map { parcel($0, steps: steps) })
    }
}

extension RollEntry {
    var file: RemoteFile { .entry(number: contents.number, digest: digest) }
}

extension Roll {
    func with(_ entries: RollEntry...) throws -> Roll {
        var roll = self
        for entry in entries { try roll.append(entry) }
        return roll
    }
}

extension Pack {
    var file: RemoteFile { .pack(device: device, number: number) }
}

/// The heads of one device, one behind the other.
struct TestChain {
    let device: UInt8
    private(set) var heads: [Head] = []

    init(_ device: UInt8) { self.device = device }

    var number: UInt32 { Sample.member(device).number }

    /// The next head, which the chain does not have yet.
    func next(
        _ roll: Roll, packs: [Pack] = [], time: Int64 = 0, signer: UInt8? = nil,
        _ change: (inout Head.Statement) -> Void = { _ in }
    ) -> Head {
        let number = UInt64(heads.count + 1)
        let skipped = Head.skipped(from: number)
        var statement = Head.Statement(
            vault: Sample.vault, incarnation: Sample.incarnation, device: self.number, number: number,
            previous: heads.last?.digest ?? Sample.zeros, skip: skipped == 0 ? Sample.zeros : heads[Int(skipped) - 1].digest,
            laneEpoch: roll.laneEpoch, rollNumber: UInt32(roll.entries.count - 1), rollDigest: roll.digests.last ?? Sample.zeros,
            count: number, time: time, others: [],
            packs: packs.map { Head.PackReference(number: $0.number, digest: Pack.digest(of: $0.encoded)) })
        change(&statement)
        return Head(statement, signedWith: Sample.key(signer ?? device))
    }

    mutating func append(_ head: Head) { heads.append(head) }

    func file(_ head: Head) -> RemoteFile { .head(device: number, isSecond: head.statement.number % 2 == 0) }
}
#endif
