// What proves a login from here on, between two questions: written by a provider, kept by the caller, read again here.
// docs/online-protocol.md, "Sessions".

internal import FoundationEssentials
internal import OMOnlineModel
internal import OMSecrets

enum ServerSession: Codable, Sendable {
    case cookies(CookieJar)
    case tokens(Tokens)

    static let maximumBytes = 512 << 10

    struct Tokens: Codable, Sendable {
        var access: String
        var refresh: String?
        /// Seconds since 1970 by this machine's clock when they came.
        var issued: Int64
        /// Seconds that the access token lives; nil for one without an end.
        var lifetime: UInt32?
        var scopes: [String]
        /// Where they can be taken back.
        var revocation: String?
        /// Whether a client's secret goes into the body there; nil is false.
        var revocationTakesSecretInBody: Bool?
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
