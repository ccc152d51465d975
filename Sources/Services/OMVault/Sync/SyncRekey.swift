package import OMItems

/// What a rekey does in a vault that syncs.
package protocol SyncRekey: ~Copyable {
    /// Gives the device another number, other keys for the roll, and seals the rows of sync under the new keys.
    borrowing func rekey(
        _ vault: borrowing Vault, to keys: borrowing RekeyedKeys, _ access: inout SyncAccess
    ) throws(VaultError)
}
