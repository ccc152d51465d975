/// A locked vault, and its items that can be read without a password.
package struct LockedVault: ~Copyable {
    package let file: VaultFile
    /// The two `always` levels.
    package let always: Vault

    /// The locked vault alone. This closes the connection.
    package consuming func intoFile() -> VaultFile { file }
}
