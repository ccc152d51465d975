// One session in the store. Only the store uses it, and only under its lock.

internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMSystem

extension OnlineQuestion {
    /// The same question, for an asker that signs with an identity of this vault, and with the key of the tokens.
    fileprivate consuming func signed(in vault: VaultPaths?, _ key: TokenKey?) -> OnlineQuestion {
        keyVault = vault
        return bound(to: key)
    }
}

/// A session, with the cookies or tokens of its server.
final class SessionEntry: @unchecked Sendable {
    let login: LoginReference
    let profile: ProfileDigest
    private var mode: AgentSession.Mode
    private(set) var deadlines: SessionDeadlines
    private(set) var since: Int64
    let service: OnlineService?
    private let logout: UInt32
    /// Empty if there is none. Not optional: the optimiser crashes on an optional move-only value in a class.
    private let clientSecret: SecretBytes
    /// The vault of the identity that proves the client.
    private let vault: VaultPaths?
    /// The key to which its tokens are bound.
    let tokenKey: TokenKey?
    private var session: SecretBytes
    /// The key of its row in the ledger. Empty if the ledger does not remember it.
    let rowKey: SecretBytes
    /// The state that the ledger has.
    var rowGeneration: UInt64
    /// Whether the ledger lacks its newest tokens. Until it has them, no token leaves.
    var isUnkept = false
    /// Whether its tokens were never compared with the ledger: it is from a ticket, and the row may have newer ones.
    var isUnconfirmed = false
    /// What its end still needs. It is done without the lock.
    var unfinishedEnd: UnfinishedEnd?

    enum UnfinishedEnd {
        case row, server
    }
    /// Empty if there is none.
    private(set) var access = AccessToken(SecretBytes(copying: []), scopes: ScopeSet())
    /// Its further access tokens, in the order of their last use.
    var narrowTokens: [NarrowToken] = []
    /// The last refusals of further tokens, and the clocks when they came.
    private var narrowRefusals: [(narrowing: TokenNarrowing, refusal: TokenRefusal, at: ClockReading)] = []
    let release: TokenRelease
    /// What a client read of the profile when it found that the session is of this profile. Nil if no client has said so.
    var reading: ProfileReading?
    /// The origins that may get its access token.
    let origins: [String]
    /// When the session's access token expires, in seconds since boot.
    private(set) var expires: Int64?
    /// The pending answer, while the server is being asked.
    var pending: PendingSessionCheck?
    /// The server's last refusal of new tokens, and the clock when it came. Nil once the server gave some.
    private var lastRefusal: (refusal: OnlineRefusal, at: ClockReading)?
    /// Whether a server refused the access token, so that the next question gets another one if it can.
    var isTokenRefused = false
    /// Whether it was removed from the store. From then on its key signs nothing: helpers may still run.
    var isRemoved = false { didSet { if isRemoved { tokenKey?.end() } } }
    /// Whether a ticket was written, so that the session outlives the agent.
    var hasTicket = false
    /// Where the secret of its ticket is.
    var secretPlace = SecretPlace.first
    private var wasIdle = false

    init(_ kept: consuming NewSession, at clock: ClockReading) {
        (login, profile, mode, release) = (kept.login, kept.profile, kept.mode, kept.release)
        origins = kept.origins
        deadlines = SessionDeadlines(kept.limits, at: clock)
        since = clock.wall
        switch kept.row {
        case .none:
            rowGeneration = 0
            rowKey = SecretBytes(copying: [])
        case .some(let row):
            rowGeneration = row.generation
            rowKey = row.bytes.duplicate()
        }
        switch kept.takeServerPart() {
        case .none:
            (service, logout, vault, tokenKey) = (nil, 0, nil, nil)
            clientSecret = SecretBytes(copying: [])
            session = SecretBytes(copying: [])
        case .some(let serverPart):
            let deadlines = serverPart.service.deadlines
            service = serverPart.service.within(
                OnlineDeadlines(connect: deadlines.connect, total: min(deadlines.total, SessionStore.longestWait)))
            logout = min(serverPart.logout, SessionStore.longestWait)
            clientSecret = serverPart.clientSecret.duplicate()
            session = serverPart.session.duplicate()
            (expires, vault, tokenKey) = (serverPart.expires, serverPart.vault, serverPart.tokenKey)
            switch serverPart.access {
            case .some(let given): access = given.duplicate()
            case .none: break
            }
        }
    }

    /// A session from a ticket.
    convenience init(_ kept: consuming NewSession, _ deadlines: SessionDeadlines, since: Int64, at clock: ClockReading) {
        self.init(kept, at: clock)
        (self.deadlines, self.since) = (deadlines, since)
    }

    /// A session from the ledger.
    convenience init(_ kept: consuming NewSession, since: Int64, at clock: ClockReading) {
        self.init(kept, at: clock)
        self.since = since
    }

    var isRemembered: Bool { rowKey.count > 0 }

    /// A copy of the server's session.
    var serverSession: SecretBytes { session.duplicate() }

    // MARK: - Time

    var lastUse: Int64 { deadlines.lastUse }

    func isIdle(at clock: ClockReading) -> Bool { deadlines.state(at: clock) == .idle }

    /// True once each time the session becomes idle.
    func becomesIdle(at clock: ClockReading) -> Bool {
        defer { wasIdle = isIdle(at: clock) }
        return !wasIdle && isIdle(at: clock)
    }

    func nextChange(after clock: ClockReading) -> Int64? { deadlines.nextChange(after: clock) }

    func use(at clock: ClockReading) { deadlines.use(at: clock) }

    /// Whether its access token has expired. After an offline login this does not matter: the token let no user in.
    private func isExpired(at clock: ClockReading) -> Bool {
        mode == .online && expires.map { clock.sinceBoot >= $0 } ?? false
    }

    /// Its description for clients. Nil if its time is over.
    func description(at clock: ClockReading) -> AgentSession? {
        func told(
            _ state: AgentSession.State, idle: Int64?, left: Int64?, isWarningDue: Bool = false
        ) -> AgentSession {
            AgentSession(
                login: login, profile: profile, mode: mode, state: state, since: since, idleLeft: idle, sessionLeft: left,
                isWarningDue: isWarningDue, hasServerSession: session.count > 0,
                survivesRestart: hasTicket, token: heldToken(at: clock), release: release,
                isRemembered: isRemembered)
        }
        switch deadlines.state(at: clock) {
        case .valid(let idle, let left, let isWarningDue):
            return told(isExpired(at: clock) ? .expired : .valid, idle: idle, left: left, isWarningDue: isWarningDue)
        case .idle: return told(.idle, idle: 0, left: deadlines.nextChange(after: clock).map { $0 - clock.sinceBoot })
        case .ended: return nil
        }
    }

    // MARK: - The server

    /// Whether its tokens are bound to a key, so that no other program can use them.
    var isBound: Bool { constraint != .none }

    /// The key that its tokens are bound to.
    var constraint: SenderConstraint {
        if case .oauth(let oauth)? = service?.kind { oauth.constraint } else { .none }
    }

    /// The client certificate that its requests show. Nil for a login without one.
    var identity: ShownIdentity? {
        guard let chain = service?.chain, let vault else { return nil }
        return ShownIdentity(chain: chain, vault: vault)
    }

    var isOAuth: Bool {
        if case .oauth? = service?.kind { true } else { false }
    }

    /// Takes a new login's deadlines and keeps the server's session, if the new login is offline.
    ///
    /// - Returns: false if the new login has another service, another profile or a server's session of its own.
    func continues(with new: SessionEntry) -> Bool {
        guard new.session.count == 0, session.count > 0, service == new.service || service == new.service?.byDevice(),
            profile == new.profile
        else {
            return false
        }
        (mode, deadlines, since, wasIdle) = (new.mode, new.deadlines, new.since, false)
        return true
    }

    /// The question to its server. Nil without a server's session.
    func question(newTokens: Bool) -> OnlineQuestion? {
        guard let service, session.count > 0 else { return nil }
        let question: OnlineQuestion =
            newTokens && isOAuth
            ? .refresh(session.duplicate(), of: service, clientSecret: clientSecret.duplicate())
            : .check(session.duplicate(), of: service, clientSecret: clientSecret.duplicate())
        return question.signed(in: vault, tokenKey)
    }

    /// Replaces the server's session with the new one from the server.
    ///
    /// - Parameter sent: The clock when the server was asked. The life of the access token counts from then, because the
    ///   answer may be late.
    func take(_ acceptance: consuming OnlineAcceptance, sent: ClockReading) {
        let lifetime = acceptance.lifetime
        (lastRefusal, isTokenRefused) = (nil, false)
        switch acceptance.session {
        case .none: return
        case .some(let new): session = new.duplicate()
        }
        expires = lifetime.map { sent.sinceBoot + Int64($0) }
        switch acceptance.access {
        case .some(let new): access = new.duplicate(or: access)
        case .none: access = AccessToken(SecretBytes(copying: []), scopes: ScopeSet())
        }
    }

    /// How long a refusal of new tokens counts for those who ask next, in seconds.
    static let sharedRefusal: Int64 = 2

    /// A key that cannot sign now costs the server nothing, and the user may unlock it at once. So that refusal is not shared.
    func note(refusalOfTokens refusal: OnlineRefusal, at clock: ClockReading) {
        if !refusal.isOfSigning { lastRefusal = (refusal, clock) }
    }

    /// The refusal of new tokens that also counts for a question now. Nil if the server must be asked.
    func recentRefusal(at clock: ClockReading) -> OnlineRefusal? {
        // The clock has whole seconds. So a refusal counts for two to three seconds, and never for less than two.
        lastRefusal.flatMap { Self.isShared($0.at, at: clock) ? $0.refusal : nil }
    }

    /// Another refusal than ``OnlineRefusal/unreachable(_:)`` can be about this narrowing only, so it counts for no other one.
    func note(_ refusal: TokenRefusal, of narrowing: TokenNarrowing, at clock: ClockReading) {
        if case .server(let refusal) = refusal, refusal.isOfSigning { return }
        narrowRefusals.removeAll { $0.narrowing == narrowing || !Self.isShared($0.at, at: clock) }
        narrowRefusals.append((narrowing, refusal, clock))
        if narrowRefusals.count > NarrowToken.maximum { narrowRefusals.removeFirst() }
    }

    /// The refusal of a token of this narrowing that also counts now. Nil if the server must be asked.
    func recentRefusal(of narrowing: TokenNarrowing, at clock: ClockReading) -> TokenRefusal? {
        narrowRefusals.first { $0.narrowing == narrowing && Self.isShared($0.at, at: clock) }?.refusal
    }

    private static func isShared(_ refused: ClockReading, at clock: ClockReading) -> Bool {
        clock.sinceBoot - refused.sinceBoot <= sharedRefusal
    }

    /// A question about its access token. Nil without a server's session.
    func question(_ inquiry: TokenInquiry) -> OnlineQuestion? {
        guard let service, session.count > 0, isOAuth else { return nil }
        let question: OnlineQuestion =
            switch inquiry {
            case .userInfo: .userInfo(session.duplicate(), of: service)
            case .introspection: .introspect(session.duplicate(), of: service, clientSecret: clientSecret.duplicate())
            }
        return question.signed(in: vault, tokenKey)
    }

    func question(_ narrowing: TokenNarrowing) -> OnlineQuestion? {
        guard let service, session.count > 0, isOAuth else { return nil }
        return .narrow(session.duplicate(), to: narrowing, of: service, clientSecret: clientSecret.duplicate()).signed(
            in: vault, tokenKey)
    }

    /// Keeps a further access token, and the refresh token that came with it. The session's own access token stays.
    func take(_ acceptance: consuming OnlineAcceptance, _ narrowing: TokenNarrowing, sent: ClockReading) {
        let expires = acceptance.lifetime.map { sent.sinceBoot + Int64($0) }
        switch acceptance.session {
        case .none: return
        case .some(let new): session = new.duplicate()
        }
        switch acceptance.access {
        case .none: return
        case .some(let new):
            narrowTokens.removeAll { $0.narrowing == narrowing }
            narrowTokens.append(NarrowToken(narrowing, new.duplicate(), expires: expires))
            if narrowTokens.count > NarrowToken.maximum { narrowTokens.removeFirst() }
        }
    }

    func deleteServerSession() {
        tokenKey?.end()
        narrowTokens = []
        session = SecretBytes(copying: [])
        access = AccessToken(SecretBytes(copying: []), scopes: ScopeSet())
    }

    /// Deletes the server's session here, and returns the question that ends it at the server.
    func takeLogout(password: consuming SecretBytes?) -> OnlineQuestion? {
        guard let service, session.count > 0 else { return nil }
        let session = session.duplicate()
        deleteServerSession()
        let question = service.within(OnlineDeadlines(connect: service.deadlines.connect, total: logout))
        switch consume password {
        case .none: return .logout(session, of: question, clientSecret: clientSecret.duplicate()).signed(in: vault, tokenKey)
        case .some(let password):
            return .logout(
                session, user: login.key.user.text, password: password, of: question,
                clientSecret: clientSecret.duplicate()
            ).signed(in: vault, tokenKey)
        }
    }

    /// The service of its login in a browser of this machine. Nil for any other, and without an ID token.
    var serviceInBrowser: OnlineService? {
        // After a login by a code for another device the server's own session is in the browser there.
        guard let service, service.isOfBrowser, !service.isByDevice, access.idToken.count > 0 else { return nil }
        return service
    }

    // MARK: - Its ticket

    /// login ‖ kept ‖ started (8) ‖ last use (8) ‖ since (8)
    func encoded() -> SecretBytes {
        let serverPart = service.map { service in
            NewSession.ServerPart(
                service: service, clientSecret: clientSecret.duplicate(), logout: logout, session: session.duplicate(),
                access: access.value.count > 0 ? access.duplicate() : nil, expires: expires, vault: vault, tokenKey: tokenKey)
        }
        var content = SecretBuffer()
        content.write(
            NewSession(
                login: login, profile: profile, mode: mode, limits: deadlines.limits, release: release,
                serverPart: serverPart, origins: origins,
                row: isRemembered ? SessionRowKey(rowKey.duplicate(), generation: rowGeneration) : nil))
        content.write(deadlines.started, deadlines.lastUse, since)
        return content.finish()
    }

    /// - Throws: For bytes that are not exactly a ticket's content.
    static func decode(
        _ bytes: Span<UInt8>, at clock: ClockReading
    ) throws(MalformedBytes) -> SessionEntry {
        var wire = WireReader(bytes)
        let kept: NewSession = try wire.read()
        let (started, lastUse, since): (Int64, Int64, Int64) = (try wire.read(), try wire.read(), try wire.read())
        try wire.end()
        let deadlines = SessionDeadlines(kept.limits, bootID: clock.bootID, started: started, lastUse: lastUse)
        return SessionEntry(kept, deadlines, since: since, at: clock)
    }
}

extension AccessToken {
    /// A copy. A refresh may bring no ID token; then that of the older token stays.
    borrowing func duplicate(or older: borrowing AccessToken) -> AccessToken {
        idToken.count > 0
            ? duplicate() : AccessToken(value.duplicate(), scopes: scopes, idToken: older.idToken.duplicate())
    }
}
