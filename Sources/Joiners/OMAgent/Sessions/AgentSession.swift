// The description of a session outside the agent, and the name by which a client asks for it.

public import OMAuth
public import OMOnlineModel
internal import OMSecrets

/// The login that a session belongs to, in the ledger that knows it.
public struct AgentLogin: Hashable, Sendable {
    /// The folders of the ledger and of the device key, absolute paths.
    public let state: String
    public let device: String
    public let key: LoginKey

    /// - Returns: nil unless the paths are absolute, without a NUL and within 4096 bytes, and the server's name is within its
    ///   bounds.
    public init?(state: String, device: String, key: LoginKey) {
        guard [state, device].allSatisfy(\.isAgentPath), key.server.utf8.count <= LoginKey.longestServer else { return nil }
        (self.state, self.device, self.key) = (state, device, key)
    }

    /// Names the session's ticket.
    var id: [UInt8] {
        var name = SecretBuffer()
        name.write(self)
        let hash = BLAKE2b(count: 16)
        name.withBytes { hash.update($0) }
        var id = [UInt8](repeating: 0, count: 16)
        var target = id.mutableSpan
        hash.finish(into: &target)
        return id
    }
}

/// A session that the agent keeps. Nothing of it is secret.
public struct AgentSession: Hashable, Sendable {
    public enum Way: UInt8, Sendable {
        case online = 0
        case offline = 1
    }

    public enum State: UInt8, Sendable {
        case valid = 0
        /// Not used for too long: it cannot be used before the next login.
        case idle = 1
        /// Its access token has ended: it lets no user in until the server gives a new one.
        case expired = 2
    }

    public let login: AgentLogin
    /// The digest of the profile as it was when the session began.
    public let profile: ProfileDigest
    /// How the user was checked when the session began.
    public let way: Way
    public let state: State
    /// When the user logged in, in seconds since 1970.
    public let since: Int64
    /// Seconds; nil without such a time-out.
    public let idleLeft: Int64?
    public let sessionLeft: Int64?
    /// So little of the idle time is left that the user should be told.
    public let isWarningDue: Bool
    /// Whether the agent holds cookies or tokens of a server.
    public let hasServerSession: Bool
    /// Whether the agent wrote a ticket of it. It may have none although the profile asks for one.
    public let survivesRestart: Bool

    /// Whether it began under this very profile. A session of another one lets no user in.
    public func isOf(_ profile: Profile) -> Bool {
        login.key.profile == profile.name && login.key.server == profile.serverIdentity && self.profile == profile.digest
    }
}

/// A server's answer to a question about a session.
public enum SessionVerdict: Hashable, Sendable {
    case valid(AgentSession)
    /// There is no such session, or it is idle.
    case none
    /// The server did not confirm it. If the refusal says that the session is over, the agent has deleted it.
    case refused(OnlineRefusal)
}

/// How a session ended.
public enum SessionEnding: Hashable, Sendable {
    /// There was no session.
    case notThere
    /// The agent deleted it. There was nothing to ask a server, or the client did not wait for the answer.
    case endedHere
    /// The agent deleted it, and the server ended it.
    case endedAtServer
    /// The agent deleted it. It may go on at the server, for this reason.
    case endedHereOnly(OnlineRefusal)

    public var wasThere: Bool { self != .notThere }

    /// Whether the server was asked. Without an address for logging out it was not.
    public var wasServerAsked: Bool {
        switch self {
        case .notThere, .endedHere, .endedHereOnly(.failed(.noLogout, _, _)): false
        case .endedAtServer, .endedHereOnly: true
        }
    }

    /// The SDK's number for a logout that the server did not carry out; nil where the server was not asked.
    public var sdkCode: Int? {
        switch wasServerAsked ? self : .endedHere {
        case .endedHereOnly(.unreachable(.timedOut)): 10034
        case .endedHereOnly: 10035
        case .notThere, .endedHere, .endedAtServer: nil
        }
    }
}

/// A new session, as a client hands it over after a login.
struct KeptSession: ~Copyable, Sendable {
    /// The server, and the session that it gave.
    struct Asked: ~Copyable, Sendable {
        let service: OnlineService
        /// The secret of a confidential client; empty for all others.
        let clientSecret: SecretBytes
        /// How long a logout may take, in milliseconds.
        let logout: UInt32
        /// Empty after an offline login.
        let session: SecretBytes
        /// When its access token ends, in seconds since boot; nil if it has no end.
        let expires: Int64?
    }

    let login: AgentLogin
    let profile: ProfileDigest
    let way: AgentSession.Way
    let limits: SessionLimits
    let asked: Asked?

    consuming func takeAsked() -> Asked? { asked }
}

extension String {
    var isAgentPath: Bool { hasPrefix("/") && utf8.count <= 4096 && !utf8.contains(0) }
}
