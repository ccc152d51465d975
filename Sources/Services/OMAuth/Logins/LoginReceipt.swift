// The proof of a login. Two things can become one, a slot that opened and a server's yes; nothing else has the parts.

internal import OMOnlineModel
public import OMSecrets
internal import OMStorage
internal import OMSystem

/// A login that succeeded, online or offline.
public struct LoginReceipt: ~Copyable, Sendable {
    public let details: LoginDetails
    /// What opened the cached credential's slot, and with it vaults. nil after an online login that could not be cached.
    public let login: VerifiedLogin?
    /// What the server gave to go on with; nil offline.
    public let session: SecretBytes?
    /// When an access token among it ends, in seconds since boot; nil where none ends.
    public let sessionExpires: Int64?

    /// The login alone, for whoever unlocks something with it.
    public consuming func takeLogin() -> VerifiedLogin? { login }

    /// What the server gave, alone, for whoever keeps the session.
    public consuming func takeSession() -> SecretBytes? { session }

    /// Offline: the slot opened.
    init(
        offline login: consuming VerifiedLogin, _ request: LoginRequest, _ online: OnlineRefusal?, _ clock: ClockReading
    ) {
        details = LoginDetails(login, of: request, .offline(online), at: clock)
        self.login = consume login
        session = nil
        sessionExpires = nil
    }

    /// Online: the server said yes, and the credential that was stored for it has opened.
    init(
        online accepted: consuming AcceptedAnswer, stored login: consuming VerifiedLogin, _ notes: ReceiptNotes,
        _ request: LoginRequest, _ clock: ClockReading
    ) {
        details = LoginDetails(login, of: request, .online(notCached: nil), at: clock, notes)
        self.login = consume login
        sessionExpires = accepted.sessionExpires
        session = accepted.session
    }

    /// Online: the server said yes, and nothing is cached.
    ///
    /// - Parameter reason: ``AuthError/offlineNotAllowed``, or what stood in the way of storing it.
    init(
        online accepted: consuming AcceptedAnswer, notCached reason: AuthError, _ notes: ReceiptNotes,
        _ request: LoginRequest, _ clock: ClockReading
    ) {
        details = LoginDetails(request, notCached: reason, clock, notes)
        login = nil
        sessionExpires = accepted.sessionExpires
        session = accepted.session
    }
}

/// What the receipt of an online login says beside the login.
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
        // The online success is this one, whatever second the clock has reached since it was stored.
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
