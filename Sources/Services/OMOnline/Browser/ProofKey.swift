// The values that bind an answer from the browser to one login: RFC 7636 (PKCE), `state` and `nonce`.

internal import OMCrypto
internal import OMSecrets

/// The verifier of PKCE and its challenge. The verifier leaves this process once: to the token endpoint.
struct ProofKey: Sendable {
    let verifier: String
    /// SHA-256 of the verifier: method S256.
    let challenge: String

    /// - Parameter bytes: 32 random bytes.
    init(_ bytes: [UInt8] = Random.bytes(32)) {
        verifier = Base64URL.encode(bytes)
        guard let digest = try? Digest.of(Array(verifier.utf8), .sha256) else { fatalError("no SHA-256") }
        challenge = Base64URL.encode(digest)
    }
}

/// The random values of one login by authorization code.
struct LoginSecrets: Sendable {
    let key: ProofKey
    let state: String
    /// Nil for a login without `openid`, whose answer has no ID token.
    let nonce: String?

    init(key: ProofKey = ProofKey(), state: String = Self.random(), nonce: String?) {
        (self.key, self.state, self.nonce) = (key, state, nonce)
    }

    static func random() -> String { Base64URL.encode(Random.bytes(32)) }
}
