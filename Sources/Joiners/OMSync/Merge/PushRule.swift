// When a device writes a version to a remote. Format: docs/formats/sync.md, "Pack".

package import OMParcels

package enum PushRule {
    /// Whether a device has to write its version of an item to a remote.
    ///
    /// - Parameters:
    ///   - seen: That of the version here.
    ///   - own: `seen` of the version in this device's own parcel there, and whether that is the version here. Nil for none.
    ///   - isListed: Whether the parcel of another device there has this version.
    package static func mustBeWritten(_ seen: Seen, over own: (seen: Seen, isSame: Bool)?, isListed: Bool) -> Bool {
        guard let own else { return !isListed }
        guard !own.isSame else { return false }
        // The own parcel must not stay in the way of the version here: two devices would take each other's for ever.
        return !isListed || !seen.includes(own.seen)
    }
}

extension SyncedVersion {
    /// Whether this device may leave out its parcel of this version, because another member's verified head lists `other`.
    ///
    /// Attack: a version that claims to include everything, and is never applied, would make all devices leave out their own.
    /// So it counts only once the item here includes it.
    ///
    /// Attack: a thief with a head key lists copies of all parcels, waits until the others leave theirs out, and then lists
    /// nothing. So an equal version counts only if the member that lists it has written it.
    ///
    /// - Parameters:
    ///   - member: Who lists `other`.
    ///   - here: The version of the item on this device.
    package func mayBeLeftOut(beside other: SyncedVersion, of member: UInt32, here: SyncedVersion) -> Bool {
        guard other != self else { return dot.device == member }
        return other.seen.includes(seen) && !seen.includes(other.seen) && here.seen.includes(other.seen)
    }
}
