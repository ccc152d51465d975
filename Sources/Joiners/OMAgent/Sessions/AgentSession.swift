// The description of a session for clients.

public import OMAuth
internal import OMSystem

/// A session that the agent keeps. None of it is secret.
public struct AgentSession: Hashable, Sendable {
    public enum Mode: UInt8, Sendable {
        case online = 0
        case offline = 1
    }

    public enum State: UInt8, Sendable {
        case valid = 0
        /// It was not used for too long. It cannot be used before the next login.
        case idle = 1
        /// Its access token has expired. It lets no user in until the server gives a new one.
        case expired = 2
    }

    public let login: LoginReference
    /// The digest of the profile as it was when the session began.
    package let profile: ProfileDigest
    /// How the user was checked when the session began.
    public let mode: Mode
    public let state: State
    /// When the user logged in, in seconds since 1970.
    public let since: Int64
    /// In seconds. Nil without such a time-out.
    public let idleLeft: Int64?
    public let sessionLeft: Int64?
    /// Whether so little of the idle time is left that the user should be warned.
    public let isWarningDue: Bool
    /// Whether the agent holds cookies or tokens of a server.
    public let hasServerSession: Bool
    /// Whether the agent wrote a ticket of it. It may have none although the profile asks for one.
    public let survivesRestart: Bool
    /// The access token of the session. Nil for a server without such tokens, and after an offline login.
    public let token: HeldToken?
    /// Whether the agent hands that token out.
    public let release: TokenRelease
    /// Whether the ledger of logins has its tokens, so that it outlives the agent and a reboot.
    public let isRemembered: Bool

    /// Whether it began under exactly this profile. A session of another profile lets no user in.
    public func isOf(_ profile: Profile) -> Bool {
        login.key.profile == profile.name && login.key.server == profile.serverIdentity && self.profile == profile.digest
    }
}
