// What a provider hands out when the server said yes.

public import OMOnlineModel
public import OMSecrets

/// The server accepted. Only a provider makes one, and only from an answer of the server's.
public struct OnlineGrant: ~Copyable, Sendable {
    /// What proves the login to the server from here on: cookies or tokens. Opaque; docs/online-protocol.md, "Sessions".
    /// Nil when nothing changed, or nothing is left of it.
    public let session: SecretBytes?
    /// Seconds that the server gives the session; nil when it does not say.
    public let lifetime: UInt32?
    /// The server's clock, when TLS vouches for it.
    public let serverTime: Int64?
    /// The application profile, or why it did not come.
    public let profile: ProfileAnswer

    init(
        session: consuming SecretBytes? = nil, lifetime: UInt32? = nil, serverTime: Int64? = nil,
        profile: ProfileAnswer = .notAsked
    ) {
        self.session = session
        self.lifetime = lifetime
        self.serverTime = serverTime
        self.profile = profile
    }

    /// A profile that was asked for by itself.
    public init(of profile: ServerProfile) { self.init(profile: .given(profile)) }

    public consuming func takeSession() -> SecretBytes? { session }
}
