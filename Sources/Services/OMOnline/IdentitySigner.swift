// Signatures of the user's key, made outside of the process that talks to the server.

public import OMOnlineModel
public import OMSecrets

public protocol IdentitySigner: Sendable {
    /// - Returns: the compact JWS of an assertion, or the signature of a handshake.
    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes
}
