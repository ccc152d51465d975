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

extension OnlineService {
    /// Whether each text fits its two bytes of length, and each list its limit.
    var fits: Bool {
        var texts =
            headers.flatMap { [$0.name, $0.value] } + [domain?.name, domain?.header, profile].compactMap(\.self)
        var lists = [headers.count]
        switch kind {
        case .basic(let basic):
            texts += [basic.login, basic.logout].compactMap(\.self) + basic.requiredTokens
            lists.append(basic.requiredTokens.count)
        case .oauth(let oauth):
            texts += oauth.scopes + [oauth.clientID]
            lists.append(oauth.scopes.count)
            switch oauth.endpoint {
            case .discovery(let address): texts.append(address)
            case .token(let token, let revocation): texts += [token, revocation].compactMap(\.self)
            }
        }
        return texts.allSatisfy { $0.utf8.count <= UInt16.max } && lists.allSatisfy { $0 <= OnlineQuestion.maximumList }
            && trusted?.count ?? 0 <= OnlineQuestion.maximumTrusted
    }
}

extension SecretBuffer {
    /// The page's "service".
    mutating func append(service: OnlineService, clientSecret: borrowing SecretBytes) {
        append(number: service.deadlines.connect)
        append(number: service.deadlines.total)
        append(optional: service.domain) { body, domain in
            body.append(text: domain.name)
            body.append(optional: domain.header) { $0.append(text: $1) }
        }
        append(number: UInt16(service.headers.count))
        for header in service.headers {
            append(text: header.name)
            append(text: header.value)
        }
        append(optional: service.trusted) { body, pem in
            body.append(number: UInt32(pem.count))
            body.append(pem.span)
        }
        append(optional: service.profile) { $0.append(text: $1) }
        switch service.kind {
        case .basic(let basic):
            append(1)
            append(text: basic.login)
            append(optional: basic.logout) { $0.append(text: $1) }
            append(texts: basic.requiredTokens)
            append(basic.sendsHeadersAtLogout ? 1 : 0)
        case .oauth(let oauth):
            append(2)
            switch oauth.endpoint {
            case .discovery(let address):
                append(1)
                append(text: address)
            case .token(let token, let revocation):
                append(2)
                append(text: token)
                append(optional: revocation) { $0.append(text: $1) }
            }
            append(text: oauth.clientID)
            append(texts: oauth.scopes)
            append(oauth.includesClientHeader ? 1 : 0)
            append(counted: clientSecret)
        }
    }

    /// count (2) ‖ texts
    fileprivate mutating func append(texts: [String]) {
        append(number: UInt16(texts.count))
        for text in texts { append(text: text) }
    }
}

extension ByteCursor {
    mutating func secret(upTo maximum: Int, in bytes: Span<UInt8>) throws(MalformedBytes) -> SecretBytes {
        let secret = try secret(in: bytes)
        guard secret.count <= maximum else { throw MalformedBytes() }
        return secret
    }

    mutating func optionalText(in bytes: Span<UInt8>) throws(MalformedBytes) -> String? {
        try flag(in: bytes) ? try text(in: bytes) : nil
    }

    private mutating func texts(in bytes: Span<UInt8>) throws(MalformedBytes) -> [String] {
        let count = try number(UInt16.self, in: bytes)
        guard count <= OnlineQuestion.maximumList else { throw MalformedBytes() }
        return try (0..<count).map { _ throws(MalformedBytes) in try text(in: bytes) }
    }

    private mutating func deadline(in bytes: Span<UInt8>) throws(MalformedBytes) -> UInt32 {
        let value = try number(UInt32.self, in: bytes)
        guard OnlineDeadlines.range.contains(value) else { throw MalformedBytes() }
        return value
    }

    mutating func service(
        in bytes: Span<UInt8>, clientSecret: inout SecretBuffer
    ) throws(MalformedBytes) -> OnlineService {
        let deadlines = OnlineDeadlines(connect: try deadline(in: bytes), total: try deadline(in: bytes))
        var domain: OnlineService.Domain?
        if try flag(in: bytes) {
            let name = try text(in: bytes)
            domain = OnlineService.Domain(name, header: try optionalText(in: bytes))
        }
        let count = try number(UInt16.self, in: bytes)
        guard count <= OnlineQuestion.maximumList else { throw MalformedBytes() }
        let headers = try (0..<count).map { _ throws(MalformedBytes) in
            OnlineService.Header(try text(in: bytes), try text(in: bytes))
        }
        var trusted: [UInt8]?
        if try flag(in: bytes) {
            let length = try number(UInt32.self, in: bytes)
            guard length <= OnlineQuestion.maximumTrusted else { throw MalformedBytes() }
            trusted = try take(Int(length), in: bytes)
        }
        let profile = try optionalText(in: bytes)
        let kind: OnlineService.Kind
        switch try byte(in: bytes) {
        case 1:
            let login = try text(in: bytes)
            let logout = try optionalText(in: bytes)
            let tokens = try texts(in: bytes)
            kind = .basic(
                BasicService(
                    login: login, logout: logout, requiredTokens: tokens, sendsHeadersAtLogout: try flag(in: bytes)))
        case 2:
            let endpoint = try endpoint(in: bytes)
            let client = try text(in: bytes)
            let scopes = try texts(in: bytes)
            kind = .oauth(
                OAuthService(endpoint, clientID: client, scopes: scopes, includesClientHeader: try flag(in: bytes)))
            clientSecret.append(try secret(upTo: OnlineQuestion.maximumSecret, in: bytes))
        default: throw MalformedBytes()
        }
        return OnlineService(
            kind, domain: domain, headers: headers, trusted: trusted, profile: profile, deadlines: deadlines)
    }

    private mutating func endpoint(in bytes: Span<UInt8>) throws(MalformedBytes) -> OAuthService.Endpoint {
        switch try byte(in: bytes) {
        case 1: return .discovery(try text(in: bytes))
        case 2:
            let token = try text(in: bytes)
            return .token(token, revocation: try optionalText(in: bytes))
        default: throw MalformedBytes()
        }
    }
}
