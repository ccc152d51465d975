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

    /// The own packs that are not on a remote any more. What was in them is written again.
    ///
    /// - Parameters:
    ///   - listed: The packs of the newest own head.
    ///   - files: Those that the remote shows.
    package static func lost(_ listed: [Head.PackReference], of device: UInt32, on files: Set<RemoteFile>) -> Set<UInt64> {
        Set(listed.map(\.number).filter { !files.contains(.pack(device: device, number: $0)) })
    }
}
