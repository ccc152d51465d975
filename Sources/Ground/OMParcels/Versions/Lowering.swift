package import OMRecords

/// That an item was lowered from a level, and which edits this covers. In a parcel it has a MAC under the lane of the level, which
/// is checked before a version gets here. Format: docs/formats/sync.md, "Levels".
package struct Lowering: Hashable, Sendable {
    package let from: ProtectionLevel.Availability
    /// The edits that the lowering knew. It gives power over these, and over no others.
    package let seen: Seen

    package init(from: ProtectionLevel.Availability, seen: Seen) { (self.from, self.seen) = (from, seen) }

    /// For each level above this one, the edits that any of the lowerings covers; by falling level.
    package static func joined(_ lowerings: [Lowering], above level: ProtectionLevel.Availability) -> [Lowering] {
        ProtectionLevel.Availability.allCases.reversed().filter { $0 > level }.compactMap { from in
            let covered = lowerings.filter { $0.from == from }.map(\.seen)
            return covered.isEmpty ? nil : Lowering(from: from, seen: covered.reduce(Seen()) { $0.joined(with: $1) })
        }
    }
}
