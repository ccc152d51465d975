// The signed list of members: which devices may write, and which keys they have. Format: docs/formats/sync.md, "Roll".

/// A roll that was checked from its first entry on.
package struct Roll: Hashable, Sendable {
    package static let maximumMembers = 32
    package static let maximumEntries = 4096
    package static let maximumCount = 2 << 20
    /// Of these, what only removals and the recovery code may use.
    ///
    /// Attack: a thief fills the roll, so that he cannot be removed.
    package static let reservedEntries = 64
    package static let reservedCount = 256 << 10

    /// The vault's id: 16 bytes.
    package let vault: [UInt8]
    /// The members of now, by number.
    package private(set) var members: [UInt32: RollMember] = [:]
    package private(set) var laneEpoch: UInt32 = 1
    /// The entries, in their order.
    package private(set) var entries: [RollEntry] = []
    /// The digest of each entry.
    package private(set) var digests: [[UInt8]] = []
    /// Each member that ever was, so that no number and no key comes twice.
    private var everyMember: [UInt32: RollMember] = [:]
    private var everyKey: Set<[UInt8]> = []
    private var count = 0

    /// - Parameter founding: Entry 0.
    package init(_ founding: RollEntry) throws(RollProblem) {
        vault = founding.contents.vault
        try append(founding)
    }

    /// A device that is or was a member. Its head key tells whether an old head is genuine.
    package func formerOrPresent(_ number: UInt32) -> RollMember? { everyMember[number] }

    /// Whether this is the entry of that number here.
    package func has(entry number: UInt32, _ digest: [UInt8]) -> Bool {
        Int(number) < digests.count && digests[Int(number)] == digest
    }

    /// The entry that added a member, also a former one.
    package func entry(adding number: UInt32) -> RollEntry.Contents? {
        entries.first { $0.contents.added.contains { $0.number == number } }?.contents
    }

    /// The numbers that a device had before the one of now.
    package func formerNumbers(of device: UInt32) -> Set<UInt32> {
        var (numbers, current): (Set<UInt32>, UInt32) = ([], device)
        for entry in entries.reversed().map(\.contents)
        where entry.kind == .replace && entry.added.contains(where: { $0.number == current }) {
            current = entry.signer
            numbers.insert(current)
        }
        return numbers
    }

    /// The digest of the entry that made the lanes of an epoch. Nil for an epoch that the roll has not.
    package func maker(ofEpoch epoch: UInt32) -> [UInt8]? {
        entries.firstIndex { $0.contents.laneEpoch == epoch }.map { digests[$0] }
    }

    /// Continues the roll. If the entry is refused, the roll stays as it is.
    package mutating func append(_ entry: RollEntry) throws(RollProblem) {
        let contents = entry.contents
        guard contents.vault == vault, Int(contents.number) == entries.count,
            contents.previous == digests.last ?? [UInt8](repeating: 0, count: 32)
        else { throw .doesNotFollow }
        // The founding device signs its own entry.
        let signers = entries.isEmpty ? contents.added : Array(members.values)
        guard let signer = signers.first(where: { $0.number == contents.signer }) else { throw .unknownSigner }
        guard entry.isSigned(by: signer.keys.member) else { throw .wrongSignature }
        var keys = everyKey
        var numbers: Set<UInt32> = []
        for member in contents.added {
            guard member.isSound(vault: vault), everyMember[member.number] == nil, numbers.insert(member.number).inserted
            else { throw .badMember }
            // Attack: a member takes the key of another one, to be taken for it.
            for key in member.ownKeys { guard keys.insert(key).inserted else { throw .badMember } }
        }
        guard Set(contents.removed).isSubset(of: members.keys), keepsRulesOfKind(entry, signer) else { throw .brokenRule }
        var after = members
        for number in contents.removed { after[number] = nil }
        for member in contents.added { after[member.number] = member }
        guard hasRightWraps(entry, for: after) else { throw .brokenRule }
        let encoded = entry.encoded
        let isUrgent = contents.kind == .remove || signer.kind == .recovery
        guard after.count <= Self.maximumMembers, encoded.count <= RollEntry.maximumCount,
            entries.count < Self.maximumEntries - (isUrgent ? 0 : Self.reservedEntries),
            count + encoded.count <= Self.maximumCount - (isUrgent ? 0 : Self.reservedCount)
        else { throw .tooLarge }
        (members, everyKey, laneEpoch, count) = (after, keys, contents.laneEpoch, count + encoded.count)
        for member in contents.added { everyMember[member.number] = member }
        entries.append(entry)
        digests.append(entry.digest)
    }

    /// Whether members, epoch and anchor are those that the kind allows.
    private func keepsRulesOfKind(_ entry: RollEntry, _ signer: RollMember) -> Bool {
        let contents = entry.contents
        let kinds = contents.added.map(\.kind)
        let removed = contents.removed.compactMap { members[$0] }
        let isNext = contents.laneEpoch > laneEpoch && contents.laneEpoch - laneEpoch == 1
        let bringsCode = kinds.contains(.recovery)
        guard (entry.anchor != nil) == bringsCode else { return false }
        switch contents.kind {
        case .found:
            return entries.isEmpty && kinds.first == .device && signer.number == contents.added.first?.number
                && (kinds.count == 1 || kinds == [.device, .recovery]) && removed.isEmpty && contents.laneEpoch == 1
        case .add: return !entries.isEmpty && kinds == [.device] && removed.isEmpty && contents.laneEpoch == laneEpoch
        case .remove:
            return !entries.isEmpty && kinds.isEmpty && !removed.isEmpty && removed.allSatisfy { $0.kind == .device }
                && !contents.removed.contains(signer.number) && isNext
        case .replace:
            return !entries.isEmpty && kinds == [.device] && signer.kind == .device && contents.removed == [signer.number]
                && isNext
        case .recovery:
            let old = members.values.filter { $0.kind == .recovery }.map(\.number)
            return !entries.isEmpty && kinds == [.recovery] && contents.removed == old && isNext
        }
    }

    /// Whether the wraps are for the right members, each once.
    ///
    /// Attack: a removal without a wrap for a member takes away its lanes. A removal with a wrap for the removed device gives it
    /// the new ones.
    private func hasRightWraps(_ entry: RollEntry, for members: [UInt32: RollMember]) -> Bool {
        let contents = entry.contents
        let scopes = contents.wraps.map(\.scope)
        guard Set(scopes).count == scopes.count else { return false }
        let owners = contents.kind == .add ? contents.added.map(\.number) : Array(members.keys)
        let epochs = Set(scopes.map(\.laneEpoch)).union([contents.laneEpoch])
        guard epochs.allSatisfy({ $0 > 0 && $0 <= contents.laneEpoch }), contents.kind == .add || epochs.count == 1 else {
            return false
        }
        let expected = epochs.flatMap { epoch in
            owners.flatMap { owner in
                LaneWrap.Kind.allCases.map { LaneWrap.Scope(member: owner, kind: $0, laneEpoch: epoch) }
            }
        }
        return Set(expected) == Set(scopes)
    }
}

extension RollMember {
    /// The keys that belong to this member alone.
    fileprivate var ownKeys: [[UInt8]] {
        (kind == .device ? [keys.head] : []) + [keys.member, keys.wrapping, keys.alwaysWrapping]
    }
}
