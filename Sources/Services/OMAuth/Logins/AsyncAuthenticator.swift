// The calls of an authenticator for tasks. Each blocking call runs on its own thread, and the task awaits it.
//
// A password that is lent to such a call is copied for its thread. The copy is wiped when the call ends.

public import OMSecrets
internal import OMSystem

extension Authenticator {
    // MARK: - Logging in

    /// Logs in, online or offline. The request's mode and the policy decide which.
    ///
    ///     let receipt = try await authenticator.login(request, password: password, asking: provider)
    ///
    /// Cancelling the task ends the login with ``AuthError/cancelled``, also while it asks the server or the prompter
    /// or waits for a lock. After the charge of an attempt, or after the server has decided, the login runs to its end
    /// and returns its verdict.
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

    /// Logs in with the input from `prompter`. Afterwards it remembers what the profile allows and the user wants.
    ///
    ///     let receipt = try await authenticator.login(profile, prompting: form, asking: provider)
    ///
    /// The blocking form has the details. Cancelling works as for a single login.
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

    /// Checks `password` without a server. Cancelling ends the check until the attempt is charged.
    public func check(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password
    ) async throws(AuthError) -> VerifiedLogin {
        let password = password.duplicate()
        return try await awaited { (logins, _) throws(AuthError) in
            try logins.check(user, profile, domain: domain, password: password)
        }
    }

    // MARK: - Calls that delete something

    // These run to their end even if their task is cancelled: a window that closes cancels the very task that logs out.

    /// Removes the credential of `user`. Cancelling does not end it.
    public func remove(
        _ user: UserName, _ profile: ProfileName, domain: IdentityDomain = .none, server: String = ""
    ) async throws(AuthError) -> Removal {
        try await carriedThrough { (logins) throws(AuthError) in
            try logins.remove(user, profile, domain: domain, server: server)
        }
    }

    /// Deletes the data here that the end of a session clears. Cancelling does not end it.
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

    /// Makes the credential of `user`, whether there is one or not. Cancelling does not end it, because the old one is
    /// removed first.
    public func enrollReplacingWithoutOldPassword(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password
    ) async throws(AuthError) -> VerifiedLogin {
        let password = password.duplicate()
        return try await carriedThrough { (logins) throws(AuthError) in
            try logins.enrollReplacingWithoutOldPassword(user, profile, domain: domain, password: password)
        }
    }

    /// Remembers what the profile allows and the user wants, after a success, and deletes the rest. Cancelling does not end it.
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

    // MARK: - All other calls

    /// Awaits any other call of this authenticator. `body` runs on its own thread.
    ///
    ///     let status = try await logins.awaiting { logins throws(AuthError) in try logins.status(user, profile) }
    ///
    /// Cancelling the task ends the call before it begins, and while it waits for a lock. So do not use it for a call
    /// that deletes something: those have awaited forms of their own above.
    ///
    /// - Throws: What `body` throws; ``AuthError/cancelled``.
    public func awaiting<R: ~Copyable & Sendable>(
        _ body: @escaping @Sendable (Authenticator) throws(AuthError) -> R
    ) async throws(AuthError) -> R {
        try await awaited { (logins, _) throws(AuthError) in try body(logins) }
    }

    /// The same for a call with a password. `body` gets a copy.
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

    /// If the task is cancelled before `body` begins, `body` does not run.
    func awaited<R: ~Copyable & Sendable>(
        _ body: @escaping @Sendable (Authenticator, Cancellation) throws(AuthError) -> R
    ) async throws(AuthError) -> R {
        let cancellation = Cancellation(), logins = cancelled(cancellation)
        return try await OwnThread.run({ () throws(AuthError) in
            try cancellation.check()
            return try body(logins, cancellation)
        }) { cancellation.cancel() }
    }
}
