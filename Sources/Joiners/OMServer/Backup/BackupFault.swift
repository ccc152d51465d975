#if Server
/// Why a server's backup was not restored. The store is then as it was before.
package enum BackupFault: Error, Hashable, Sendable {
    /// The file does not begin as a backup does.
    case notBackup
    /// The file ends early, or a byte of it was changed.
    case damaged
    /// A later omvault-server made it, with tables of this version.
    case laterVersion(UInt64)
    /// The store has rows, or tables of another version than the backup.
    case storeInUse
}
#endif
