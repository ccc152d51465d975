/// The vault that a message is about: the two paths with which the client would open it itself.
public struct VaultPaths: Hashable, Sendable {
    /// The vault's file, an absolute path.
    public let vault: String
    /// The device folder, an absolute path. Empty if the user has none.
    public let device: String

    /// - Returns: nil unless the paths are absolute, without a NUL and within 4096 bytes.
    public init?(vault: String, device: String) {
        guard vault.isAgentPath, device.isEmpty || device.isAgentPath else { return nil }
        (self.vault, self.device) = (vault, device)
    }
}
