// The rules for ID tokens (OpenID Connect Core, 3.1.3.7), behind a signature that was verified.

internal import OMCrypto
internal import OMJSON
internal import OMOnlineModel
internal import OMSecrets

/// The claims of an ID token that this client may believe.
struct IDToken: Sendable {
    /// What a token must say.
    struct Expected: Sendable {
        let issuer: String
        let client: String
        /// Nil if the request had none: a login by device, or a refresh.
        var nonce: String?
        /// The access token that came with it.
        let access: String
        /// `max_age` of the request.
        var maximumAge: UInt32?
        /// The user of the session. Nil at a login.
        var subject: String?
        /// Whether the token must name the access token: both came through the browser.
        var needsAccessHash = false
    }

    /// How far two clocks may differ, in seconds.
    private static let leeway: Double = 60

    let subject: String
    let claims: UserClaims

    /// - Parameter now: This machine's time in seconds since 1970.
    /// - Throws: ``OnlineFailure/unusableIDToken``.
    init(_ token: borrowing VerifiedJWS, _ expected: Expected, now: Int64) throws(OnlineRefusal) {
        guard let members = token.payload.withBytes({ (try? JSON(parsing: $0))?.members }) else { throw Self.refused }
        // Attack: a token of another issuer, whose key this one's set has too.
        guard let issuer = members["iss"]?.text, Self.isSame(issuer, expected.issuer) else { throw Self.refused }
        try Self.checkAudience(members, expected.client)
        try Self.checkTimes(members, expected.maximumAge, Double(now))
        // Attack: a token of another login, which the attacker or the user began.
        if let nonce = expected.nonce {
            guard let given = members["nonce"]?.text, Self.isSame(given, nonce) else { throw Self.refused }
        }
        // Attack: a token of another user beside the access token of this one.
        if let given = members["at_hash"] {
            guard let given = given.text, let hash = Self.hash(of: expected.access, token.header.algorithm),
                Self.isSame(given, hash)
            else { throw Self.refused }
        } else if expected.needsAccessHash {
            // Attack: a program puts another user's access token beside this user's ID token (OpenID Connect Core, 3.2.2.9).
            throw Self.refused
        }
        guard let subject = members["sub"]?.text, UserClaims.isUsable(subject) else { throw Self.refused }
        if let known = expected.subject, !Self.isSame(subject, known) { throw Self.refused }
        self.subject = subject
        claims = UserClaims(members)
    }

    private static let refused = OnlineRefusal.failed(.unusableIDToken)

    /// Byte for byte: two spellings of one letter in Unicode are two names.
    private static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

    /// Attack: a token for another client, which its owner hands to this one. A token for several clients counts if it says that
    /// this client is the authorized one.
    private static func checkAudience(_ members: [String: JSON], _ client: String) throws(OnlineRefusal) {
        guard let audience = members["aud"].flatMap({ $0.text.map { [$0] } ?? $0.texts }),
            audience.contains(where: { isSame($0, client) })
        else { throw refused }
        if let party = members["azp"] {
            guard let party = party.text, isSame(party, client) else { throw refused }
        } else if audience.count > 1 {
            throw refused
        }
    }

    private static func checkTimes(_ members: [String: JSON], _ maximumAge: UInt32?, _ now: Double) throws(OnlineRefusal) {
        guard let end = time("exp", members), now < end + leeway else { throw refused }
        guard let start = time("iat", members), start <= now + leeway else { throw refused }
        if members["nbf"] != nil {
            guard let start = time("nbf", members), start <= now + leeway else { throw refused }
        }
        if let maximumAge {
            guard let proof = time("auth_time", members), proof <= now + leeway, now <= proof + Double(maximumAge) + leeway
            else { throw refused }
        }
    }

    private static func time(_ name: String, _ members: [String: JSON]) -> Double? {
        guard case .number(let digits)? = members[name], let seconds = Double(digits), seconds.isFinite, seconds >= 0 else {
            return nil
        }
        return seconds
    }

    /// The left half of the access token's hash (OpenID Connect Core, 3.1.3.6).
    static func hash(of access: String, _ algorithm: JWSAlgorithm) -> String? {
        let digest: DigestAlgorithm =
            switch algorithm {
            case .rs256, .ps256, .es256: .sha256
            case .es384: .sha384
            case .edDSA: .sha512
            }
        guard let hash = try? Digest.of(Array(access.utf8), digest) else { return nil }
        return Base64URL.encode(Array(hash.prefix(hash.count / 2)))
    }
}
