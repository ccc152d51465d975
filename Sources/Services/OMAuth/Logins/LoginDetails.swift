public import OMOnlineModel
public import OMStorage
internal import OMSystem

/// What is known about a login that succeeded. Nothing of it is secret.
public struct LoginDetails: Hashable, Sendable {
    public enum Mode: Hashable, Sendable {
        /// By the cached credential; `online` is why no server was asked, nil where none was to be.
        case offline(_ online: OnlineRefusal?)
        /// By the server. `notCached` is why the next login cannot be offline; nil where it can.
        case online(notCached: AuthError?)
    }

    public let user: UserName
    public let domain: IdentityDomain
    public let profile: ProfileName
    public let mode: Mode
    /// Why the server's policy did not come beside an online login; what was known of it before stays in force.
    public let policyProblem: PolicyProblem?
    /// Where the ledger is that was there before an online login, if it could not be read. All other logins that it held
    /// are refused, each until its own login online.
    public let damagedLedger: DamagedFile?
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
    public let deadlines: SessionDeadlines
}
