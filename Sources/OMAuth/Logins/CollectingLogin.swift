// A login that asks a person: the auto login first, then questions, until one succeeds or somebody declines.

internal import OMRecords
internal import OMSecrets

extension Authenticator {
    /// Logs in with what `collector` collects, and remembers afterwards what the profile allows and the user wants.
    ///
    /// An auto login is submitted at most once between two successes, and never after anything else failed: a password that
    /// went stale costs one attempt. What is refused as wrong is asked for again, with the reason; nothing is submitted
    /// twice by itself.
    ///
    /// - Parameters:
    ///   - mode: nil: as the profile says.
    ///   - key: Opens and keeps a remembered password; nil: its level is locked, so there is none.
    ///   - preferences: What is to be remembered from now on, however the login comes about; nil: as it was, or as answered.
    ///   - submitsAutoLogin: false: somebody named another user or password, so that the remembered one is not meant.
    /// - Throws: ``AuthError/cancelled`` when the person declines; ``AuthError/tooManyAttempts(last:)`` after as many wrong
    ///   answers as `MaxLoginAttempts` says, or three where neither profile nor server says it; what ends a login for good.
    public func login(
        _ profile: Profile, mode: ConnectivityMode? = nil, collecting collector: any CredentialCollector,
        asking provider: (any Provider)?, remembering key: RememberingKey? = nil,
        preferring preferences: RememberPreferences? = nil, submitsAutoLogin: Bool = true,
        cancellation: Cancellation = Cancellation()
    ) throws(AuthError) -> LoginReceipt {
        var refusal: AuthError?
        // Before the auto login is taken: one that nobody waits for would be spent on nothing.
        try cancellation.check()
        // If this fails, withdrawn data is still not offered: `remembered` leaves it out.
        _ = try? forgetWithdrawn(profile)
        if submitsAutoLogin, let key,
            let auto = try unlessLost({ () throws(AuthError) in try takeAutoLogin(profile, key: key) })
        {
            let request = LoginRequest(auto.user, profile, domain: auto.domain, mode: mode)
            do throws(AuthError) {
                let receipt = try login(
                    request, password: auto.password, asking: provider, collector: collector,
                    cancellation: cancellation)
                // What cannot be remembered anew takes no login away.
                try? remember(receipt, profile, password: auto.password, preferences, key: key)
                return receipt
            } catch {
                guard error.isAboutPassword else {
                    // The password went nowhere: it may be submitted again.
                    if error.isBeforePassword { try? rearm(profile) }
                    throw error
                }
                refusal = error
            }
        }
        var wrongAnswers = 0
        while true {
            // Called off after a verdict: that is what whoever keeps a session has to know.
            if cancellation.isCancelled { throw refusal ?? .cancelled }
            let known = try unlessLost { () throws(AuthError) in try remembered(profile) }
            // One that was sealed under another vault's key is not offered: it would not open.
            let isUsable = try key.flatMap { key throws(AuthError) in
                try unlessLost { () throws(AuthError) in try canOpenRemembered(profile, key: key) }
            } ?? false
            let question = CredentialQuestion(
                profile: profile.name, user: known?.user, domain: known?.domain ?? .none,
                asksDomain: profile.collectIdentityDomain, hasRememberedPassword: isUsable,
                remember: profile.remember, preferences: known?.preferences ?? RememberPreferences(), refusal: refusal)
            guard let answer = collector.credentials(question) else { throw .cancelled }
            let (user, domain, answered) = (answer.user, answer.domain, answer.preferences)
            guard let password = try password(answer, profile, key) else {
                // Told once. A collector that goes on answering so would never end.
                guard refusal != .noCredential else { throw .noCredential }
                refusal = .noCredential
                continue
            }
            do throws(AuthError) {
                let receipt = try login(
                    LoginRequest(user, profile, domain: domain, mode: mode), password: password, asking: provider,
                    collector: collector, cancellation: cancellation)
                try? remember(receipt, profile, password: password, answered ?? preferences, key: key)
                return receipt
            } catch {
                guard error.isAboutPassword || error.isDelay else { throw error }
                refusal = error
                guard error.isAboutPassword else { continue }
                // Attack: a form with a stuck answer, or a passer-by, has the server lock the account.
                wrongAnswers += 1
                guard wrongAnswers < mostAnswers(of: user, profile, domain) else { throw .tooManyAttempts(last: error) }
            }
        }
    }

    /// How many wrong answers one login takes. The SDK's default of 1 is for the offline limit, where nobody named another: a
    /// person who mistypes once is asked again.
    private func mostAnswers(of user: UserName, _ profile: Profile, _ domain: IdentityDomain) -> Int {
        let policy = (try? policy(of: user, profile, domain: domain)) ?? LoginPolicy(profile)
        return policy.sources[.maxLoginAttempts] == .standard ? 3 : policy.maxLoginAttempts
    }

    /// - Returns: nil when the remembered password was meant and there is none any more, or it is of another user.
    private func password(
        _ answer: consuming CredentialAnswer, _ profile: Profile, _ key: RememberingKey?
    ) throws(AuthError) -> Password? {
        let (user, domain) = (answer.user, answer.domain)
        switch answer.takeSecret() {
        case .typed(let password): return password
        case .remembered:
            // Attack: have one user's remembered password submitted under another's name.
            return try unlessLost { () throws(AuthError) in
                guard let key, let known = try remembered(profile), known.user == user, known.domain == domain else {
                    return nil
                }
                return try rememberedPassword(profile, key: key)
            }
        }
    }

    /// What cannot be read remembers nothing, and keeps nobody from asking the server: its yes is the way out of that.
    private func unlessLost<R: ~Copyable>(_ body: () throws(AuthError) -> R?) throws(AuthError) -> R? {
        do throws(AuthError) { return try body() } catch {
            switch error {
            case .quarantined, .deviceKeyMissing, .deviceKeyDamaged: return nil
            default: throw error
            }
        }
    }
}

extension CredentialAnswer {
    fileprivate consuming func takeSecret() -> Secret { secret }
}

extension OnlineRefusal {
    /// Whether the connection never stood.
    fileprivate var isBeforeRequest: Bool {
        switch self {
        case .unreachable(.nameNotFound), .unreachable(.refused), .unreachable(.noRoute), .unreachable(.noHelper),
            .untrusted:
            true
        default: false
        }
    }
}

extension AuthError {
    /// Whether another answer may do better: the SDK's recoverable errors that a person can do something about.
    fileprivate var isAboutPassword: Bool {
        switch self {
        case .wrongPassword, .online(.rejected): true
        default: false
        }
    }

    /// Whether nobody was sent the password, and nothing was charged for it. Attack: a server that counts what it gets and
    /// answers nonsense, or late; every start of a program would be a guess there.
    fileprivate var isBeforePassword: Bool {
        switch self {
        case .online(let refusal): refusal.isBeforeRequest
        case .neither(let refusal, let offline): refusal.isBeforeRequest && offline.isBeforePassword
        // Where a charge led to the lock-out, the password is forgotten by now.
        case .busy, .delayed, .noCredential, .expired, .wiped, .lockedOut, .offlineNotAllowed, .noServer, .rolledBack,
            .clockRolledBack, .quarantined:
            true
        default: false
        }
    }

    /// Whether the same answer may do later.
    fileprivate var isDelay: Bool {
        if case .delayed = self { true } else { false }
    }
}
