/// A locked vault, and what can be read of it without any password.
public struct LockedVault: ~Copyable {
    public let file: VaultFile
    /// The two `always` levels.
    public let always: Vault

    /// The locked vault alone. The connection is closed.
    public consuming func intoFile() -> VaultFile { file }
}
