internal import OMItems

/// The source of a backup's bytes. They are read twice: first to check them, then to restore.
protocol BackupSource: AnyObject {
    /// The next bytes: `count` of them, or fewer at the end.
    func read(_ count: Int) throws(VaultError) -> [UInt8]
    func rewind() throws(VaultError)
}
