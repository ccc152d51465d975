// Sessions as frames. Format: docs/agent-protocol.md, "Sessions".

internal import OMAuth
internal import OMRecords
internal import OMSecrets

extension SecretBuffer {
    mutating func append(login: AgentLogin) {
        append(text: login.state)
        append(text: login.device)
        append(text: login.key.server)
        append(text: login.key.profile.text)
        append(text: login.key.domain.text)
        append(text: login.key.user.text)
    }

    mutating func append(profile: ProfileDigest) {
        append(profile.bytes.span)
    }

    /// The page's "kept", behind the profile.
    mutating func append(
        way: AgentSession.Way, _ limits: SessionLimits, _ asked: borrowing KeptSession.Asked?
    ) {
        append(way.rawValue)
        append(limits.survivesRestart ? 1 : 0)
        append(optional: limits.idle) { $0.append(number: $1) }
        append(optional: limits.session) { $0.append(number: $1) }
        append(limits.warningPercentage)
        switch asked {
        case .none: append(0)
        case .some(let asked):
            append(1)
            append(service: asked.service, clientSecret: asked.clientSecret)
            append(number: asked.logout)
            append(asked.session.count == 0 ? 0 : 1)
            if asked.session.count > 0 { append(counted: asked.session) }
            append(optional: asked.expires) { $0.append(number: $1) }
        }
    }

    mutating func append(session: AgentSession) {
        append(login: session.login)
        append(profile: session.profile)
        append(session.way.rawValue)
        append(session.state.rawValue)
        append(number: session.since)
        append(optional: session.idleLeft) { $0.append(number: $1) }
        append(optional: session.sessionLeft) { $0.append(number: $1) }
        for flag in [session.isWarningDue, session.hasServerSession, session.survivesRestart] { append(flag ? 1 : 0) }
    }

    mutating func append(ending: SessionEnding) {
        append(ending.wasThere ? 1 : 0)
        append(ending.wasServerAsked ? 1 : 0)
        let refusal: OnlineRefusal? = if case .endedHereOnly(let refusal) = ending { refusal } else { nil }
        append(optional: refusal) { $0.append(refusal: $1) }
    }
}

extension ByteCursor {
    mutating func login(in bytes: Span<UInt8>) throws(MalformedBytes) -> AgentLogin {
        let (state, device) = (try text(in: bytes), try text(in: bytes))
        let server = try text(in: bytes)
        let (profile, domain, user) = (try text(in: bytes), try text(in: bytes), try text(in: bytes))
        let key: LoginKey
        do throws(AuthError) {
            key = LoginKey(
                profile: try ProfileName(profile), user: try UserName(user), server: server,
                domain: try IdentityDomain(domain))
        } catch { throw MalformedBytes() }
        guard let login = AgentLogin(state: state, device: device, key: key) else { throw MalformedBytes() }
        return login
    }

    private mutating func profile(in bytes: Span<UInt8>) throws(MalformedBytes) -> ProfileDigest {
        var digest: [UInt8] = []
        for _ in 0..<ProfileDigest.count { digest.append(try byte(in: bytes)) }
        guard let profile = ProfileDigest(digest) else { throw MalformedBytes() }
        return profile
    }

    mutating func keptSession(of login: AgentLogin, in bytes: Span<UInt8>) throws(MalformedBytes) -> KeptSession {
        let profile = try profile(in: bytes)
        guard let way = AgentSession.Way(rawValue: try byte(in: bytes)) else { throw MalformedBytes() }
        let survives = try flag(in: bytes)
        let idle = try seconds(in: bytes)
        let session = try seconds(in: bytes)
        let warning = try byte(in: bytes)
        guard (1...99).contains(warning) else { throw MalformedBytes() }
        let limits = SessionLimits(
            survivesRestart: survives, idle: idle, session: session, warningPercentage: warning)
        guard try flag(in: bytes) else { return KeptSession(login, profile, way, limits, nil) }
        return KeptSession(login, profile, way, limits, try asked(in: bytes))
    }

    private mutating func asked(in bytes: Span<UInt8>) throws(MalformedBytes) -> KeptSession.Asked {
        var clientSecret = SecretBuffer()
        let service = try service(in: bytes, clientSecret: &clientSecret)
        let logout: UInt32 = try number(in: bytes)
        var session = SecretBuffer()
        if try flag(in: bytes) {
            session.append(try secret(upTo: OnlineQuestion.maximumSession, in: bytes))
            // One that is empty has another spelling.
            guard session.count > 0 else { throw MalformedBytes() }
        }
        return KeptSession.Asked(
            service: service, clientSecret: clientSecret.finish(), logout: logout, session: session.finish(),
            expires: try seconds(in: bytes))
    }

    private mutating func seconds(in bytes: Span<UInt8>) throws(MalformedBytes) -> Int64? {
        guard try flag(in: bytes) else { return nil }
        let seconds: Int64 = try number(in: bytes)
        guard (1...1 << 40).contains(seconds) else { throw MalformedBytes() }
        return seconds
    }

    private mutating func left(in bytes: Span<UInt8>) throws(MalformedBytes) -> Int64? {
        try flag(in: bytes) ? try number(Int64.self, in: bytes) : nil
    }

    mutating func session(in bytes: Span<UInt8>) throws(MalformedBytes) -> AgentSession {
        let login = try login(in: bytes)
        let profile = try profile(in: bytes)
        guard let way = AgentSession.Way(rawValue: try byte(in: bytes)),
            let state = AgentSession.State(rawValue: try byte(in: bytes))
        else { throw MalformedBytes() }
        return AgentSession(
            login: login, profile: profile, way: way, state: state, since: try number(in: bytes), idleLeft: try left(in: bytes),
            sessionLeft: try left(in: bytes), isWarningDue: try flag(in: bytes),
            hasServerSession: try flag(in: bytes), survivesRestart: try flag(in: bytes))
    }

    mutating func sessions(in bytes: Span<UInt8>) throws(MalformedBytes) -> [AgentSession] {
        try (0..<(try number(UInt16.self, in: bytes))).map { _ throws(MalformedBytes) in try session(in: bytes) }
    }

    mutating func ending(in bytes: Span<UInt8>) throws(MalformedBytes) -> SessionEnding {
        let (wasThere, wasServerAsked) = (try flag(in: bytes), try flag(in: bytes))
        let refusal = try flag(in: bytes) ? try refusal(try byte(in: bytes), in: bytes) : nil
        let ending: SessionEnding =
            switch (wasThere, refusal) {
            case (false, _): .notThere
            case (true, nil): wasServerAsked ? .endedAtServer : .endedHere
            case (true, let refusal?): .endedHereOnly(refusal)
            }
        guard ending.wasServerAsked == wasServerAsked, wasThere || refusal == nil else { throw MalformedBytes() }
        return ending
    }
}
