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
}
