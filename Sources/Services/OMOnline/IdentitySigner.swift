// The private key of a client identity, for a process that does not have it.

public import OMOnlineModel
public import OMSecrets

/// Signs for one question with the private key of the client. The key itself is in another process.
public protocol IdentitySigner: Sendable {
    /// - Returns: The compact JWS of an assertion, or the signature of a handshake.
    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes
}
