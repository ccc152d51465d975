// The members of the model's roll. Their keys come from a number, so that each run has the same entries.

import OMParcels
import OMRecords
import OMSecrets

/// The name of an entry of the roll, as a head has it.
struct ModelEntry: Hashable {
    let number: UInt32
    let digest: [UInt8]
}

enum ModelMembers {
    static let vault = [UInt8](repeating: 0x11, count: 16)
    private static let zeros = [UInt8](repeating: 0, count: 32)

    /// The first ones are devices, the last ones are those that a removed device adds.
    static let all = (0..<UInt8(96)).map { member($0, vault) }
    static let reserved = 72
    private static let places = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.number, UInt8($0)) })

    /// The rolls of 1, 2, … devices, of which the first one added the others.
    static let founded: [Roll] = {
        let first = entry(.found, by: all[0].number, adding: [all[0]], after: nil)
        var roll: Roll
        do { roll = try Roll(first) } catch { fatalError("\(error)") }
        return [roll]
            + (1..<5).map { place in
                append(entry(.add, by: all[0].number, adding: [all[place]], after: roll), to: &roll)
                return roll
            }
    }()

    /// An entry of another vault, whose devices are others too.
    static let ofOtherVault: RollEntry = {
        let other = [UInt8](repeating: 0x22, count: 16)
        let stranger = member(0, other)
        let contents = RollEntry.Contents(
            kind: .add, vault: other, number: 1, previous: zeros, signer: stranger.number, time: 1, laneEpoch: 1,
            added: [member(1, other)], removed: [], wraps: [])
        return RollEntry(contents, anchor: nil, signedWith: key(0, 2))
    }()

    static func append(_ entry: RollEntry, to roll: inout Roll) {
        do { try roll.append(entry) } catch { preconditionFailure("a right entry: \(error)") }
    }

    static func entry(
        _ kind: RollEntry.Kind, by signer: UInt32, adding added: [RollMember] = [], removing removed: [UInt32] = [],
        after roll: Roll?
    ) -> RollEntry {
        guard let place = places[signer] else { preconditionFailure("a member") }
        let epoch = (roll?.laneEpoch ?? 1) + (kind == .remove || kind == .replace ? 1 : 0)
        var owners = (roll?.members.keys.filter { !removed.contains($0) } ?? []).sorted()
        if kind == .add { owners = [] }
        let wraps = (owners + added.map(\.number)).flatMap { owner in
            LaneWrap.Kind.allCases.map { kind in
                LaneWrap(
                    LaneWrap.Scope(member: owner, kind: kind, laneEpoch: epoch), sender: zeros,
                    box: [UInt8](repeating: 0, count: Record.boxOverhead + kind.contentCount))
            }
        }
        let contents = RollEntry.Contents(
            kind: kind, vault: vault, number: UInt32(roll?.entries.count ?? 0), previous: roll?.digests.last ?? zeros,
            signer: signer, time: 1, laneEpoch: epoch, added: added, removed: removed.sorted(), wraps: wraps)
        return RollEntry(contents, anchor: nil, signedWith: key(place, 2))
    }

    private static func member(_ place: UInt8, _ vault: [UInt8]) -> RollMember {
        let keys = RollMember.Keys(
            head: EdwardsSignature.publicKey(of: key(place, 1)), member: EdwardsSignature.publicKey(of: key(place, 2)),
            wrapping: MontgomeryPoint.publicKey(of: key(place, 3)), alwaysWrapping: MontgomeryPoint.publicKey(of: key(place, 4)))
        let member = RollMember(.device, keys, vault: vault, nameBox: [UInt8](repeating: 0, count: RollMember.nameBoxCount))
        precondition(member.number >= 100, "the adversaries have smaller numbers")
        return member
    }

    private static func key<Use: KeyUse>(_ place: UInt8, _ kind: UInt8) -> Key<Use> {
        // An X25519 key does not use all bits of its first byte.
        let bytes = [0, place, kind] + [UInt8](repeating: 0, count: 29)
        guard let key = try? Key<Use>(readFrom: SecretBytes(copying: bytes.span)) else { preconditionFailure("32 bytes") }
        return key
    }
}

extension Roll {
    var last: ModelEntry { ModelEntry(number: UInt32(entries.count - 1), digest: digests[digests.count - 1]) }

    /// All members that ever were and are not any more.
    var removed: Set<UInt32> { Set(entries.flatMap { $0.contents.added.map(\.number) }).subtracting(members.keys) }
}
