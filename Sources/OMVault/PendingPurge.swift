// A purge that a reader or a crash held up, finished by whoever comes by.

internal import OMStorage

extension VaultFile {
    /// Takes out of the write-ahead log what a purge left there, if there is something and no reader needs it. No
    /// password is needed, and nobody is waited for.
    ///
    /// - Returns: ``PurgeResult/pending`` when there is still something.
    /// - Throws: the errors of opening.
    public func finishPurge() throws(VaultError) -> PurgeResult {
        // Every open tries.
        let vault = try openAlways()
        let isPending = try storing { () throws(StorageError) in
            try vault.open.database.number(VaultSchema.countPending) > 0
        }
        return isPending ? .pending : .complete
    }
}
