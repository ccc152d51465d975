// A login that asks a person: the auto login first, then questions. It ends when an answer succeeds, the person
// declines, or too many answers have failed.

internal import OMOnlineModel
internal import OMSecrets

extension Authenticator {
    /// Logs in with the input from `prompter`. Afterwards it remembers what the profile allows and the user wants.
    ///
    /// An auto login is submitted at most once between two successes, and never after another attempt failed. So a
    /// remembered password that is no longer right costs one attempt. After a wrong password the prompter is asked
    /// again, with the reason. No password is submitted twice without an answer.
    ///
    /// A refused auto login counts as the first wrong answer: the server counts it too, and N should stop the login
    /// before the server locks the account. If an answer comes during a delay, the next question says how long to wait.
    /// The third such answer ends the login.
    ///
    /// - Parameters:
    ///   - mode: If nil, the profile's mode.
    ///   - key: Opens and seals a remembered password. If nil, its level is locked, so there is no password.
    ///   - preferences: What to remember from now on. If nil, as before, or as the answer says.
    ///   - submitsAutoLogin: False if the caller named another user or password than the remembered one.
    /// - Throws: ``AuthError/cancelled`` if the person declines; ``AuthError/tooManyAttempts(last:)`` after as many
    ///   wrong answers as `MaxLoginAttempts` allows, or three if neither profile nor server sets it;
    ///   ``AuthError/delayed(seconds:)`` after three answers during a delay; every error that no other answer can change.
    public func login(
        _ profile: Profile, mode: ConnectivityMode? = nil, prompting prompter: any LoginPrompter,
        asking provider: (any Provider)?, remembering key: RememberingKey? = nil,
        preferring preferences: RememberPreferences? = nil, submitsAutoLogin: Bool = true,
        cancellation: Cancellation = Cancellation()
    ) throws(AuthError) -> LoginReceipt {
        try keepingLedger().collect(
            profile, mode: mode, prompter, asking: provider, remembering: key, preferring: preferences,
            submitsAutoLogin: submitsAutoLogin, cancellation)
    }

    private func collect(
        _ profile: Profile, mode: ConnectivityMode?, _ prompter: any LoginPrompter,
        asking provider: (any Provider)?, remembering key: RememberingKey?, preferring preferences: RememberPreferences?,
        submitsAutoLogin: Bool, _ cancellation: Cancellation
    ) throws(AuthError) -> LoginReceipt {
        var refusal: AuthError?
        var failed = FailedAnswers()
        // Before the auto login is taken: a cancelled login would use it up for nothing.
        try cancellation.check()
        // If this fails, withdrawn data is still not offered, because `remembered` leaves it out.
        _ = try? deleteDisallowed(profile)
        if submitsAutoLogin, let key,
            let auto = try unlessLost({ () throws(AuthError) in try takeAutoLogin(profile, key: key) })
        {
            let request = LoginRequest(auto.user, profile, domain: auto.domain, mode: mode)
            do throws(AuthError) {
                let receipt = try login(
                    request, password: auto.password, asking: provider, prompter: prompter,
                    cancellation: cancellation)
                // The login counts even if its password cannot be remembered.
                try? remember(receipt, profile, password: auto.password, preferences, key: key)
                return receipt
            } catch {
                guard error.isAboutPassword else {
                    // The password was not sent, so the auto login may be submitted again.
                    if error.isBeforePassword { try? rearm(profile) }
                    throw error
                }
                try failed.add(error, most: mostAnswers(of: auto.user, profile, auto.domain))
                refusal = error
            }
        }
        while true {
            // Cancelled after a verdict: the caller must learn the verdict, because it may end a session.
            if cancellation.isCancelled { throw refusal ?? .cancelled }
            let known = try unlessLost { () throws(AuthError) in try remembered(profile) }
            // A password that was sealed under another vault's key is not offered: it would not open.
            let isUsable =
                try key.flatMap { key throws(AuthError) in
                    try unlessLost { () throws(AuthError) in try canOpenRemembered(profile, key: key) }
                } ?? false
            let question = LoginPrompt(
                profile: profile.name, user: known?.user, domain: known?.domain ?? .none,
                asksDomain: profile.collectIdentityDomain, hasRememberedPassword: isUsable,
                remember: profile.remember, preferences: known?.preferences ?? RememberPreferences(), refusal: refusal)
            guard let answer = prompter.input(for: question) else { throw .cancelled }
            let (user, domain, answered) = (answer.user, answer.domain, answer.preferences)
            guard let password = try password(answer, profile, key) else {
                // The prompter is asked again only once. With the same answer every time, the login would never end.
                guard refusal != .noCredential else { throw .noCredential }
                refusal = .noCredential
                continue
            }
            do throws(AuthError) {
                let receipt = try login(
                    LoginRequest(user, profile, domain: domain, mode: mode), password: password, asking: provider,
                    prompter: prompter, cancellation: cancellation)
                try? remember(receipt, profile, password: password, answered ?? preferences, key: key)
                return receipt
            } catch {
                try failed.add(error, most: mostAnswers(of: user, profile, domain))
                refusal = error
            }
        }
    }

    /// How many wrong answers one login takes. The SDK's default of 1 is for the offline limit only: a person who
    /// mistypes once is asked again.
    private func mostAnswers(of user: UserName, _ profile: Profile, _ domain: IdentityDomain) -> Int {
        let policy = (try? policy(of: user, profile, domain: domain)) ?? LoginPolicy(profile)
        return policy.sources[.maxLoginAttempts] == .standard ? 3 : policy.maxLoginAttempts
    }

    /// - Returns: nil if the answer names the remembered password, but there is none or it belongs to another user.
    private func password(
        _ answer: consuming LoginInput, _ profile: Profile, _ key: RememberingKey?
    ) throws(AuthError) -> Password? {
        let (user, domain) = (answer.user, answer.domain)
        switch answer.takeSecret() {
        case .typed(let password): return password
        case .remembered:
            // Attack: an attacker submits one user's remembered password under another user's name. The names must match.
            return try unlessLost { () throws(AuthError) in
                guard let key, let known = try remembered(profile), known.user == user, known.domain == domain else {
                    return nil
                }
                return try rememberedPassword(profile, key: key)
            }
        }
    }

    /// An unreadable ledger counts as one that remembers nothing. The server is still asked, and its yes replaces the ledger.
    private func unlessLost<R: ~Copyable>(_ body: () throws(AuthError) -> R?) throws(AuthError) -> R? {
        do throws(AuthError) { return try body() } catch {
            switch error {
            case .quarantined, .deviceKeyMissing, .deviceKeyDamaged: return nil
            default: throw error
            }
        }
    }
}

/// The failed answers of one login, by kind. Each kind has a limit, so a login ends whatever its prompter answers.
private struct FailedAnswers {
    private static let mostEarly = 3
    private var (wrong, early) = (0, 0)

    /// - Parameter most: How many wrong answers the login takes.
    /// - Throws: `error`, unless another answer may succeed. If too many were wrong,
    ///   ``AuthError/tooManyAttempts(last:)``.
    mutating func add(_ error: AuthError, most: @autoclosure () -> Int) throws(AuthError) {
        if error.isAboutPassword {
            // Attack: a passer-by, or a form with a stuck answer, makes the server lock the account. The limit ends the
            // login first.
            wrong += 1
            guard wrong < most() else { throw .tooManyAttempts(last: error) }
        } else {
            // Attack: a form that answers at once uses a processor and the stretch's memory until the delay has passed.
            // The third such answer ends the login.
            early += 1
            guard error.isDelay, early < Self.mostEarly else { throw error }
        }
    }
}

extension LoginInput {
    fileprivate consuming func takeSecret() -> Secret { secret }
}

extension OnlineRefusal {
    /// Whether no connection was established, so that the server received nothing.
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
    /// Whether the password was wrong, so that another one may succeed.
    fileprivate var isAboutPassword: Bool {
        switch self {
        case .wrongPassword, .online(.rejected): true
        default: false
        }
    }

    /// Whether no server received the password, and no attempt was charged for it. Attack: a server counts the
    /// passwords that it receives, but answers late or with an invalid answer. Each start of a program would be one
    /// more guess there.
    fileprivate var isBeforePassword: Bool {
        switch self {
        case .online(let refusal): refusal.isBeforeRequest
        case .neither(let refusal, let offline): refusal.isBeforeRequest && offline.isBeforePassword
        // If this attempt was charged and locked the login, the password is already deleted.
        case .busy, .delayed, .noCredential, .expired, .wiped, .lockedOut, .offlineNotAllowed, .noServer, .rolledBack,
            .clockRolledBack, .quarantined:
            true
        default: false
        }
    }

    /// Whether the same answer may succeed later.
    fileprivate var isDelay: Bool {
        if case .delayed = self { true } else { false }
    }
}
