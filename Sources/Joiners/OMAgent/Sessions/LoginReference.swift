internal import OMAgentProtocol
public import OMAuth
internal import OMSecrets

/// The login that a session belongs to, and its ledger.
public struct LoginReference: Hashable, Sendable {
    /// The folders of the ledger and of the device key, as absolute paths.
    public let state: String
    public let device: String
    public let key: LoginKey

    /// - Returns: nil unless the paths are absolute, without a NUL and within 4096 bytes, and the server's name is within its
    ///   bounds.
    public init?(state: String, device: String, key: LoginKey) {
        guard [state, device].allSatisfy(\.isAgentPath), key.server.utf8.count <= LoginKey.longestServer else { return nil }
        (self.state, self.device, self.key) = (state, device, key)
    }

    /// The id in the name of the session's ticket.
    var id: [UInt8] {
        var name = SecretBuffer()
        name.write(self)
        let hash = BLAKE2b(count: 16)
        name.withBytes { hash.update($0) }
        var id = [UInt8](repeating: 0, count: 16)
        var target = id.mutableSpan
        hash.finish(into: &target)
        return id
    }
}
