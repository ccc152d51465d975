// Which versions may change an item of a stricter level. Format: docs/formats/sync.md, "Levels".

internal import OMParcels
package import OMRecords

extension SyncedVersion {
    /// Whether this version may change the item that is here.
    ///
    /// Attack: the thief of a locked laptop has the lane of `always` alone. He must not replace, lower or remove an item of a
    /// stricter level with it, whatever edits he claims to include. So a less strict version needs a lowering, which only a
    /// holder of the stricter lane can make, and which covers all edits of the item here: the thief has the lowering of an
    /// item that its owner lowered, but it covers no edit that another device made meanwhile.
    package func mayChange(_ here: SyncedVersion) -> Bool {
        level >= here.level || lowerings.contains { $0.from == here.level && $0.seen.includes(here.seen) }
    }

    /// Changes the level in an edit, whose dot is in `seen` already.
    package mutating func setLevel(_ new: ProtectionLevel.Availability) {
        let passed = ProtectionLevel.Availability.allCases.filter { $0 > new && $0 <= level }
        lowerings = Lowering.joined(lowerings + passed.map { Lowering(from: $0, seen: seen) }, above: new)
        level = new
    }
}
