/// A locked vault, and its items that can be read without a password.
package struct LockedVault: ~Copyable {
    package let file: VaultFile
    /// The two `always` levels.
    package let always: Vault

    /// The locked vault alone.
    ///
    /// - Parameter keepsConnection: Whether the unlock goes on over this connection. Say no if somebody must be asked for
    ///   the secret: an open connection keeps other processes from renaming the vault. If no, this closes it.
    package consuming func intoFile(keepingConnection keepsConnection: Bool) -> VaultFile {
        let connection = always.state.connection
        return keepsConnection ? file.keeping(connection) : file
    }
}
