// Every call of an authenticator for those who await it: the blocking one of the same name, on a thread of its own.
//
// A password that is lent to such a call is copied for that thread, and the copy wiped when the call ends.

public import OMRecords
public import OMSecrets
internal import OMStorage

extension Authenticator {
    // MARK: - Logging in

    /// Logs in, online or offline, as the request's mode and the policy say.
    ///
    ///     let receipt = try await authenticator.login(request, password: password, asking: provider)
    ///
    /// Cancelling the task ends it with ``AuthError/cancelled``, also while the server or the collector is asked or a lock
    /// is waited for. From the charge of an attempt, or from the server's yes, it is carried through, and its verdict is
    /// returned.
    public func login(
        _ request: LoginRequest, password: borrowing Password, asking provider: (any Provider)?,
        collector: (any AsyncCredentialCollector)? = nil
    ) async throws(AuthError) -> LoginReceipt {
        let password = password.duplicate()
        return try await awaited { (logins, cancellation) throws(AuthError) in
            try logins.login(
                request, password: password, asking: provider,
                collector: collector.map { WaitingCollector($0, cancellation) }, cancellation: cancellation)
        }
    }

    /// Logs in with what `collector` collects, and remembers afterwards what the profile allows and the user wants.
    ///
    ///     let receipt = try await authenticator.login(profile, collecting: form, asking: provider)
    ///
    /// The blocking form says how; cancelling is as with a single login.
    public func login(
        _ profile: Profile, mode: ConnectivityMode? = nil, collecting collector: any AsyncCredentialCollector,
        asking provider: (any Provider)?, remembering key: RememberingKey? = nil,
        preferring preferences: RememberPreferences? = nil, submitsAutoLogin: Bool = true
    ) async throws(AuthError) -> LoginReceipt {
        try await awaited { (logins, cancellation) throws(AuthError) in
            try logins.login(
                profile, mode: mode, collecting: WaitingCollector(collector, cancellation), asking: provider,
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

    // MARK: - Credentials

    /// Makes the cached credential of `user`. Cancelling ends it until the credential is stored.
    public func enroll(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password
    ) async throws(AuthError) -> VerifiedLogin {
        let password = password.duplicate()
        return try await awaited { (logins, _) throws(AuthError) in
            try logins.enroll(user, profile, domain: domain, password: password)
        }
    }

    /// Replaces a living credential. Cancelling ends it until the new one is stored; a check of the old password that was
    /// charged is settled.
    public func enroll(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password,
        oldPassword: borrowing Password
    ) async throws(AuthError) -> VerifiedLogin {
        let password = password.duplicate(), oldPassword = oldPassword.duplicate()
        return try await awaited { (logins, _) throws(AuthError) in
            try logins.enroll(user, profile, domain: domain, password: password, oldPassword: oldPassword)
        }
    }

    /// Changes the password of `user`, where no server answers for it. Cancelling is as with
    /// ``enroll(_:_:domain:password:oldPassword:)``.
    public func changePassword(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, from old: borrowing Password,
        to new: borrowing Password
    ) async throws(AuthError) -> VerifiedLogin {
        let old = old.duplicate(), new = new.duplicate()
        return try await awaited { (logins, _) throws(AuthError) in
            try logins.changePassword(user, profile, domain: domain, from: old, to: new)
        }
    }

    /// Makes the credential of `user` whatever there is of one. Not to be cancelled: the old one goes first.
    public func enrollReplacingWithoutOldPassword(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password
    ) async throws(AuthError) -> VerifiedLogin {
        let password = password.duplicate()
        return try await carriedThrough { (logins) throws(AuthError) in
            try logins.enrollReplacingWithoutOldPassword(user, profile, domain: domain, password: password)
        }
    }

    // MARK: - Taking away

    /// Removes the credential of `user`. Not to be cancelled.
    public func remove(
        _ user: UserName, _ profile: ProfileName, domain: IdentityDomain = .none, server: String = ""
    ) async throws(AuthError) -> Removal {
        try await carriedThrough { (logins) throws(AuthError) in
            try logins.remove(user, profile, domain: domain, server: server)
        }
    }

    /// Carries out what the end of a session takes away of what is stored here. Not to be cancelled: a logout counts also
    /// where the window that asked for it is closed by then.
    @discardableResult
    public func end(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, after event: ClearingEvent
    ) async throws(AuthError) -> Clearing {
        try await end(LoginKey(user, profile, domain), after: event)
    }

    /// The same for whoever kept the session and knows no profile.
    @discardableResult
    public func end(_ key: LoginKey, after event: ClearingEvent) async throws(AuthError) -> Clearing {
        try await carriedThrough { (logins) throws(AuthError) in try logins.end(key, after: event) }
    }

    // MARK: - Asking

    /// The login of one user, also when its row is gone and only its mark tells of it.
    public func status(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none
    ) async throws(AuthError) -> LoginStatus {
        try await awaited { (logins, _) throws(AuthError) in try logins.status(user, profile, domain: domain) }
    }

    /// Every login of the ledger, by profile and user.
    public func status(_ profiles: [Profile]) async throws(AuthError) -> [LoginStatus] {
        try await awaited { (logins, _) throws(AuthError) in try logins.status(profiles) }
    }

    /// Where the ledgers are that could not be read and were set aside: nothing takes anything away from these.
    public func ledgersSetAside() async throws(AuthError) -> [String] {
        try await awaited { (logins, _) throws(AuthError) in try logins.ledgersSetAside() }
    }

    /// The policy in force for a login: with what its server said last, which is kept in the login's row.
    public func policy(
        of user: UserName, _ profile: Profile, domain: IdentityDomain = .none
    ) async throws(AuthError) -> LoginPolicy {
        try await awaited { (logins, _) throws(AuthError) in try logins.policy(of: user, profile, domain: domain) }
    }

    /// The highest epoch of a policy of the profile's server; nil: none was ever seen.
    public func knownEpoch(_ profile: Profile) async throws(AuthError) -> Int64? {
        try await awaited { (logins, _) throws(AuthError) in try logins.knownEpoch(profile) }
    }

    /// Keeps what the server says as a profile of it is set up, for the logins to come.
    ///
    /// - Returns: What counts from now on: of the epoch that is known, only what is stricter is taken.
    public func learn(_ offered: ServerPolicy, of profile: Profile) async throws(AuthError) -> ServerPolicy {
        try await awaited { (logins, _) throws(AuthError) in try logins.learn(offered, of: profile) }
    }

    /// Forgets what set-ups have seen of the policy of the profile's server. What logins have seen stays with them.
    public func unlearnPolicy(of profile: Profile) async throws(AuthError) {
        try await awaited { (logins, _) throws(AuthError) in try logins.unlearnPolicy(of: profile) }
    }

    /// Whose login an id is; nil when the ledger of this device has no such login.
    public func owner(of id: [UInt8]) async throws(AuthError) -> LoginOwner? {
        try await awaited { (logins, _) throws(AuthError) in try logins.owner(of: id) }
    }

    /// The log of every login of this ledger; empty where there is none.
    public func log() async throws(AuthError) -> LoginTrail {
        try await awaited { (logins, _) throws(AuthError) in try logins.log() }
    }

    /// Begins a new chain of the log behind a break; nil where the log is whole.
    public func beginLogChain() async throws(AuthError) -> LogFault? {
        try await awaited { (logins, _) throws(AuthError) in try logins.beginLogChain() }
    }

    // MARK: - What is remembered

    /// Remembers what the profile allows and the user wants, after a success. What is not wanted is forgotten, so it is not
    /// to be cancelled.
    public func remember(
        _ receipt: borrowing LoginReceipt, _ profile: Profile, password: borrowing Password,
        _ preferences: RememberPreferences? = nil, key: RememberingKey?
    ) async throws(AuthError) {
        let login = receipt.context, password = password.duplicate()
        try await carriedThrough { (logins) throws(AuthError) in
            try logins.remember(login, profile, password, preferences, key)
        }
    }

    /// What is remembered; nothing of it is secret.
    public func remembered(_ profile: Profile) async throws(AuthError) -> Remembered? {
        try await awaited { (logins, _) throws(AuthError) in try logins.remembered(profile) }
    }

    /// The remembered password, to be filled in for somebody who then submits it; nil where there is none.
    public func rememberedPassword(_ profile: Profile, key: RememberingKey) async throws(AuthError) -> Password? {
        try await awaited { (logins, _) throws(AuthError) in try logins.rememberedPassword(profile, key: key) }
    }

    /// The password to submit without asking anybody; nil where there is no auto login. Cancelled in time, it is not taken.
    public func takeAutoLogin(_ profile: Profile, key: RememberingKey) async throws(AuthError) -> AutoLogin? {
        try await awaited { (logins, _) throws(AuthError) in try logins.takeAutoLogin(profile, key: key) }
    }

    /// The key for what is remembered at the level `always`; nil while there is no device key.
    public func deviceRememberingKey() async throws(AuthError) -> RememberingKey? {
        try await awaited { (logins, _) throws(AuthError) in try logins.deviceRememberingKey() }
    }

    /// The same, with a device key made where there is none yet.
    public func makeDeviceRememberingKey() async throws(AuthError) -> RememberingKey {
        try await awaited { (logins, _) throws(AuthError) in try logins.makeDeviceRememberingKey() }
    }

    /// Whether there is a row of this login, and nothing of it is looked at.
    public func knows(_ key: LoginKey) async throws(AuthError) -> Bool {
        try await awaited { (logins, _) throws(AuthError) in try logins.knows(key) }
    }

    /// The logins of these names, by their ids.
    public func ids(naming key: LoginKey) async throws(AuthError) -> [[UInt8]] {
        try await awaited { (logins, _) throws(AuthError) in try logins.ids(naming: key) }
    }

    /// The logins of these names that have no credential any more, by their ids.
    public func idsWithoutCredential(
        naming key: LoginKey, before: [[UInt8]] = []
    ) async throws(AuthError) -> [[UInt8]] {
        try await awaited { (logins, _) throws(AuthError) in try logins.idsWithoutCredential(naming: key, before: before) }
    }

    // MARK: - The bridge

    /// Cancelled before it begins, it does nothing.
    private func awaited<R: ~Copyable & Sendable>(
        _ body: @escaping @Sendable (Authenticator, Cancellation) throws(AuthError) -> R
    ) async throws(AuthError) -> R {
        let cancellation = Cancellation(), logins = until(cancellation)
        return try await OwnThread.run({ () throws(AuthError) in
            try cancellation.check()
            return try body(logins, cancellation)
        }) { cancellation.cancel() }
    }

    /// What takes something away is not called off: a task that is cancelled is just what logs somebody out.
    private func carriedThrough<R: ~Copyable & Sendable>(
        _ body: @escaping @Sendable (Authenticator) throws(AuthError) -> R
    ) async throws(AuthError) -> R {
        try await OwnThread.run { () throws(AuthError) in try body(self) }
    }
}
