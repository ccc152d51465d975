// One question to the online helper. Format: docs/online-protocol.md, "Question".

public import OMRecords
public import OMSecrets

/// What a service is asked.
public enum OnlineTask: Hashable, Sendable {
    /// With a password.
    case login(user: String)
    /// Does the session still count?
    case check
    /// New tokens; only OAuth has them.
    case refresh
    /// With a session; and with a password too where the server wants it once more from `user`.
    case logout(user: String?)
    /// The application profile from its address.
    case profile

    var user: String? {
        switch self {
        case .login(let user): user
        case .logout(let user): user
        case .check, .refresh, .profile: nil
        }
    }
}

/// A question, with a number of its own that the answer must bear.
public struct OnlineQuestion: ~Copyable, Sendable {
    static let maximumBody = 3 << 20
    static let maximumList = 64
    static let maximumTrusted = 1 << 20
    static let maximumSession = 512 << 10
    static let maximumSecret = 1 << 20

    public let number: [UInt8]
    public let service: OnlineService
    public let task: OnlineTask
    /// Of a confidential client; empty for all others.
    public let clientSecret: SecretBytes
    /// Empty for a task without one.
    public let session: SecretBytes
    /// Empty for a task without one; of a task with a user it is used, empty or not.
    public let password: SecretBytes

    public static func login(
        _ user: String, password: consuming SecretBytes, of service: OnlineService,
        clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(Random.bytes(16), .login(user: user), service, clientSecret, nil, password)
    }

    public static func check(
        _ session: consuming SecretBytes, of service: OnlineService, clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(Random.bytes(16), .check, service, clientSecret, session, nil)
    }

    public static func refresh(
        _ session: consuming SecretBytes, of service: OnlineService, clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(Random.bytes(16), .refresh, service, clientSecret, session, nil)
    }

    /// - Parameters user, password: for a server that wants the password once more (`SendAuthorizationHeaderInLogout`).
    public static func logout(
        _ session: consuming SecretBytes, user: String? = nil, password: consuming SecretBytes? = nil,
        of service: OnlineService, clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(Random.bytes(16), .logout(user: user), service, clientSecret, session, password)
    }

    public static func profile(of service: OnlineService) -> OnlineQuestion {
        OnlineQuestion(Random.bytes(16), .profile, service, nil, nil, nil)
    }

    private init(
        _ number: [UInt8], _ task: OnlineTask, _ service: OnlineService, _ clientSecret: consuming SecretBytes?,
        _ session: consuming SecretBytes?, _ password: consuming SecretBytes?
    ) {
        self.number = number
        self.task = task
        self.service = service
        self.clientSecret = clientSecret ?? SecretBytes(copying: [])
        self.session = session ?? SecretBytes(copying: [])
        self.password = password ?? SecretBytes(copying: [])
    }

    /// Nil when the question is longer than the protocol allows in one of its parts.
    borrowing func encoded() -> SecretBuffer? {
        guard service.fits, task.user?.utf8.count ?? 0 <= UInt16.max, session.count <= Self.maximumSession,
            password.count <= Self.maximumSecret, clientSecret.count <= Self.maximumSecret
        else { return nil }
        var body = SecretBuffer()
        body.append(number.span)
        body.append(service: service, clientSecret: clientSecret)
        switch task {
        case .login(let user):
            body.append(1)
            body.append(text: user)
            body.append(counted: password)
        case .check:
            body.append(2)
            body.append(counted: session)
        case .refresh:
            body.append(3)
            body.append(counted: session)
        case .logout(let user):
            body.append(4)
            body.append(counted: session)
            body.append(user == nil ? 0 : 1)
            if let user {
                body.append(text: user)
                body.append(counted: password)
            }
        case .profile: body.append(5)
        }
        guard body.count <= Self.maximumBody else { return nil }
        return body
    }

    /// - Throws: for a body that is not exactly what the page allows.
    init(decoding bytes: Span<UInt8>) throws(MalformedBytes) {
        var cursor = ByteCursor()
        let number = try cursor.take(16, in: bytes)
        var clientSecret = SecretBuffer()
        let service = try cursor.service(in: bytes, clientSecret: &clientSecret)
        let task: OnlineTask
        var session = SecretBuffer()
        var password = SecretBuffer()
        switch try cursor.byte(in: bytes) {
        case 1: task = .login(user: try cursor.text(in: bytes))
        case 2: task = .check
        case 3:
            guard case .oauth = service.kind else { throw MalformedBytes() }
            task = .refresh
        case 4:
            session.append(try cursor.secret(upTo: Self.maximumSession, in: bytes))
            task = .logout(user: try cursor.optionalText(in: bytes))
        case 5: task = .profile
        default: throw MalformedBytes()
        }
        if task == .check || task == .refresh {
            session.append(try cursor.secret(upTo: Self.maximumSession, in: bytes))
        }
        if task.user != nil { password.append(try cursor.secret(upTo: Self.maximumSecret, in: bytes)) }
        try cursor.end(in: bytes)
        self.init(number, task, service, clientSecret.finish(), session.finish(), password.finish())
    }
}
