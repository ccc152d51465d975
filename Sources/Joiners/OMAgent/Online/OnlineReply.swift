// The online helper's answer. Format: docs/formats/online-protocol.md, "Answer".

internal import OMAgentProtocol
internal import OMAuth
package import OMOnlineModel
internal import OMRecords
package import OMSecrets

/// The answer to a question. Only ``accepted(_:)`` is a yes.
package enum OnlineReply: ~Copyable, Sendable {
    case accepted(OnlineAcceptance)
    case refused(OnlineRefusal)
    /// The server asks the user these questions. `state` goes back with the answers.
    case asked([String], state: SecretBytes)

    /// The most questions of one answer.
    static let maximumQuestions = 8
    /// The most bytes of a question.
    static let longestQuestion = 512

    /// The acceptance, if there is one.
    ///
    /// - Throws: The refusal.
    package consuming func get() throws(OnlineRefusal) -> OnlineAcceptance {
        switch consume self {
        case .accepted(let acceptance): return acceptance
        case .refused(let refusal): throw refusal
        case .asked: throw .failed(.challenge)
        }
    }

    /// Whether it brings an access token.
    var hasAccess: Bool {
        switch self {
        case .accepted(let acceptance):
            switch acceptance.access {
            case .some: true
            case .none: false
            }
        case .refused: false
        case .asked: false
        }
    }

    /// The frame's body: an answer to the question with this id.
    consuming func encoded(_ id: [UInt8], _ task: OnlineTask) -> SecretBuffer {
        var body = SecretBuffer()
        body.write(WireID(id))
        switch consume self {
        case .accepted(let acceptance):
            body.write(tag: 0)
            acceptance.write(to: &body, to: task)
        case .refused(let refusal): body.write(refusal)
        case .asked(let questions, let state):
            body.write(tag: 7)
            body.write(state)
            body.write(shortList: questions)
        }
        return body
    }

    /// - Throws: For a body that is not exactly what docs/formats/online-protocol.md allows. Also for the answer to another
    ///   question, and for more or less than the question asked for.
    static func decode(
        _ bytes: Span<UInt8>, to id: [UInt8], _ task: OnlineTask
    ) throws(MalformedBytes) -> OnlineReply {
        var wire = WireReader(bytes)
        guard try wire.read(WireID.self).bytes == id else { throw MalformedBytes() }
        let tag: UInt8 = try wire.read()
        let reply: OnlineReply =
            switch tag {
            case 0: .accepted(try OnlineAcceptance(from: &wire, to: task))
            case 7: try asked(from: &wire, to: task)
            default: .refused(try OnlineRefusal(tag, from: &wire))
            }
        try wire.end()
        return reply
    }

    private static func asked(from wire: inout WireReader, to task: OnlineTask) throws(MalformedBytes) -> OnlineReply {
        let state = try wire.secret(upTo: OnlineQuestion.maximumSession)
        let questions: [String] = try wire.shortList(upTo: maximumQuestions)
        let isLogin =
            switch task {
            case .login, .answer: true
            default: false
            }
        guard isLogin, !questions.isEmpty, questions.allSatisfy({ (1...longestQuestion).contains($0.utf8.count) }) else {
            throw MalformedBytes()
        }
        return .asked(questions, state: state)
    }
}

extension OnlineAcceptance {
    /// Attack: an attacker has taken over the helper, which then returns data that was not asked for. A login's answer
    /// must have a session. Only a login, a check or a refresh can return a session. Only a login or its own question
    /// can return a profile. An access token comes with a session, or answers the question for it.
    fileprivate init(from wire: inout WireReader, to task: OnlineTask) throws(MalformedBytes) {
        let hasSession: Bool = try wire.read()
        let session = hasSession ? try wire.secret(upTo: OnlineQuestion.maximumSession) : nil
        let (lifetime, time): (UInt32?, UInt64?) = (try wire.read(), try wire.read())
        guard time ?? 0 <= 1 << 53 else { throw MalformedBytes() }
        let profile: ProfileAnswer = try wire.read()
        let hasAccess: Bool = try wire.read()
        let access = hasAccess ? try AccessToken(from: &wire) : nil
        let isFitting =
            switch task {
            case .login: hasSession
            case .answer: hasSession && !hasAccess
            case .check: profile == .notAsked && (hasSession || !hasAccess)
            case .refresh: hasSession && profile == .notAsked
            case .narrow: hasSession && hasAccess && profile == .notAsked
            case .logout, .introspect, .userInfo, .endSession, .tryCertificate: !hasSession && !hasAccess && profile == .notAsked
            case .profile: !hasSession && !hasAccess && profile.profile != nil
            case .endpoints: !hasSession && !hasAccess && profile == .notAsked
            case .grant: !hasSession && hasAccess && profile == .notAsked
            case .authorize, .exchange: hasSession && hasAccess && profile == .notAsked
            case .assertion(_, _, let keepsSession): hasSession == keepsSession && hasAccess && profile == .notAsked
            case .client(.remove): !hasSession && !hasAccess && profile == .notAsked
            case .client: profile == .notAsked
            }
        guard isFitting else { throw MalformedBytes() }
        var user: NamedUser?
        if task.namesUser { user = try wire.read() }
        var endpoints: [ServerEndpoint]?
        if task == .endpoints {
            let list: [ServerEndpoint] = try wire.shortList(upTo: ServerEndpoint.Kind.allCases.count)
            guard ServerEndpoint.isOrdered(list) else { throw MalformedBytes() }
            endpoints = list
        }
        let claims = task.hasClaims ? try Self.claims(from: &wire) : nil
        var client: ClientRegistration?
        if task.bringsClient { client = try wire.read(ClientRegistration.self) }
        let trial = task == .tryCertificate ? try wire.read(CertificateTrial.self) : nil
        self.init(
            session: session, access: access, lifetime: lifetime, serverTime: time.map { Int64($0) }, profile: profile,
            endpoints: endpoints, user: user, claims: claims, client: client, trial: trial)
    }

    private static func claims(from wire: inout WireReader) throws(MalformedBytes) -> SecretBytes {
        let claims = try wire.secret(upTo: longestClaims)
        guard claims.count > 0 else { throw MalformedBytes() }
        return claims
    }

    fileprivate borrowing func write(to body: inout SecretBuffer, to task: OnlineTask) {
        body.write(session)
        body.write(lifetime, serverTime, profile)
        body.write(access)
        if task.namesUser { body.write(user) }
        if let endpoints { body.write(shortList: endpoints) }
        switch claims {
        case .some(let claims): body.write(claims)
        case .none: break
        }
        if task.bringsClient, let client { body.write(client) }
        if task == .tryCertificate, let trial { body.write(trial) }
    }
}

/// secret ‖ scopes ‖ optional secret: ID token
extension AccessToken: WireValue {
    borrowing func write(to body: inout SecretBuffer) {
        body.write(value)
        body.write(shortList: scopes.names)
        body.write(idToken.count > 0)
        if idToken.count > 0 { body.write(idToken) }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let value = try wire.secret(upTo: Self.longest)
        let scopes: ScopeSet = try wire.read()
        let hasIDToken: Bool = try wire.read()
        let idToken = hasIDToken ? try wire.secret(upTo: Self.longest) : SecretBytes(copying: [])
        guard value.count > 0, hasIDToken == (idToken.count > 0) else { throw MalformedBytes() }
        self.init(value, scopes: scopes, idToken: idToken)
    }
}

/// name ‖ subject
extension NamedUser: WireValue {
    func write(to body: inout SecretBuffer) { body.write(name, subject) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (name, subject): (String, String) = (try wire.read(), try wire.read())
        guard [name, subject].allSatisfy({ (1...Self.longest).contains($0.utf8.count) }) else { throw MalformedBytes() }
        self.init(name, subject: subject)
    }
}

/// texts, in the order of their bytes, each once
extension ScopeSet: WireValue {
    func write(to body: inout SecretBuffer) { body.write(shortList: names) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let names: [String] = try wire.shortList(upTo: Self.maximum)
        guard let scopes = ScopeSet(names), scopes.names == names else { throw MalformedBytes() }
        self = scopes
    }
}

/// scopes ‖ optional resource
extension TokenNarrowing: WireValue {
    func write(to body: inout SecretBuffer) { body.write(scopes, resource) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let narrowing = TokenNarrowing(scopes: try wire.read(), resource: try wire.read()) else { throw MalformedBytes() }
        self = narrowing
    }
}

// MARK: - Refusals

extension ForbiddenCause: WireValue {}
extension UntrustedCause: WireValue {}
extension OnlineFailure: WireValue {}

extension UnreachableCause: WireValue {
    init(from wire: inout WireReader) throws(MalformedBytes) {
        // A helper cannot report that there is no helper.
        guard let cause = UnreachableCause(rawValue: try wire.read()), cause != .noHelper else { throw MalformedBytes() }
        self = cause
    }
}

extension OnlineRefusal: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .rejected: body.write(tag: 1)
        case .forbidden(let cause): body.write(tag: 2, cause)
        case .blocked: body.write(tag: 3)
        case .unreachable(let cause): body.write(tag: 4, cause)
        case .untrusted(let cause): body.write(tag: 5, cause)
        case .failed(let failure, let status, let wait): body.write(tag: 6, failure, status, wait)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) { try self.init(try wire.read(UInt8.self), from: &wire) }

    fileprivate init(_ tag: UInt8, from wire: inout WireReader) throws(MalformedBytes) {
        switch tag {
        case 1: self = .rejected
        case 2: self = .forbidden(try wire.read())
        case 3: self = .blocked
        case 4: self = .unreachable(try wire.read())
        case 5: self = .untrusted(try wire.read())
        case 6: self = .failed(try wire.read(), status: try wire.read(), retryAfter: try wire.read())
        default: throw MalformedBytes()
        }
    }
}

// MARK: - The server's profile

extension ProfileAnswer: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .notAsked: body.write(tag: 0)
        case .given(let profile): body.write(tag: 1, profile)
        case .missing(let refusal): body.write(tag: 2, refusal)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0: self = .notAsked
        case 1: self = .given(try wire.read())
        case 2:
            let refusal: OnlineRefusal = try wire.read()
            // This question has no password, so the server cannot have refused one.
            guard !refusal.isDecision else { throw MalformedBytes() }
            self = .missing(refusal)
        default: throw MalformedBytes()
        }
    }
}

/// kind (1) ‖ address
extension ServerEndpoint: WireValue {
    func write(to body: inout SecretBuffer) { body.write(kind.rawValue, address) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let kind = Kind(rawValue: try wire.read()) else { throw MalformedBytes() }
        let address: String = try wire.read()
        guard (1...Self.longest).contains(address.utf8.count) else { throw MalformedBytes() }
        self.init(kind, address)
    }
}

/// epoch (8) ‖ optional application ‖ count (1) ‖ per value: the key's place in the list (1), rising ‖ text
extension ServerProfile: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(epoch, application, UInt8(values.count))
        for (place, key) in ServerProfile.keys.enumerated() {
            if let value = values[key] { body.write(UInt8(place), value) }
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let epoch: UInt64 = try wire.read()
        guard epoch <= ServerProfile.lastEpoch else { throw MalformedBytes() }
        let application: String? = try wire.read()
        var values: [String: String] = [:]
        var last = -1
        for _ in 0..<(try wire.read(UInt8.self)) {
            let place = Int(try wire.read(UInt8.self))
            guard place > last, place < ServerProfile.keys.count else { throw MalformedBytes() }
            last = place
            let value: String = try wire.read()
            guard value.utf8.count <= 256 else { throw MalformedBytes() }
            values[ServerProfile.keys[place]] = value
        }
        self.init(epoch: epoch, application: application, values: values)
    }
}
