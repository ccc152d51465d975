internal import OMItems
internal import OMVault

/// The notes that the version of a record need not be pushed: it is in an own parcel, or another member lists it.
enum PushNotes {
    /// Drops the notes about these items, so that they are looked at again. Nil means all remotes, and all items.
    static func drop(on remote: UInt8?, of ids: Set<[UInt8]>?, _ access: inout SyncAccess) throws(VaultError) {
        for row in try access.rows(.noted) where remote.map({ $0 == row.key[0] }) ?? true {
            if ids?.contains(Array(row.body.prefix(16))) ?? true { try access.set(.noted, row.key, nil) }
        }
    }
}
