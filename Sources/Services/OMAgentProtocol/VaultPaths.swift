internal import OMSystem

/// The paths that a message names its vault by. The client would open the vault itself with the same paths.
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

extension String {
    /// Whether the protocol takes it as a path: absolute, without a NUL and within 4096 bytes.
    package var isAgentPath: Bool { FilePath.isAbsolute(self) && utf8.count <= 4096 && !utf8.contains(0) }
}
