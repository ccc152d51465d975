// One question to the online helper. Format: docs/formats/online-protocol.md, "Question".

internal import OMAgentProtocol
internal import OMAuth
package import OMOnlineModel
internal import OMRecords
package import OMSecrets

/// A question, with an id that its answer must repeat.
package struct OnlineQuestion: ~Copyable, Sendable {
    static let maximumBody = 3 << 20
    static let maximumListEntries = 64
    static let maximumTrustedBytes = 1 << 20
    static let maximumSession = 512 << 10
    static let maximumSecret = 1 << 20

    /// 16 random bytes.
    package let id: [UInt8]
    package private(set) var service: OnlineService
    package let task: OnlineTask
    /// The secret of a confidential client. Empty for all others.
    package let clientSecret: SecretBytes
    /// Empty for a task without one. For the page that ends a server's own session it is the ID token.
    package let session: SecretBytes
    /// Sent with every task that has a user, even if it is empty. No other task sends a password.
    package let password: SecretBytes
    /// The answers to the server's questions, each followed by a line feed. Empty for a task without them.
    package let answers: SecretBytes
    /// The assertion of a user, or the token to exchange. Empty for a task without one.
    package let subject: SecretBytes
    /// The token of the party that acts for the user. Empty without one.
    package let actor: SecretBytes
    /// The vault of the identity that proves the client, for the process that asks. It is not sent.
    var keyVault: VaultPaths?
    /// The key to which the session's tokens are bound, for the process that asks. It is not sent.
    var tokenKey: TokenKey?
    /// Names that key in a login at the server's own pages. Nil without one.
    package var keyThumbprint: String?

    package static func login(
        _ user: String, password: consuming SecretBytes, of service: OnlineService,
        clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(.login(user: user), of: service, clientSecret: clientSecret, password: password)
    }

    /// - Parameters:
    ///   - answers: One for each question, each followed by a line feed.
    ///   - state: Of ``OnlineReply/asked(_:state:)``.
    package static func answer(
        _ answers: consuming SecretBytes, to state: consuming SecretBytes, user: String, password: consuming SecretBytes,
        of service: OnlineService
    ) -> OnlineQuestion {
        OnlineQuestion(
            .answer(user: user), of: service, clientSecret: nil, session: state, password: password, answers: answers)
    }

    package static func check(
        _ session: consuming SecretBytes, of service: OnlineService, clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(.check, of: service, clientSecret: clientSecret, session: session)
    }

    package static func refresh(
        _ session: consuming SecretBytes, of service: OnlineService, clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(.refresh, of: service, clientSecret: clientSecret, session: session)
    }

    package static func narrow(
        _ session: consuming SecretBytes, to narrowing: TokenNarrowing, of service: OnlineService,
        clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(.narrow(narrowing), of: service, clientSecret: clientSecret, session: session)
    }

    /// - Parameters user, password: For a server that wants the password again (`SendAuthorizationHeaderInLogout`).
    package static func logout(
        _ session: consuming SecretBytes, user: String? = nil, password: consuming SecretBytes? = nil,
        of service: OnlineService, clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(
            .logout(user: user), of: service, clientSecret: clientSecret, session: session, password: password)
    }

    package static func profile(of service: OnlineService) -> OnlineQuestion {
        OnlineQuestion(.profile, of: service, clientSecret: nil)
    }

    package static func endpoints(of service: OnlineService) -> OnlineQuestion {
        OnlineQuestion(.endpoints, of: service, clientSecret: nil)
    }

    package static func tryCertificate(of service: OnlineService) -> OnlineQuestion {
        OnlineQuestion(.tryCertificate, of: service, clientSecret: nil)
    }

    package static func grant(of service: OnlineService, clientSecret: consuming SecretBytes) -> OnlineQuestion {
        OnlineQuestion(.grant, of: service, clientSecret: clientSecret)
    }

    /// - Parameters:
    ///   - token: The token of the registration; of a new one the initial access token, or empty.
    ///   - statement: The software statement of a new registration, or empty.
    package static func client(
        _ step: ClientStep, token: consuming SecretBytes, statement: consuming SecretBytes, of service: OnlineService
    ) -> OnlineQuestion {
        OnlineQuestion(.client(step), of: service, clientSecret: nil, session: token, answers: statement)
    }

    package static func introspect(
        _ session: consuming SecretBytes, of service: OnlineService, clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(.introspect, of: service, clientSecret: clientSecret, session: session)
    }

    package static func userInfo(_ session: consuming SecretBytes, of service: OnlineService) -> OnlineQuestion {
        OnlineQuestion(.userInfo, of: service, clientSecret: nil, session: session)
    }

    package static func endSession(
        page: String, path: String, user: UInt32, idToken: consuming SecretBytes, of service: OnlineService
    ) -> OnlineQuestion {
        OnlineQuestion(.endSession(page: page, path: path, user: user), of: service, clientSecret: nil, session: idToken)
    }

    package static func authorize(
        _ user: String?, within seconds: UInt32, byDevice: Bool, of service: OnlineService,
        clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(.authorize(user: user, seconds: seconds, byDevice: byDevice), of: service, clientSecret: clientSecret)
    }

    /// - Parameter actor: Empty, unless `asked` has a type for it.
    package static func exchange(
        _ subject: consuming SecretBytes, actor: consuming SecretBytes, for asked: TokenExchange, of service: OnlineService,
        clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(.exchange(asked), of: service, clientSecret: clientSecret, subject: subject, actor: actor)
    }

    /// - Parameter kind: Nil for a JWT that the client's key signs. The assertion is empty then.
    package static func assertion(
        _ assertion: consuming SecretBytes, _ kind: AssertionKind?, user: String?, keepsSession: Bool, of service: OnlineService,
        clientSecret: consuming SecretBytes? = nil
    ) -> OnlineQuestion {
        OnlineQuestion(
            .assertion(user: user, kind, keepsSession: keepsSession), of: service, clientSecret: clientSecret, subject: assertion)
    }

    /// The longest time that the answer may take, in milliseconds. A login at the server's own pages has the person's time, and the
    /// server's before it, after it, and for giving tokens back.
    var longest: Int64 {
        if case .endSession = task { return OnlineTask.redirectTime }
        let total = Int64(service.deadlines.total)
        return task.personSeconds == 0 ? total : 3 * total + Int64(task.personSeconds) * 1_000
    }

    /// The identities that must sign before the server can answer: the one of the certificate, and for new tokens, and for a question
    /// about one, the one that proves the client. None to check a live session of OAuth, whose token may need no server.
    var neededIdentities: [String] {
        let shown = service.chain.map { [$0.identity] } ?? []
        switch (service.kind, task) {
        case (.oauth, .check): return []
        default: return shown + (keyOfClient.map { [$0] } ?? [])
        }
    }

    /// The identity that must sign for new tokens, or for a question about one. Nil for another question, and if a secret could prove the client too.
    private var keyOfClient: String? {
        guard case .oauth(let oauth) = service.kind, oauth.proof.method == .signedAssertion || clientSecret.count == 0 else {
            return nil
        }
        switch task {
        case .refresh, .narrow, .introspect: return service.assertionKey
        default: return nil
        }
    }
    /// The address that it names beside the service.
    package var address: String? { if case .client(let step) = task { step.address } else { nil } }

    /// Whether a browser on this machine may bring the answer to it.
    var takesBrowser: Bool {
        switch task {
        case .authorize(_, _, byDevice: false), .endSession: true
        default: false
        }
    }

    /// The same question about a server of which more is known.
    consuming func about(_ service: OnlineService) -> OnlineQuestion {
        self.service = service
        return self
    }

    /// The same question, with the key to which the tokens are bound.
    consuming func bound(to key: TokenKey?) -> OnlineQuestion {
        tokenKey = key
        if task.startsInBrowser { keyThumbprint = key?.thumbprint }
        return self
    }

    private init(
        _ task: OnlineTask, id: [UInt8] = Random.bytes(16), of service: OnlineService,
        clientSecret: consuming SecretBytes?, session: consuming SecretBytes? = nil,
        password: consuming SecretBytes? = nil, answers: consuming SecretBytes? = nil,
        subject: consuming SecretBytes? = nil, actor: consuming SecretBytes? = nil
    ) {
        self.id = id
        self.task = task
        self.service = service
        self.clientSecret = clientSecret ?? SecretBytes(copying: [])
        self.session = session ?? SecretBytes(copying: [])
        self.password = password ?? SecretBytes(copying: [])
        self.answers = answers ?? SecretBytes(copying: [])
        self.subject = subject ?? SecretBytes(copying: [])
        self.actor = actor ?? SecretBytes(copying: [])
    }

    /// Nil if a part of the question is longer than the protocol allows.
    borrowing func encoded() -> SecretBuffer? {
        guard service.fitsWire, task.user?.utf8.count ?? 0 <= UInt16.max, session.count <= Self.maximumSession,
            password.count <= Self.maximumSecret, clientSecret.count <= Self.maximumSecret,
            [answers.count, subject.count, actor.count].allSatisfy({ $0 <= Self.maximumSecret })
        else { return nil }
        var body = SecretBuffer()
        body.write(WireID(id))
        body.write(service, clientSecret: clientSecret)
        switch task {
        case .login(let user):
            body.write(tag: 1, user)
            body.write(password)
        case .check:
            body.write(tag: 2)
            body.write(session)
        case .refresh:
            body.write(tag: 3)
            body.write(session)
        case .logout(let user):
            body.write(tag: 4)
            body.write(session)
            body.write(user)
            if user != nil { body.write(password) }
        case .profile: body.write(tag: 5)
        case .answer(let user):
            body.write(tag: 6)
            body.write(session)
            body.write(answers)
            body.write(user)
            body.write(password)
        case .endpoints: body.write(tag: 7)
        case .grant: body.write(tag: 8)
        case .authorize(let user, let seconds, let byDevice):
            body.write(tag: 9, user, seconds, byDevice)
            if service.isBoundToKey { body.write(keyThumbprint ?? "") }
        case .introspect:
            body.write(tag: 10)
            body.write(session)
        case .userInfo:
            body.write(tag: 11)
            body.write(session)
        case .endSession(let page, let path, let user):
            body.write(tag: 12, page, path, user)
            body.write(session)
        case .client(let step):
            body.write(tag: 16)
            body.write(session)
            body.write(answers)
            body.write(step)
        case .exchange(let asked):
            body.write(tag: 14, asked)
            body.write(subject)
            body.write(actor)
        case .assertion(let user, let kind, let keepsSession):
            body.write(tag: 15, user, kind, keepsSession)
            body.write(subject)
        case .tryCertificate: body.write(tag: 17)
        case .narrow(let narrowing):
            body.write(tag: 20)
            body.write(session)
            body.write(narrowing)
        }
        guard body.count <= Self.maximumBody else { return nil }
        return body
    }

    /// - Throws: For a body that is not exactly what docs/formats/online-protocol.md allows.
    init(decoding bytes: Span<UInt8>) throws(MalformedBytes) {
        var wire = WireReader(bytes)
        let id = try wire.read(WireID.self).bytes
        let asked = try DecodedService(from: &wire)
        var session = SecretBytes(copying: [])
        var answers = SecretBytes(copying: []), subject = SecretBytes(copying: []), actor = SecretBytes(copying: [])
        var thumbprint: String?
        let task: OnlineTask
        switch try wire.read(UInt8.self) {
        case 1: task = .login(user: try wire.read())
        case 2:
            task = .check
            session = try wire.secret(upTo: Self.maximumSession)
        case 3:
            task = .refresh
            session = try wire.secret(upTo: Self.maximumSession)
        case 4:
            session = try wire.secret(upTo: Self.maximumSession)
            task = .logout(user: try wire.read())
        case 5: task = .profile
        case 6:
            session = try wire.secret(upTo: Self.maximumSession)
            answers = try wire.secret(upTo: Self.maximumSecret)
            task = .answer(user: try wire.read())
        case 7: task = .endpoints
        case 8: task = .grant
        case 9:
            task = .authorize(user: try wire.read(), seconds: try wire.read(), byDevice: try wire.read())
            if asked.service.isBoundToKey { thumbprint = try wire.read(String.self) }
        case 10:
            task = .introspect
            session = try wire.secret(upTo: Self.maximumSession)
        case 11:
            task = .userInfo
            session = try wire.secret(upTo: Self.maximumSession)
        case 12:
            task = .endSession(page: try wire.read(), path: try wire.read(), user: try wire.read())
            session = try wire.secret(upTo: Self.maximumSession)
        case 16:
            session = try wire.secret(upTo: Self.maximumSession)
            answers = try wire.secret(upTo: Self.maximumSecret)
            task = .client(try wire.read())
        case 14:
            let asked: TokenExchange = try wire.read()
            task = .exchange(asked)
            subject = try wire.secret(upTo: Self.maximumSecret)
            actor = try wire.secret(upTo: Self.maximumSecret)
            guard asked.actorType != nil || actor.count == 0 else { throw MalformedBytes() }
        case 15:
            task = .assertion(user: try wire.read(), try wire.read(), keepsSession: try wire.read())
            subject = try wire.secret(upTo: Self.maximumSecret)
            guard !task.mintsGrant || subject.count == 0 else { throw MalformedBytes() }
        case 17: task = .tryCertificate
        case 20:
            session = try wire.secret(upTo: Self.maximumSession)
            task = .narrow(try wire.read())
        default: throw MalformedBytes()
        }
        guard task.fits(asked.service) else { throw MalformedBytes() }
        let password = task.user == nil ? nil : try wire.secret(upTo: Self.maximumSecret)
        try wire.end()
        self.init(
            task, id: id, of: asked.service, clientSecret: asked.clientSecret, session: session, password: password,
            answers: answers, subject: subject, actor: actor)
        keyThumbprint = thumbprint
    }
}

extension AssertionKind: WireValue {}

/// subject type ‖ optional actor type ‖ optional resource ‖ optional audience
extension TokenExchange: WireValue {
    func write(to body: inout SecretBuffer) { body.write(subjectType, actorType, resource, audience) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (subject, actor): (String, String?) = (try wire.read(), try wire.read())
        let (resource, audience): (String?, String?) = (try wire.read(), try wire.read())
        let exchange = TokenExchange(subjectType: subject, actorType: actor, resource: resource, audience: audience)
        // A type is written whole.
        guard let exchange, exchange.subjectType == subject, exchange.actorType == actor else { throw MalformedBytes() }
        self = exchange
    }
}
