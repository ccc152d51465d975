/// What a private key of the user signs for a server: never bytes that a server chose.
public enum SigningPurpose: Hashable, Sendable {
    /// A client assertion (RFC 7523). The signer writes every claim.
    ///
    /// - Parameter algorithms: Those of which the signer takes one: 1 RS256, 2 PS256, 4 ES256, 8 ES384, 16 EdDSA, or their sum.
    case assertion(at: ServerEndpoint.Kind, algorithms: UInt8 = SigningPurpose.allAlgorithms)
    /// The client's proof in a TLS 1.3 handshake (RFC 8446, 4.4.3): the text that is signed, with its prefix, and the scheme's number (RFC 8446, 4.2.3).
    case handshake(text: [UInt8], scheme: UInt16)
    /// A proof of the session's key for one request (RFC 9449).
    case proof(KeyProofClaims)
    /// No signature: the newest nonce of the server at this address, for later proofs.
    case nonce(String, of: String)
}

extension SigningPurpose {
    /// Every algorithm of an assertion.
    public static let allAlgorithms: UInt8 = 31

    /// The most bytes of the text of a handshake. In TLS 1.2 the text has the certificates of both sides.
    package static let longestText = Int(UInt16.max)

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
