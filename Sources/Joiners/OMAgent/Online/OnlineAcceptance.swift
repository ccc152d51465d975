package import OMOnlineModel
internal import OMRecords
package import OMSecrets

/// What a server granted.
package struct OnlineAcceptance: ~Copyable, Sendable {
    /// What proves the login from here on; nil when there is none, or the old one stays.
    package let session: SecretBytes?
    /// Seconds that the server gives the session.
    package let lifetime: UInt32?
    /// The server's clock, when TLS vouches for it.
    package let serverTime: Int64?
    /// What the server says about the login, or why it could not be asked.
    package let profile: ProfileAnswer

    package init(
        session: consuming SecretBytes?, lifetime: UInt32? = nil, serverTime: Int64? = nil,
        profile: ProfileAnswer = .notAsked
    ) {
        self.session = session
        self.lifetime = lifetime
        self.serverTime = serverTime
        self.profile = profile
    }

    package consuming func takeSession() -> SecretBytes? { session }
}
