// When a device writes a version to a remote. Format: docs/formats/sync.md, "Pack".

internal import OMParcels

extension SyncedVersion {
    /// Whether this device has to write this version, the one here, to a remote.
    ///
    /// - Parameters:
    ///   - own: The version in this device's own parcel of the item there, or nil.
    ///   - isListed: Whether the parcel of another device there has this version.
    package func mustBeWritten(over own: SyncedVersion?, isListed: Bool) -> Bool {
        guard let own else { return !isListed }
        guard own != self else { return false }
        // The own parcel must not stay in the way of the version here: two devices would take each other's for ever.
        return !isListed || !seen.includes(own.seen)
    }

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
