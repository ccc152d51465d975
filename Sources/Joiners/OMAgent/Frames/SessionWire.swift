// Sessions as frames. Format: docs/formats/agent-protocol.md, "Sessions".

internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets

extension AgentSession.Mode: WireValue {}
extension AgentSession.State: WireValue {}

/// state ‖ device ‖ server ‖ profile ‖ domain ‖ user
extension LoginReference: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(state, device, key.server, key.profile.text, key.domain.text, key.user.text)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (state, device, server): (String, String, String) = (try wire.read(), try wire.read(), try wire.read())
        let (profile, domain, user): (String, String, String) = (try wire.read(), try wire.read(), try wire.read())
        let key: LoginKey
        do throws(AuthError) {
            key = LoginKey(
                profile: try ProfileName(profile), user: try UserName(user), server: server,
                domain: try IdentityDomain(domain))
        } catch { throw MalformedBytes() }
        guard let login = LoginReference(state: state, device: device, key: key) else { throw MalformedBytes() }
        self = login
    }
}

extension ProfileDigest: WireValue {
    func write(to body: inout SecretBuffer) { body.append(bytes.span) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let digest = ProfileDigest(try wire.bytes(ProfileDigest.count)) else { throw MalformedBytes() }
        self = digest
    }
}

/// survives a restart ‖ optional idle (8) ‖ optional session (8) ‖ warning (1)
extension SessionLimits: WireValue {
    func write(to body: inout SecretBuffer) { body.write(survivesRestart, idle, session, warningPercentage) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(
            survivesRestart: try wire.read(), idle: try wire.seconds(), session: try wire.seconds(),
            warningPercentage: try wire.read())
        guard (1...99).contains(warningPercentage) else { throw MalformedBytes() }
    }
}

/// login ‖ profile ‖ mode ‖ limits ‖ release ‖ optional server ‖ origins ‖ optional row
extension NewSession: WireValue {
    borrowing func write(to body: inout SecretBuffer) {
        body.write(login, profile, mode, limits, release)
        body.write(serverPart)
        body.write(shortList: origins)
        body.write(row)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (login, profile): (LoginReference, ProfileDigest) = (try wire.read(), try wire.read())
        let (mode, limits): (AgentSession.Mode, SessionLimits) = (try wire.read(), try wire.read())
        let release: TokenRelease = try wire.read()
        let serverPart: ServerPart? = try wire.read()
        let origins: [String] = try wire.shortList(upTo: NewSession.mostOrigins)
        let hasRow: Bool = try wire.read()
        let row = hasRow ? try SessionRowKey(from: &wire) : nil
        // Only a session of a server has tokens to remember.
        let hasSession =
            switch serverPart {
            case .none: false
            case .some(let part): part.session.count > 0
            }
        guard hasSession || !hasRow else { throw MalformedBytes() }
        self.init(
            login: login, profile: profile, mode: mode, limits: limits, release: release, serverPart: serverPart,
            origins: origins, row: row)
    }
}

/// key, a secret of 32 bytes ‖ generation (8)
extension SessionRowKey: WireValue {
    borrowing func write(to body: inout SecretBuffer) {
        body.write(bytes)
        body.write(generation)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let bytes = try wire.secret(upTo: Key<Sealing>.count)
        let generation: UInt64 = try wire.read()
        guard bytes.count == Key<Sealing>.count, (1...UInt64(Int64.max)).contains(generation) else { throw MalformedBytes() }
        self.init(bytes, generation: generation)
    }
}

/// service ‖ logout (4) ‖ optional session ‖ optional access token ‖ optional end (8) ‖ optional vault ‖ optional key of tokens
extension NewSession.ServerPart: WireValue {
    borrowing func write(to body: inout SecretBuffer) {
        body.write(service, clientSecret: clientSecret)
        body.write(logout, session.count > 0)
        if session.count > 0 { body.write(session) }
        body.write(access)
        body.write(expires, vault)
        body.write(tokenKey != nil)
        if let tokenKey { body.write(tokenKey.sealable) }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let serverPart = try DecodedService(from: &wire)
        let logout: UInt32 = try wire.read()
        let hasSession: Bool = try wire.read()
        let session = hasSession ? try wire.secret(upTo: OnlineQuestion.maximumSession) : SecretBytes(copying: [])
        // An empty session is written as none.
        guard hasSession == (session.count > 0) else { throw MalformedBytes() }
        let hasAccess: Bool = try wire.read()
        let access = hasAccess ? try AccessToken(from: &wire) : nil
        // Only a session of OAuth has such a token.
        let isOAuth = if case .oauth = serverPart.service.kind { true } else { false }
        guard !hasAccess || hasSession && isOAuth else { throw MalformedBytes() }
        let (expires, vault): (Int64?, VaultPaths?) = (try wire.seconds(), try wire.read())
        var tokenKey: TokenKey?
        if try wire.read(Bool.self) {
            let bytes = try wire.secret(upTo: TokenKey.longest)
            guard let key = TokenKey.read(bytes) else { throw MalformedBytes() }
            tokenKey = key
        }
        // Without the key bound tokens are of no use. A login without tokens may have none.
        let needsKey = serverPart.service.isBoundToKey
        guard needsKey == (tokenKey != nil) || needsKey && !hasSession else { throw MalformedBytes() }
        self.init(
            service: serverPart.service, clientSecret: serverPart.clientSecret, logout: logout, session: session,
            access: access, expires: expires, vault: vault, tokenKey: tokenKey)
    }
}

extension AgentSession: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(login, profile, mode, state, since, idleLeft, sessionLeft, isWarningDue, hasServerSession, survivesRestart)
        body.write(token, release, isRemembered)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(
            login: try wire.read(), profile: try wire.read(), mode: try wire.read(), state: try wire.read(),
            since: try wire.read(), idleLeft: try wire.read(), sessionLeft: try wire.read(), isWarningDue: try wire.read(),
            hasServerSession: try wire.read(), survivesRestart: try wire.read(), token: try wire.read(),
            release: try wire.read(), isRemembered: try wire.read())
    }
}

/// 0 not there, 1 ended, 2 overtaken ‖ server asked ‖ optional refusal
extension SessionEnding: WireValue {
    func write(to body: inout SecretBuffer) {
        let refusal: OnlineRefusal? = if case .endedHereOnly(let refusal) = self { refusal } else { nil }
        let code: UInt8 = !wasThere ? 0 : self == .overtaken ? 2 : 1
        body.write(code, wasServerAsked, refusal)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (code, wasServerAsked): (UInt8, Bool) = (try wire.read(), try wire.read())
        let refusal: OnlineRefusal? = try wire.read()
        switch (code, refusal) {
        case (0, nil): self = .notThere
        case (1, nil): self = wasServerAsked ? .endedAtServer : .endedHere
        case (1, let refusal?): self = .endedHereOnly(refusal)
        case (2, nil): self = .overtaken
        default: throw MalformedBytes()
        }
        guard self.wasServerAsked == wasServerAsked else { throw MalformedBytes() }
    }
}

extension WireReader {
    @_lifetime(self: copy self)
    mutating func seconds() throws(MalformedBytes) -> Int64? {
        let seconds: Int64? = try read()
        guard (1...1 << 40).contains(seconds ?? 1) else { throw MalformedBytes() }
        return seconds
    }
}
