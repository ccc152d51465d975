/// Where a backup's bytes come from. They are read twice: to check them, and to restore.
protocol BackupSource: AnyObject {
    /// The next bytes: `count` of them, or fewer at the end.
    func read(_ count: Int) throws(VaultError) -> [UInt8]
    func rewind() throws(VaultError)
}
