// The merge of two versions of one item. Pure and commutative. Format: docs/formats/sync.md, "Merge".

internal import OMParcels
internal import OMRecords

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
        let (oneIncludes, otherIncludes) = (one.seen.includes(other.seen), other.seen.includes(one.seen))
        if oneIncludes != otherIncludes {
            let (newer, older) = oneIncludes ? (one, other) : (other, one)
            // Attack: the thief of a level to which the owner lowered an item drops the lowering. Then a device that has not heard
            // of it would hold all that follows.
            version = newer.keepingLowerings(of: older, at: newer.level)
            copy = nil
            return
        }
        let (later, earlier) = other.isEarlier(than: one) ? (one, other) : (other, one)
        var joined = later.keepingLowerings(of: earlier, at: max(one.level, other.level))
        joined.seen = one.seen.joined(with: other.seen)
        joined.created = min(one.created, other.created)
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

    /// This version at a level, with what the lowerings of both cover.
    fileprivate func keepingLowerings(of other: SyncedVersion, at new: ProtectionLevel.Availability) -> SyncedVersion {
        var kept = self
        kept.level = new
        kept.lowerings = Lowering.joined(lowerings + other.lowerings, above: new)
        return kept
    }

    /// Whether name, details and fields are the same, but for the prefix of a conflict copy's name.
    func hasContent(of other: SyncedVersion) -> Bool {
        fields == other.fields && details == other.details
            && name?.withoutConflictPrefix == other.name?.withoutConflictPrefix
    }

    /// This version as a conflict copy beside the shown version. Nil if nothing of it would be lost.
    func asCopy(beside shown: SyncedVersion, of id: [UInt8]) -> SyncedVersion? {
        guard state != .purged, !isContained(in: shown) else { return nil }
        var copy = self
        copy.origin = origin ?? id
        copy.level = shown.level
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
