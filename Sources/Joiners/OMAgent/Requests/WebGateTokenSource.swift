public import OMAuth
public import OMOnlineModel
public import OMSecrets

/// Gets tokens for gates in front of web pages, from the server that logged the user in.
public protocol WebGateTokenSource: Sendable {
    /// - Parameter context: The text of the gate's challenge, unchanged.
    func token(for gate: WebGate, context: String) async throws(AuthError) -> SecretBytes
}
