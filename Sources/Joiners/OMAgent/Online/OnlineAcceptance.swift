public import OMOnlineModel
internal import OMRecords
public import OMSecrets

/// What a server granted.
public struct OnlineAcceptance: ~Copyable, Sendable {
    /// What proves the login from here on; nil when there is none, or the old one stays.
    public let session: SecretBytes?
    /// Seconds that the server gives the session.
    public let lifetime: UInt32?
    /// The server's clock, when TLS vouches for it.
    public let serverTime: Int64?
    /// What the server says about the login, or why it could not be asked.
    public let profile: ProfileAnswer

    public init(
        session: consuming SecretBytes?, lifetime: UInt32? = nil, serverTime: Int64? = nil,
        profile: ProfileAnswer = .notAsked
    ) {
        self.session = session
        self.lifetime = lifetime
        self.serverTime = serverTime
        self.profile = profile
    }

    public consuming func takeSession() -> SecretBytes? { session }
}
