/// A locked vault, and its items that can be read without a password.
package struct LockedVault: ~Copyable {
    package let file: VaultFile
    /// The two `always` levels.
    package let always: Vault

    /// The locked vault alone.
    ///
    /// - Parameter keepsConnection: Whether the unlock goes on over this connection. If not, this closes it. Close it
    ///   before a wait for a person: while it is open, no other process can rename the vault.
    package consuming func intoFile(keepingConnection keepsConnection: Bool) -> VaultFile {
        let connection = always.state.connection
        return keepsConnection ? file.keeping(connection) : file
    }
}
