// The proof of a login. Only an opened slot or a server's yes can become one.

internal import OMOnlineModel
public import OMSecrets
internal import OMStorage
internal import OMSystem

/// A login that succeeded, online or offline.
public struct LoginReceipt: ~Copyable, Sendable {
    public let details: LoginDetails
    /// The login that opened the cached credential's slot. It can unlock vaults. Nil after an online login that could
    /// not be cached.
    public let login: VerifiedLogin?
    /// The cookies or tokens from the server. Nil offline.
    public let session: SecretBytes?
    /// The access token in the session. Nil offline, and for a server without such tokens.
    package let access: AccessToken?
    /// When the session's access token expires, in seconds since boot. Nil if it does not.
    public let sessionExpires: Int64?

    /// The login only, for a caller that unlocks something with it.
    public consuming func takeLogin() -> VerifiedLogin? { login }

    /// The session only, for a caller that keeps it.
    public consuming func takeSession() -> SecretBytes? { session }

    /// Offline: the slot opened.
    init(
        offline login: consuming VerifiedLogin, _ request: LoginRequest, _ online: OnlineRefusal?, _ clock: ClockReading
    ) {
        details = LoginDetails(login, of: request, .offline(online), at: clock)
        self.login = consume login
        session = nil
        access = nil
        sessionExpires = nil
    }

    /// Online: the server accepted, and the stored credential has opened.
    init(
        online accepted: consuming AcceptedAnswer, stored login: consuming VerifiedLogin, _ notes: ReceiptNotes,
        _ request: LoginRequest, _ clock: ClockReading
    ) {
        details = LoginDetails(login, of: request, .online(notCached: nil), at: clock, notes)
        self.login = consume login
        sessionExpires = accepted.sessionExpires
        session = accepted.session
        access = accepted.access
    }

    /// Online: the server accepted, and nothing is cached.
    ///
    /// - Parameter reason: ``AuthError/offlineNotAllowed``, or the error that prevented storing it.
    init(
        online accepted: consuming AcceptedAnswer, notCached reason: AuthError, _ notes: ReceiptNotes,
        _ request: LoginRequest, _ clock: ClockReading
    ) {
        details = LoginDetails(request, notCached: reason, clock, notes)
        login = nil
        sessionExpires = accepted.sessionExpires
        session = accepted.session
        access = accepted.access
    }
}

/// The facts of an online login for its receipt, apart from the login itself.
struct ReceiptNotes {
    /// ``LoginDetails/policyProblem``
    var policyProblem: PolicyProblem?
    /// ``LoginDetails/damagedLedger``
    var damagedLedger: DamagedFile?
}

extension LoginDetails {
    fileprivate init(
        _ login: borrowing VerifiedLogin, of request: LoginRequest, _ mode: Mode, at clock: ClockReading,
        _ notes: ReceiptNotes = ReceiptNotes()
    ) {
        (policyProblem, damagedLedger) = (notes.policyProblem, notes.damagedLedger)
        (user, domain, profile) = (login.user, login.domain, login.profile)
        // This is the last online success, even if the clock has moved on since it was stored.
        (self.mode, expires) = (mode, login.expires)
        age = if case .online = mode { 0 } else { login.age }
        (expiresSoon, clockIsBehind, isDegraded) = (login.expiresSoon, login.clockIsBehind, login.isDegraded)
        attemptsLeft = login.attemptsLeft
        deadlines = SessionDeadlines(request.profile, at: clock)
    }

    fileprivate init(
        _ request: LoginRequest, notCached reason: AuthError, _ clock: ClockReading, _ notes: ReceiptNotes
    ) {
        (policyProblem, damagedLedger) = (notes.policyProblem, notes.damagedLedger)
        (user, domain, profile) = (request.user, request.login.domain, request.profile.name)
        (mode, age, expires) = (.online(notCached: reason), 0, nil)
        (expiresSoon, clockIsBehind, isDegraded, attemptsLeft) = (false, false, false, 0)
        deadlines = SessionDeadlines(request.profile, at: clock)
    }
}
