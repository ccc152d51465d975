// The merge of two versions of one item. Pure and commutative. Format: docs/formats/sync.md, "Merge".

/// What comes out of a merge: one version, and at most one copy beside it.
package struct Merge: Hashable, Sendable {
    package let version: SyncedVersion
    /// The version that does not show, as an item of its own. Nil if nothing of it would be lost.
    package let copy: SyncedVersion?

    /// Merges two versions of the item with this id. The order of the two makes no difference.
    package init(of id: [UInt8], _ one: SyncedVersion, _ other: SyncedVersion) {
        let (stricter, lessStrict) = one.level >= other.level ? (one, other) : (other, one)
        guard lessStrict.mayChange(stricter) else {
            // Not joined: the edits that the less strict version claims to include would go over into the other one.
            version = stricter
            copy = stricter.seen.includes(lessStrict.seen) ? nil : lessStrict.asCopy(beside: stricter, of: id)
            return
        }
        if one.seen != other.seen {
            let (newer, older) = one.seen.includes(other.seen) ? (one, other) : (other, one)
            if newer.seen.includes(older.seen) {
                (version, copy) = (newer, nil)
                return
            }
        }
        let (later, earlier) = other.isEarlier(than: one) ? (one, other) : (other, one)
        var joined = later
        joined.seen = one.seen.joined(with: other.seen)
        joined.created = min(one.created, other.created)
        joined.strictest = max(one.strictest, other.strictest)
        joined.level = joined.state == .purged ? joined.strictest : max(one.level, other.level)
        joined.lowerings = Lowering.joined(one.lowerings + other.lowerings, above: joined.level)
        version = joined
        // A content whose edit the later version has seen was replaced by a user who saw it, or is in a copy already.
        copy = later.seen.includes(earlier.dot) ? nil : earlier.asCopy(beside: joined, of: id)
    }
}

extension SyncedVersion {
    /// The order of versions. First comes a content that the other version has replaced, if only one of the two has; then the
    /// state farther from life, the earlier time, the smaller dot, the smaller summary. Of two versions the last shows.
    func isEarlier(than other: SyncedVersion) -> Bool {
        let (isReplaced, replaces) = (other.seen.includes(dot), seen.includes(other.dot))
        if isReplaced != replaces { return isReplaced }
        if state != other.state { return state < other.state }
        if time != other.time { return time < other.time }
        if dot != other.dot { return dot < other.dot }
        return summary.lexicographicallyPrecedes(other.summary)
    }

    /// Whether name, details and fields are the same, but for the prefix of a conflict copy's name.
    func hasContent(of other: SyncedVersion) -> Bool {
        fields == other.fields && details == other.details
            && name?.withoutConflictPrefix == other.name?.withoutConflictPrefix
    }

    /// This version as a conflict copy beside the shown version. Nil if nothing of it would be lost.
    fileprivate func asCopy(beside shown: SyncedVersion, of id: [UInt8]) -> SyncedVersion? {
        guard state != .purged, !isContained(in: shown) else { return nil }
        var copy = self
        copy.origin = origin ?? id
        copy.level = shown.level
        copy.strictest = shown.level
        copy.lowerings = []
        return copy
    }

    /// Whether nothing of this version is lost if only the other one is kept.
    private func isContained(in other: SyncedVersion) -> Bool {
        guard state <= other.state, fields.allSatisfy({ other.fields[$0.key] == $0.value }) else { return false }
        // Of a version in the trash beside a live one only the values count: its edit was the move to the trash.
        guard state == other.state else { return true }
        return details == other.details && name?.withoutConflictPrefix == other.name?.withoutConflictPrefix
    }
}
