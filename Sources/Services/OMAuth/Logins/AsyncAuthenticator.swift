// The calls of an authenticator for tasks: each blocking call runs on a thread of its own, and is awaited.
//
// A password that is lent to such a call is copied for that thread. The copy is wiped when the call ends.

public import OMSecrets
internal import OMSystem

extension Authenticator {
    // MARK: - Logging in

    /// Logs in, online or offline, as the request's mode and the policy say.
    ///
    ///     let receipt = try await authenticator.login(request, password: password, asking: provider)
    ///
    /// Cancelling the task ends it with ``AuthError/cancelled``, also while the server or the prompter is asked or a lock
    /// is waited for. From the charge of an attempt, or from the server's yes, it is carried through, and its verdict is
    /// returned.
    public func login(
        _ request: LoginRequest, password: borrowing Password, asking provider: (any Provider)?,
        prompter: (any AsyncLoginPrompter)? = nil
    ) async throws(AuthError) -> LoginReceipt {
        let password = password.duplicate()
        return try await awaited { (logins, cancellation) throws(AuthError) in
            try logins.login(
                request, password: password, asking: provider,
                prompter: prompter.map { BlockingPrompter($0, cancellation) }, cancellation: cancellation)
        }
    }

    /// Logs in with what `prompter` collects, and remembers afterwards what the profile allows and the user wants.
    ///
    ///     let receipt = try await authenticator.login(profile, prompting: form, asking: provider)
    ///
    /// The blocking form says how; cancelling is as with a single login.
    public func login(
        _ profile: Profile, mode: ConnectivityMode? = nil, prompting prompter: any AsyncLoginPrompter,
        asking provider: (any Provider)?, remembering key: RememberingKey? = nil,
        preferring preferences: RememberPreferences? = nil, submitsAutoLogin: Bool = true
    ) async throws(AuthError) -> LoginReceipt {
        try await awaited { (logins, cancellation) throws(AuthError) in
            try logins.login(
                profile, mode: mode, prompting: BlockingPrompter(prompter, cancellation), asking: provider,
                remembering: key, preferring: preferences, submitsAutoLogin: submitsAutoLogin,
                cancellation: cancellation)
        }
    }

    /// Checks `password` without a server. Cancelling ends it until the attempt is charged.
    public func check(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password
    ) async throws(AuthError) -> VerifiedLogin {
        let password = password.duplicate()
        return try await awaited { (logins, _) throws(AuthError) in
            try logins.check(user, profile, domain: domain, password: password)
        }
    }

    // MARK: - Taking something away

    // These are carried through when their task is cancelled: a window that closes cancels the very task that logs out.

    /// Removes the credential of `user`. Cancelling does not end it.
    public func remove(
        _ user: UserName, _ profile: ProfileName, domain: IdentityDomain = .none, server: String = ""
    ) async throws(AuthError) -> Removal {
        try await carriedThrough { (logins) throws(AuthError) in
            try logins.remove(user, profile, domain: domain, server: server)
        }
    }

    /// Carries out what the end of a session takes away of what is stored here. Cancelling does not end it.
    @discardableResult
    public func end(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, after event: ClearingEvent
    ) async throws(AuthError) -> Clearing {
        try await end(LoginKey(user, profile, domain), after: event)
    }

    /// The same for a caller that kept the session and has no profile.
    @discardableResult
    public func end(_ key: LoginKey, after event: ClearingEvent) async throws(AuthError) -> Clearing {
        try await carriedThrough { (logins) throws(AuthError) in try logins.end(key, after: event) }
    }

    /// Makes the credential of `user`, whatever credential there is. Cancelling does not end it: the old one goes first.
    public func enrollReplacingWithoutOldPassword(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password
    ) async throws(AuthError) -> VerifiedLogin {
        let password = password.duplicate()
        return try await carriedThrough { (logins) throws(AuthError) in
            try logins.enrollReplacingWithoutOldPassword(user, profile, domain: domain, password: password)
        }
    }

    /// Remembers what the profile allows and the user wants, after a success, and forgets the rest. Cancelling does not end
    /// it.
    public func remember(
        _ receipt: borrowing LoginReceipt, _ profile: Profile, password: borrowing Password,
        _ preferences: RememberPreferences? = nil, key: RememberingKey?
    ) async throws(AuthError) {
        let login = receipt.details, password = password.duplicate()
        try await carriedThrough { (logins) throws(AuthError) in
            try logins.remember(login, profile, password: password, preferring: preferences, key: key)
        }
    }

    private func carriedThrough<R: ~Copyable & Sendable>(
        _ body: @escaping @Sendable (Authenticator) throws(AuthError) -> R
    ) async throws(AuthError) -> R {
        try await OwnThread.run { () throws(AuthError) in try body(self) }
    }

    // MARK: - Everything else

    /// Awaits any other call of this authenticator: `body` runs on a thread of its own.
    ///
    ///     let status = try await logins.awaiting { logins throws(AuthError) in try logins.status(user, profile) }
    ///
    /// Cancelling the task ends the call before it begins, and while it waits for a lock. So use it for no call that takes
    /// something away: those have awaited forms of their own above.
    ///
    /// - Throws: what `body` throws; ``AuthError/cancelled``.
    public func awaiting<R: ~Copyable & Sendable>(
        _ body: @escaping @Sendable (Authenticator) throws(AuthError) -> R
    ) async throws(AuthError) -> R {
        try await awaited { (logins, _) throws(AuthError) in try body(logins) }
    }

    /// The same for a call with a password: `body` gets a copy.
    ///
    ///     let login = try await logins.awaiting(lending: password) { logins, password throws(AuthError) in
    ///         try logins.enroll(user, profile, password: password)
    ///     }
    public func awaiting<R: ~Copyable & Sendable>(
        lending password: borrowing Password,
        _ body: @escaping @Sendable (Authenticator, borrowing Password) throws(AuthError) -> R
    ) async throws(AuthError) -> R {
        let password = password.duplicate()
        return try await awaiting { (logins) throws(AuthError) in try body(logins, password) }
    }

    /// Cancelled before it begins, it does nothing.
    private func awaited<R: ~Copyable & Sendable>(
        _ body: @escaping @Sendable (Authenticator, Cancellation) throws(AuthError) -> R
    ) async throws(AuthError) -> R {
        let cancellation = Cancellation(), logins = cancelled(cancellation)
        return try await OwnThread.run({ () throws(AuthError) in
            try cancellation.check()
            return try body(logins, cancellation)
        }) { cancellation.cancel() }
    }
}
