internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets

/// A new session, as a client hands it over after a login.
struct NewSession: ~Copyable, Sendable {
    /// The server, and the session that it gave.
    struct ServerPart: ~Copyable, Sendable {
        let service: OnlineService
        /// The secret of a confidential client. Empty for all others.
        let clientSecret: SecretBytes
        /// How long a logout may take, in milliseconds.
        let logout: UInt32
        /// Empty after an offline login.
        let session: SecretBytes
        /// The access token in the session. Nil for a server without such tokens.
        let access: AccessToken?
        /// When its access token expires, in seconds since boot. Nil if it does not expire.
        let expires: Int64?
        /// The vault of the identity that proves the client. Nil for a client without one.
        var vault: VaultPaths? = nil
        /// The key to which its tokens are bound. Nil if they are bound to none.
        var tokenKey: TokenKey? = nil
    }

    let login: LoginReference
    let profile: ProfileDigest
    let mode: AgentSession.Mode
    let limits: SessionLimits
    /// Whether its access token may be handed out. The profile of the login decides, and no later profile.
    let release: TokenRelease
    let serverPart: ServerPart?
    /// The origins that may get its access token, as ``ServerURL/origin``. The profile of the login decides here too.
    var origins: [String] = []
    /// The key of its row in the ledger. Nil if the ledger does not remember it.
    var row: SessionRowKey? = nil

    /// The most of them. Later ones get no token.
    static let mostOrigins = 64

    consuming func takeServerPart() -> ServerPart? { serverPart }

    var isRemembered: Bool {
        switch row {
        case .none: false
        case .some: true
        }
    }
}
