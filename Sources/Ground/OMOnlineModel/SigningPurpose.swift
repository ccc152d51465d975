/// What a private key of the user signs for a server: never bytes that a server chose.
public enum SigningPurpose: Hashable, Sendable {
    /// A client assertion (RFC 7523). The signer writes every claim.
    case assertion(at: ServerEndpoint.Kind)
    /// The client's proof in a TLS 1.3 handshake (RFC 8446, 4.4.3): the text that is signed, with its prefix, and the scheme's number (RFC 8446, 4.2.3).
    case handshake(text: [UInt8], scheme: UInt16)
}

extension SigningPurpose {
    /// The bytes in front of the digest in a client's handshake (RFC 8446, 4.4.3).
    package static let handshakePrefix =
        [UInt8](repeating: 0x20, count: 64) + Array("TLS 1.3, client CertificateVerify".utf8) + [0]

    /// Whether a text is that of a client's handshake, and nothing else.
    ///
    /// Attack: a server, or a helper that it took over, gets a signature of bytes that mean something elsewhere. No other protocol
    /// here signs bytes that begin with 64 blanks.
    package static func isHandshake(_ text: [UInt8]) -> Bool {
        text.starts(with: handshakePrefix) && [32, 48, 64].contains(text.count - handshakePrefix.count)
    }
}
