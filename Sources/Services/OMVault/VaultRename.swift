// Renaming a vault's file.

public import OMItems
public import OMStorage
internal import OMSystem

extension VaultFile {
    /// Gives a vault's file another name in the same folder. It needs no key. No other process may have the vault open: let
    /// the agent forget it first.
    ///
    /// Marks, log, count of wrong passwords and tickets go by the vault's id and by the file's inode, which stay.
    ///
    /// - Parameter folder: This device's folder. Nil if it has none.
    /// - Throws: ``VaultError/noVault``, ``VaultError/vaultExists``; ``VaultError/storage(_:)`` with `busy` if another process
    ///   has it open.
    public static func rename(_ path: String, to new: String, device folder: DeviceFolder?) throws(VaultError) {
        guard try !exists(new) else { throw .vaultExists }
        // An older state may be renamed too: nothing of it is read or trusted. The file is closed again here.
        let marks = try open(path, device: folder, acceptsRollback: true).highWater()
        let rename = { () throws(VaultError) in
            try storing { () throws(StorageError) in
                try Database.renameFile(
                    path, to: new, VaultSchema.schema, VaultSchema.secondSchema, VaultSchema.thirdSchema)
            }
        }
        switch marks {
        case .some(let marks): try marks.lock.hold(rename)
        case .none: try rename()
        }
    }
}
