public import OMOnlineModel
public import OMStorage
internal import OMSystem

/// The facts of a login that succeeded. None of them is secret.
public struct LoginDetails: Hashable, Sendable {
    public enum Mode: Hashable, Sendable {
        /// By the cached credential. `online` is why no server accepted the login. Nil if no server was asked.
        case offline(_ online: OnlineRefusal?)
        /// By the server. `notCached` is why the next login cannot be offline. Nil if it can.
        case online(notCached: AuthError?)
    }

    public let user: UserName
    public let domain: IdentityDomain
    public let profile: ProfileName
    public let mode: Mode
    /// Why the server's policy did not come with an online login. The last known policy stays in force.
    public let policyProblem: PolicyProblem?
    /// The ledger before an online login, if it could not be read and was set aside. All its other logins are refused,
    /// each until its own login online.
    public let damagedLedger: DamagedFile?
    /// Seconds since the enrolment or the last online success.
    public let age: Int64
    /// The last second (since 1970) in which the cached credential is valid. Nil if there is none, or if it does not expire.
    public let expires: Int64?
    public let expiresSoon: Bool
    public let clockIsBehind: Bool
    /// The password was right, but the attempt counter could not be reset.
    public let isDegraded: Bool
    /// How many wrong passwords are tolerated from here on.
    public let attemptsLeft: Int
    /// When the idle time and the session end.
    public let deadlines: SessionDeadlines
}
