// The session of a login, between two questions. A provider writes and reads it, and the caller keeps it.
// docs/formats/online-protocol.md, "Sessions".

internal import FoundationEssentials
internal import OMOnlineModel
internal import OMSecrets

enum ServerSession: Codable, Sendable {
    case cookies(CookieJar)
    case tokens(Tokens)
    case oamms(OAMMSTokens)

    static let maximumBytes = 512 << 10

    struct Tokens: Codable, Sendable {
        var access: String
        var refresh: String?
        /// A refresh token that is only revoked, with the access token. At once would be too early: the server may take the access
        /// token back with it (RFC 7009, 2.1).
        var unused: String?
        /// When the tokens came, in seconds since 1970 by this machine's clock.
        var issued: Int64
        /// How many seconds the access token is valid. Nil if it does not expire.
        var lifetime: UInt32?
        var scopes: [String]
        /// The address that revokes the tokens.
        var revocation: String?
        /// Whether a client's secret goes into the body at that address. Nil means false.
        var revocationTakesSecretInBody: Bool?
        /// Whether the client proves itself there with an assertion of its key. Nil means false.
        var revocationTakesAssertion: Bool?
        /// The name of the user whom the server named. Nil for a login with a user name.
        var user: String?
        /// `sub` of that user. A later ID token must have the same.
        var subject: String?
    }

    /// The tokens of the Mobile and Social service.
    struct OAMMSTokens: Codable, Sendable {
        let user: String
        /// The registration handle. Nil for a service without registration.
        let handle: String?
        // The addresses that the application profile gave.
        let access: String?
        let validate: String
        let delete: String?
    }

    func sealable() throws(OnlineRefusal) -> SecretBytes {
        guard let data = try? JSONEncoder().encode(self) else { throw .failed(.unexpectedAnswer) }
        return SecretBytes(copying: Array(data))
    }

    /// - Throws: ``OnlineFailure/unusableSession``.
    init(_ bytes: borrowing SecretBytes) throws(OnlineRefusal) {
        guard bytes.count <= Self.maximumBytes else { throw .failed(.unusableSession) }
        let data = bytes.withBytes { bytes in Data(bytes.indices.map { bytes[$0] }) }
        guard let session = try? JSONDecoder().decode(ServerSession.self, from: data) else { throw .failed(.unusableSession) }
        self = session
    }
}
