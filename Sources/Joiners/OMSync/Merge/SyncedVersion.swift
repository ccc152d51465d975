// What the merge knows of a version of an item. Format: docs/formats/sync.md, "Versions".

package import OMItems
package import OMParcels
package import OMRecords

/// A version of an item as the merge sees it: causes, times, name and fields, but a keyed digest in the place of each value.
package struct SyncedVersion: Hashable, Sendable {
    package enum State: UInt8, Hashable, Comparable, Sendable {
        // In the order of the merge: nearer to life is larger.
        case purged, trashed, live

        package static func < (one: State, other: State) -> Bool { one.rawValue < other.rawValue }
    }

    /// A field: its value's digest, and whether it is shown.
    package struct Field: Hashable, Sendable {
        /// 32 bytes.
        package let digest: [UInt8]
        package let isShown: Bool

        package init(digest: [UInt8], isShown: Bool) { (self.digest, self.isShown) = (digest, isShown) }
    }

    /// The edits that this version includes.
    package var seen: Seen
    /// The edit that wrote its content.
    package var dot: Dot
    /// When that was, in seconds since 1970. It decides only which of two concurrent versions shows.
    package var time: Int64
    /// When the item was made, in seconds since 1970.
    package var created: Int64
    package var state: State
    package var level: ProtectionLevel.Availability
    /// Of each stricter level from which the item was lowered, by falling level.
    package var lowerings: [Lowering]
    /// The item of which this one is a conflict copy: 16 bytes, or nil.
    package var origin: [UInt8]?
    /// Nil for a purged item.
    package var name: ItemName?
    package var details: ItemDetails
    package var fields: [FieldName: Field]

    package init(
        seen: Seen, dot: Dot, time: Int64, created: Int64, state: State = .live, level: ProtectionLevel.Availability,
        lowerings: [Lowering] = [], origin: [UInt8]? = nil, name: ItemName?,
        details: ItemDetails = ItemDetails(), fields: [FieldName: Field]
    ) {
        (self.seen, self.dot, self.time, self.created) = (seen, dot, time, created)
        (self.state, self.level) = (state, level)
        (self.lowerings, self.origin, self.name, self.details, self.fields) = (lowerings, origin, name, details, fields)
    }
    /// Whether the parts fit each other. Every version that comes from outside is asked.
    ///
    /// Attack: a version that carries a dot which it does not include would escape the rules for counts.
    package var isSound: Bool {
        let levels = lowerings.map(\.from)
        let isPurged = state == .purged
        return seen.includes(dot) && (name == nil) == isPurged
            && (!isPurged || (fields.isEmpty && details == ItemDetails()))
            && zip(levels, levels.dropFirst()).allSatisfy { $0 > $1 }
            && lowerings.allSatisfy { $0.from > level && seen.includes($0.seen) }
            && origin.map { $0.count == 16 } ?? true
    }
}
