internal import OMJSON

/// The header of a signed token: the signer's claims about its own signature. In a parsed token it is not verified yet.
///
/// Other members are ignored. Attack: a token names its own key in `jku`, `jwk`, `x5u` or `x5c`, so the attacker's key verifies
/// it. No code here reads them.
public struct JWSHeader: Hashable, Sendable {
    /// The longest `kid` in bytes.
    public static let maximumKeyIDCount = 512

    public let algorithm: JWSAlgorithm
    /// `kid`: which key signed. It is untrusted text: escape it before you show it.
    public let keyID: String?
    /// `typ`: what the token is, such as `JWT` or `dpop+jwt`. It is untrusted text too.
    public let type: String?
    /// The certificate that a header to sign names by its digest (`x5t#S256`). A header that was read has none.
    private let certificate: Certificate?

    /// A header to sign.
    public init(
        _ algorithm: JWSAlgorithm, keyID: String? = nil, type: String? = nil, certificate: Certificate? = nil
    ) {
        (self.algorithm, self.keyID, self.type, self.certificate) = (algorithm, keyID, type, certificate)
    }

    /// - Throws: ``CryptoError/malformedJWS``, ``CryptoError/algorithmNotAllowed``.
    init(json: Span<UInt8>) throws(CryptoError) {
        guard let members = (try? JSON(parsing: json))?.members, let name = members["alg"]?.text else { throw .malformedJWS }
        // Attack: the signer demands an extension that changes the meaning of the token. A reader that ignores `crit` or `b64`
        // reads another payload than the signer signed.
        guard members["crit"] == nil, members["b64"] == nil else { throw .malformedJWS }
        // Attack: `"alg":"none"` without a signature, or HS256 with the public key as the MAC's key.
        guard let algorithm = JWSAlgorithm(rawValue: name) else { throw .algorithmNotAllowed }
        self.init(
            algorithm, keyID: try Self.text("kid", in: members, maximum: Self.maximumKeyIDCount),
            type: try Self.text("typ", in: members))
    }

    private static func text(
        _ name: String, in members: [String: JSON], maximum: Int = .max
    ) throws(CryptoError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.text, text.utf8.count <= maximum else { throw .malformedJWS }
        return text
    }

    /// The header as JSON.
    ///
    /// - Parameter jwk: The text of the member `jwk`. Nil: without it.
    func json(jwk: String?) throws(CryptoError) -> String {
        var json = "{\"alg\":\"\(algorithm.rawValue)\""
        if let type { json += ",\"typ\":\(JSONText.quoted(type))" }
        if let keyID { json += ",\"kid\":\(JSONText.quoted(keyID))" }
        if let certificate { json += ",\"x5t#S256\":\"\(Base64URL.encode(try certificate.fingerprint()))\"" }
        if let jwk { json += ",\"jwk\":\(jwk)" }
        return json + "}"
    }
}
