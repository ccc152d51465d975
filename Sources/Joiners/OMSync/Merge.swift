// The merge of two versions of one item. Pure and commutative. Format: docs/formats/sync.md, "Merge".

/// What comes out of a merge: one version, and at most one copy beside it.
package struct Merge: Hashable, Sendable {
    package let version: SyncedVersion
    /// The version that does not show, as an item of its own. Nil if nothing of it would be lost.
    package let copy: SyncedVersion?

    /// Merges two versions of the item with this id. The order of the two makes no difference.
    ///
    /// - Parameter isAuthentic: Whether a proof's MAC is right, under the lane of the level from which it lowers.
    package init(of id: [UInt8], _ one: SyncedVersion, _ other: SyncedVersion, isAuthentic: (LevelProof) -> Bool) {
        let (stricter, weaker) = one.level >= other.level ? (one, other) : (other, one)
        // Attack: a thief who has the lane of one level must not replace, hide or revive an item of a stricter level, whatever
        // edits his version claims to include, and whichever of the two a device met first.
        guard weaker.mayChange(stricter, isAuthentic: isAuthentic) else {
            version = stricter
            copy = stricter.seen.includes(weaker.seen) ? nil : weaker.asCopy(beside: stricter, of: id)
            return
        }
        if one.seen != other.seen {
            let (newer, older) = one.seen.includes(other.seen) ? (one, other) : (other, one)
            if newer.seen.includes(older.seen) {
                (version, copy) = (newer, nil)
                return
            }
        }
        let (first, second) = other.isBehind(one) ? (one, other) : (other, one)
        var joined = first
        joined.seen = first.seen.joined(with: second.seen)
        joined.created = min(first.created, second.created)
        joined.level = max(first.level, second.level)
        joined.strictest = max(first.strictest, second.strictest)
        joined.proofs = LevelProof.kept(of: first.proofs + second.proofs, above: joined.level)
        version = joined
        copy = second.asCopy(beside: joined, of: id)
    }
}

extension SyncedVersion {
    /// The order of versions: the state nearer to life, then the later time, then the larger dot, then the rest of the content.
    /// Of two versions that must both be kept, the last in this order shows.
    func isBehind(_ other: SyncedVersion) -> Bool {
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
        copy.proofs = []
        return copy
    }

    /// Whether nothing of this version is lost if only the other one is kept.
    private func isContained(in other: SyncedVersion) -> Bool {
        guard fields.allSatisfy({ other.fields[$0.key] == $0.value }) else { return false }
        // Beside a version of another state, only its values count: the edit was the change of state.
        guard state == other.state else { return true }
        return details == other.details && name?.withoutConflictPrefix == other.name?.withoutConflictPrefix
    }
}
