/// A locked vault, and what can be read of it without any password.
package struct LockedVault: ~Copyable {
    package let file: VaultFile
    /// The two `always` levels.
    package let always: Vault

    /// The locked vault alone. The connection is closed.
    package consuming func intoFile() -> VaultFile { file }
}
