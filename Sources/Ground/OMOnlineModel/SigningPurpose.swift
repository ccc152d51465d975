/// What a private key of the user signs for a server: never bytes that a server chose.
public enum SigningPurpose: Hashable, Sendable {
    /// A client assertion (RFC 7523). The signer writes every claim.
    case assertion(at: ServerEndpoint.Kind)
    /// The client's proof in a TLS 1.3 handshake (RFC 8446, 4.4.3): the text that is signed, with its prefix, and the scheme's number
    /// (RFC 8446, 4.2.3).
    case handshake(text: [UInt8], scheme: UInt16)
}
