// Assertions by which a client of an OAuth server proves itself (RFC 7523; OpenID Connect Core, section 9).

internal import OMJSON
public import OMSecrets

/// The claims of a client assertion. This side writes all of them.
public struct ClientAssertion: Hashable, Sendable {
    /// How long an assertion counts, in seconds.
    public static let life: Int64 = 300

    public let clientID: String
    /// `aud`: one text, never a list.
    public let audience: String

    public init(clientID: String, audience: String) { (self.clientID, self.audience) = (clientID, audience) }

    /// The signed assertion, with another `jti` each time.
    ///
    /// - Parameters:
    ///   - certificate: The key's certificate: the header names it by its digest. Nil without one.
    ///   - now: Seconds since 1970.
    /// - Throws: ``CryptoError/wrongKeyType`` for a key that no algorithm of ``JWSAlgorithm`` takes; what ``JWS/sign(_:_:with:embedsKey:)``
    ///   throws.
    public func signed(
        by key: borrowing PrivateKey, certificate: Certificate?, now: Int64
    ) throws(CryptoError) -> SecretBytes {
        guard let algorithm = Self.algorithm(for: key.kind) else { throw .wrongKeyType }
        let id = Base64URL.encode(Random.bytes(32))
        let (client, audience) = (JSONText.quoted(clientID), JSONText.quoted(audience))
        let claims =
            "{\"iss\":\(client),\"sub\":\(client),\"aud\":\(audience),\"jti\":\"\(id)\",\"iat\":\(now),\"exp\":\(now + Self.life)}"
        return try JWS.sign(Array(claims.utf8), JWSHeader(algorithm, type: "JWT", certificate: certificate), with: key)
    }

    /// RS256 for RSA: every server of this method has it.
    public static func algorithm(for kind: KeyKind) -> JWSAlgorithm? {
        JWSAlgorithm.allCases.first { $0.fits(kind) }
    }
}
