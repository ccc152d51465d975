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
    ///   - algorithms: Those that the server takes.
    /// - Throws: ``CryptoError/wrongKeyType`` for a key that none of the algorithms takes; what ``JWS/sign(_:_:with:embedsKey:)``
    ///   throws.
    public func signed(
        by key: borrowing PrivateKey, certificate: Certificate?, now: Int64, algorithms: UInt8 = everyAlgorithm
    ) throws(CryptoError) -> SecretBytes {
        guard let algorithm = Self.algorithm(for: key.kind, of: algorithms) else { throw .wrongKeyType }
        let id = Base64URL.encode(Random.bytes(32))
        let (client, audience) = (JSONText.quoted(clientID), JSONText.quoted(audience))
        let claims =
            "{\"iss\":\(client),\"sub\":\(client),\"aud\":\(audience),\"jti\":\"\(id)\",\"iat\":\(now),\"exp\":\(now + Self.life)}"
        return try JWS.sign(Array(claims.utf8), JWSHeader(algorithm, type: "JWT", certificate: certificate), with: key)
    }

    /// A number of algorithms has a bit for each of ``JWSAlgorithm/allCases``: 1 for the first, then 2, 4, 8 and 16.
    public static let everyAlgorithm: UInt8 = 31

    /// Those of the names that are algorithms here.
    public static func algorithms(named names: [String]) -> UInt8 {
        JWSAlgorithm.allCases.enumerated().reduce(0) { $0 | (names.contains($1.element.rawValue) ? 1 << $1.offset : 0) }
    }

    /// The first of the algorithms that keys of this kind sign with. RS256 goes before PS256: every server of this method has it.
    public static func algorithm(for kind: KeyKind, of algorithms: UInt8 = everyAlgorithm) -> JWSAlgorithm? {
        JWSAlgorithm.allCases.enumerated().first { algorithms & 1 << $0.offset != 0 && $0.element.fits(kind) }?.element
    }
}
