// What a login left behind, as far as it may be known outside the agent; and how a client names it.

public import OMAuth
public import OMRecords
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
        name.append(login: self)
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
        /// Not used for too long: good for nothing before the next login.
        case idle = 1
        /// Its access token has ended: it answers for nobody until the server gives a new one.
        case expired = 2
    }

    public let login: AgentLogin
    /// What the profile said when it began.
    public let profile: ProfileDigest
    /// How the login went that began it.
    public let way: Way
    public let state: State
    /// Seconds since 1970, of the login.
    public let since: Int64
    /// Seconds; nil where there is no such time-out.
    public let idleLeft: Int64?
    public let sessionLeft: Int64?
    /// So little of the idle time is left that somebody should be told.
    public let isWarningDue: Bool
    /// Whether there is anything that a server could be asked about.
    public let hasServerSession: Bool
    /// Whether a ticket of it stands. Its profile may want one where none can be.
    public let survivesRestart: Bool

    /// Whether it was made under the profile as it is: under another it answers for nobody.
    public func isOf(_ profile: Profile) -> Bool {
        login.key.profile == profile.name && login.key.server == profile.serverIdentity && self.profile == profile.digest
    }
}

/// What a server, asked about a session, has said.
public enum SessionVerdict: Hashable, Sendable {
    case valid(AgentSession)
    /// There is no such session, or it is idle.
    case none
    /// The server gave no yes; where that says that the session is spent, it is gone.
    case refused(OnlineRefusal)
}

/// How a session ended.
public struct SessionEnding: Hashable, Sendable {
    public let wasThere: Bool
    public let wasServerAsked: Bool
    /// Why the server did not end it, if it was waited for. Where nothing says whom to ask, `wasServerAsked` is false beside it.
    public let refusal: OnlineRefusal?

    public init(wasThere: Bool, wasServerAsked: Bool, refusal: OnlineRefusal?) {
        (self.wasThere, self.wasServerAsked, self.refusal) = (wasThere, wasServerAsked, refusal)
    }

    /// The SDK's number for a logout that the server was not told of; nil where there is nothing to tell.
    public var sdkCode: Int? {
        switch wasServerAsked ? refusal : nil {
        case .unreachable(.timedOut): 10034
        case .some: 10035
        case nil: nil
        }
    }
}

/// What a client hands over after a login.
struct KeptSession: ~Copyable, Sendable {
    /// The server, and what it gave.
    struct Asked: ~Copyable, Sendable {
        let service: OnlineService
        /// Of a confidential client; empty for all others.
        let clientSecret: SecretBytes
        /// Milliseconds that a logout may take.
        let logout: UInt32
        /// Empty: nothing new.
        let session: SecretBytes
        /// When its access token ends, in seconds since boot; nil where none ends.
        let expires: Int64?
    }

    let login: AgentLogin
    let profile: ProfileDigest
    let way: AgentSession.Way
    let limits: SessionLimits
    let asked: Asked?

    init(
        _ login: AgentLogin, _ profile: ProfileDigest, _ way: AgentSession.Way, _ limits: SessionLimits,
        _ asked: consuming Asked?
    ) {
        (self.login, self.profile, self.way, self.limits) = (login, profile, way, limits)
        self.asked = asked
    }

    consuming func takeAsked() -> Asked? { asked }
}

extension String {
    var isAgentPath: Bool { hasPrefix("/") && utf8.count <= 4096 && !utf8.contains(0) }
}
