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

    /// Attack: a helper that was taken over hands out what nobody asked for. A login's answer has a session, a session
    /// comes with nothing but a login, a check or new tokens, and a profile with nothing but a login or its own question.
    init(from wire: inout WireReader, to task: OnlineTask) throws(MalformedBytes) {
        let hasSession: Bool = try wire.read()
        let session = hasSession ? try wire.secret(upTo: OnlineQuestion.maximumSession) : nil
        let (lifetime, time): (UInt32?, UInt64?) = (try wire.read(), try wire.read())
        guard time ?? 0 <= 1 << 53 else { throw MalformedBytes() }
        let profile: ProfileAnswer = try wire.read()
        let isFitting =
            switch task {
            case .login: hasSession
            case .check: profile == .notAsked
            case .refresh: hasSession && profile == .notAsked
            case .logout: !hasSession && profile == .notAsked
            case .profile: !hasSession && profile.profile != nil
            }
        guard isFitting else { throw MalformedBytes() }
        self.init(session: session, lifetime: lifetime, serverTime: time.map { Int64($0) }, profile: profile)
    }

    borrowing func write(to body: inout SecretBuffer) {
        body.write(session)
        body.write(lifetime, serverTime, profile)
    }
}
