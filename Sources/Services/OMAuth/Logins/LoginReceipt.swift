// The proof of a login. Two things can become one, a slot that opened and a server's yes; nothing else has the parts.

public import OMOnlineModel
public import OMSecrets
public import OMStorage
internal import OMSystem

/// A login that succeeded, online or offline.
public struct LoginReceipt: ~Copyable, Sendable {
    public let context: LoginContext
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
        context = LoginContext(login, of: request, .offline(online), at: clock)
        self.login = consume login
        session = nil
        sessionExpires = nil
    }

    /// Online: the server said yes, and the credential that was stored for it has opened.
    init(
        online accepted: consuming AcceptedAnswer, stored login: consuming VerifiedLogin, _ notes: ReceiptNotes,
        _ request: LoginRequest, _ clock: ClockReading
    ) {
        context = LoginContext(login, of: request, .online(notCached: nil), at: clock, notes)
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
        context = LoginContext(request, notCached: reason, clock, notes)
        login = nil
        sessionExpires = accepted.sessionExpires
        session = accepted.session
    }
}

/// What the receipt of an online login says beside the login.
struct ReceiptNotes {
    /// ``LoginContext/policyGap``
    var policyGap: PolicyGap?
    /// ``LoginContext/ledgerSetAside``
    var ledgerSetAside: SetAside?
}

/// What is known about a login that succeeded. Nothing of it is secret.
public struct LoginContext: Hashable, Sendable {
    public enum Way: Hashable, Sendable {
        /// By the cached credential; `online` is why no server was asked, nil where none was to be.
        case offline(_ online: OnlineRefusal?)
        /// By the server. `notCached` is why the next login cannot be offline; nil where it can.
        case online(notCached: AuthError?)
    }

    public let user: UserName
    public let domain: IdentityDomain
    public let profile: ProfileName
    public let way: Way
    /// Why the server's policy did not come beside an online login; what was known of it before stays in force.
    public let policyGap: PolicyGap?
    /// Where the ledger is that was there before an online login, if it could not be read. All other logins that it held
    /// are refused, each until its own login online.
    public let ledgerSetAside: SetAside?
    /// Seconds since the enrolment or the last online success.
    public let age: Int64
    /// The last second (since 1970) in which the cached credential is good; nil: there is none, or it does not expire.
    public let expires: Int64?
    public let expiresSoon: Bool
    public let clockIsBehind: Bool
    /// The password was right, but the charge of this attempt could not be taken back.
    public let isDegraded: Bool
    /// How many wrong passwords are tolerated from here on.
    public let attemptsLeft: Int
    /// When idle time and session end.
    public let session: LoginSession

    fileprivate init(
        _ login: borrowing VerifiedLogin, of request: LoginRequest, _ way: Way, at clock: ClockReading,
        _ notes: ReceiptNotes = ReceiptNotes()
    ) {
        (policyGap, ledgerSetAside) = (notes.policyGap, notes.ledgerSetAside)
        (user, domain, profile) = (login.user, login.domain, login.profile)
        // The online success is this one, whatever second the clock has reached since it was stored.
        (self.way, expires) = (way, login.expires)
        age = if case .online = way { 0 } else { login.age }
        (expiresSoon, clockIsBehind, isDegraded) = (login.expiresSoon, login.clockIsBehind, login.isDegraded)
        attemptsLeft = login.attemptsLeft
        session = LoginSession(request.profile, at: clock)
    }

    fileprivate init(
        _ request: LoginRequest, notCached reason: AuthError, _ clock: ClockReading, _ notes: ReceiptNotes
    ) {
        (policyGap, ledgerSetAside) = (notes.policyGap, notes.ledgerSetAside)
        (user, domain, profile) = (request.user, request.login.domain, request.profile.name)
        (way, age, expires) = (.online(notCached: reason), 0, nil)
        (expiresSoon, clockIsBehind, isDegraded, attemptsLeft) = (false, false, false, 0)
        session = LoginSession(request.profile, at: clock)
    }
}
