// Keys, members and statements for tests.

import OMParcels
import OMRecords
import OMSecrets

let vault = [UInt8](repeating: 0x11, count: 16)
let zeros = [UInt8](repeating: 0, count: 32)

func bytes(_ byte: UInt8, _ count: Int = 32) -> [UInt8] { [UInt8](repeating: byte, count: count) }

/// A key whose bytes are all this one.
func key<Use: KeyUse>(_ byte: UInt8, as use: Use.Type = Use.self) -> Key<Use> { key(bytes(byte)) }

func key<Use: KeyUse>(_ bytes: [UInt8]) -> Key<Use> {
    guard let key = try? Key<Use>(readFrom: SecretBytes(copying: bytes.span)) else { preconditionFailure("32 bytes") }
    return key
}

/// The member whose keys come from this byte.
func member(_ byte: UInt8, _ kind: RollMember.Kind = .device) -> RollMember {
    RollMember(kind, keys(byte, kind), vault: vault, nameBox: bytes(0, RollMember.nameBoxCount))
}

func keys(_ byte: UInt8, _ kind: RollMember.Kind = .device) -> RollMember.Keys {
    RollMember.Keys(
        head: kind == .device ? EdwardsSignature.publicKey(of: key(byte)) : zeros,
        member: EdwardsSignature.publicKey(of: key(byte + 1)), wrapping: MontgomeryPoint.publicKey(of: key(byte + 2)),
        alwaysWrapping: MontgomeryPoint.publicKey(of: key(byte + 3)))
}

func wraps(_ members: [RollMember], laneEpoch: UInt32) -> [LaneWrap] {
    members.flatMap { member in
        LaneWrap.Kind.allCases.map { kind in
            LaneWrap(
                LaneWrap.Scope(member: member.number, kind: kind, laneEpoch: laneEpoch), sender: bytes(9),
                box: bytes(0, Record.boxOverhead + kind.contentCount))
        }
    }
}

/// The next entry of a roll.
struct NextEntry {
    var kind: RollEntry.Kind
    /// The byte of the signer's keys.
    var signer: UInt8 = 10
    var added: [RollMember] = []
    var removed: [RollMember] = []
    var laneEpoch: UInt32 = 1
    var wraps: [LaneWrap] = []
    var anchor: [UInt8]?
    var number: UInt32?
    var previous: [UInt8]?
    var ofVault = vault

    func entry(after roll: Roll?) -> RollEntry {
        let contents = RollEntry.Contents(
            kind: kind, vault: ofVault, number: number ?? UInt32(roll?.entries.count ?? 0),
            previous: previous ?? roll?.digests.last ?? zeros, signer: signerNumber, time: 1, laneEpoch: laneEpoch,
            added: added, removed: removed.map(\.number).sorted(), wraps: wraps)
        return RollEntry(contents, anchor: anchor, signedWith: key(signer + 1))
    }

    private var signerNumber: UInt32 { member(signer, signer == 50 ? .recovery : .device).number }
}

/// Device 10 and the recovery code 50 found the vault.
func foundedRoll() throws -> Roll {
    let members = [member(10), member(50, .recovery)]
    let founding = NextEntry(kind: .found, added: members, wraps: wraps(members, laneEpoch: 1), anchor: bytes(7))
    return try Roll(founding.entry(after: nil))
}

/// The same, with device 20.
func rollOfTwo() throws -> Roll {
    var roll = try foundedRoll()
    try roll.append(NextEntry(kind: .add, added: [member(20)], wraps: wraps([member(20)], laneEpoch: 1)).entry(after: roll))
    return roll
}
