// The online helper's answer. Format: docs/online-protocol.md, "Answer".

public import OMRecords
public import OMSecrets

/// What became of a question. Only ``accepted(_:)`` is a yes.
public enum OnlineReply: ~Copyable, Sendable {
    case accepted(OnlineAcceptance)
    case refused(OnlineRefusal)

    /// What the server granted.
    ///
    /// - Throws: what came instead.
    public consuming func get() throws(OnlineRefusal) -> OnlineAcceptance {
        switch consume self {
        case .accepted(let acceptance): return acceptance
        case .refused(let refusal): throw refusal
        }
    }

    /// The frame's body: an answer to the question with this number.
    consuming func encoded(_ number: [UInt8]) -> SecretBuffer {
        var body = SecretBuffer()
        body.append(number.span)
        switch consume self {
        case .accepted(let acceptance):
            body.append(0)
            acceptance.append(to: &body)
        case .refused(let refusal): body.append(refusal: refusal)
        }
        return body
    }

    /// - Throws: for a body that is not exactly what the page allows, for the answer to another question, and for more or
    ///   less than was asked.
    static func decode(
        _ bytes: Span<UInt8>, to number: [UInt8], _ task: OnlineTask
    ) throws(MalformedBytes) -> OnlineReply {
        var cursor = ByteCursor()
        guard try cursor.take(16, in: bytes) == number else { throw MalformedBytes() }
        let reply = try decode(bytes, &cursor, task)
        try cursor.end(in: bytes)
        return reply
    }

    private static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout ByteCursor, _ task: OnlineTask
    ) throws(MalformedBytes) -> OnlineReply {
        let tag = try cursor.byte(in: bytes)
        guard tag != 0 else { return .accepted(try OnlineAcceptance(in: bytes, &cursor, to: task)) }
        return .refused(try cursor.refusal(tag, in: bytes))
    }
}

/// What a server granted.
public struct OnlineAcceptance: ~Copyable, Sendable {
    /// What proves the login from here on; nil when there is none, or the old one stays.
    public let session: SecretBytes?
    /// Seconds that the server gives the session.
    public let lifetime: UInt32?
    /// The server's clock, when TLS vouches for it.
    public let serverTime: Int64?
    /// What the server says about the login, or why it could not be asked.
    public let profile: ProfileAnswer

    public init(
        session: consuming SecretBytes?, lifetime: UInt32? = nil, serverTime: Int64? = nil,
        profile: ProfileAnswer = .notAsked
    ) {
        self.session = session
        self.lifetime = lifetime
        self.serverTime = serverTime
        self.profile = profile
    }

    public consuming func takeSession() -> SecretBytes? { session }

    /// Attack: a helper that was taken over hands out what nobody asked for. A login's answer has a session, a session
    /// comes with nothing but a login, a check or new tokens, and a profile with nothing but a login or its own question.
    fileprivate init(
        in bytes: Span<UInt8>, _ cursor: inout ByteCursor, to task: OnlineTask
    ) throws(MalformedBytes) {
        var held = SecretBuffer()
        let hasSession = try cursor.flag(in: bytes)
        if hasSession { held.append(try cursor.secret(upTo: OnlineQuestion.maximumSession, in: bytes)) }
        let lifetime = try cursor.flag(in: bytes) ? try cursor.number(UInt32.self, in: bytes) : nil
        let time = try cursor.flag(in: bytes) ? try cursor.number(UInt64.self, in: bytes) : nil
        guard time ?? 0 <= 1 << 53 else { throw MalformedBytes() }
        let profile = try cursor.profileAnswer(in: bytes)
        let isFitting =
            switch task {
            case .login: hasSession
            case .check: profile == .notAsked
            case .refresh: hasSession && profile == .notAsked
            case .logout: !hasSession && profile == .notAsked
            case .profile: !hasSession && profile.profile != nil
            }
        guard isFitting else { throw MalformedBytes() }
        self.lifetime = lifetime
        serverTime = time.map { Int64($0) }
        self.profile = profile
        if hasSession { session = held.finish() } else { session = nil }
    }

    fileprivate consuming func append(to body: inout SecretBuffer) {
        let (lifetime, serverTime, profile) = (lifetime, serverTime, profile)
        if let session = takeSession() {
            body.append(1)
            body.append(counted: session)
        } else {
            body.append(0)
        }
        body.append(optional: lifetime) { $0.append(number: $1) }
        body.append(optional: serverTime) { $0.append(number: $1) }
        body.append(answer: profile)
    }
}

extension SecretBuffer {
    mutating func append(refusal: OnlineRefusal) {
        switch refusal {
        case .rejected: append(1)
        case .forbidden(let cause):
            append(2)
            append(cause.rawValue)
        case .blocked: append(3)
        case .unreachable(let cause):
            append(4)
            append(cause.rawValue)
        case .untrusted(let cause):
            append(5)
            append(cause.rawValue)
        case .failed(let failure, let status, let wait):
            append(6)
            append(failure.rawValue)
            append(optional: status) { $0.append(number: $1) }
            append(optional: wait) { $0.append(number: $1) }
        }
    }

    fileprivate mutating func append(answer: ProfileAnswer) {
        switch answer {
        case .notAsked: append(0)
        case .given(let profile):
            append(1)
            append(profile: profile)
        case .missing(let refusal):
            append(2)
            append(refusal: refusal)
        }
    }

    private mutating func append(profile: ServerProfile) {
        append(number: profile.epoch)
        append(optional: profile.application) { $0.append(text: $1) }
        append(UInt8(profile.values.count))
        for (place, key) in ServerProfile.keys.enumerated() {
            guard let value = profile.values[key] else { continue }
            append(UInt8(place))
            append(text: value)
        }
    }
}

extension ByteCursor {
    /// - Parameter tag: the outcome's, already read.
    mutating func refusal(_ tag: UInt8, in bytes: Span<UInt8>) throws(MalformedBytes) -> OnlineRefusal {
        switch tag {
        case 1: return .rejected
        case 2: return .forbidden(try cause(in: bytes))
        case 3: return .blocked
        case 4:
            let cause: UnreachableCause = try cause(in: bytes)
            guard cause != .noHelper else { throw MalformedBytes() }
            return .unreachable(cause)
        case 5: return .untrusted(try cause(in: bytes))
        case 6:
            let failure: OnlineFailure = try cause(in: bytes)
            let status = try flag(in: bytes) ? try number(UInt16.self, in: bytes) : nil
            let wait = try flag(in: bytes) ? try number(UInt32.self, in: bytes) : nil
            return .failed(failure, status: status, retryAfter: wait)
        default: throw MalformedBytes()
        }
    }

    fileprivate mutating func cause<Cause: RawRepresentable<UInt8>>(
        in bytes: Span<UInt8>
    ) throws(MalformedBytes) -> Cause {
        guard let cause = Cause(rawValue: try byte(in: bytes)) else { throw MalformedBytes() }
        return cause
    }

    fileprivate mutating func profileAnswer(in bytes: Span<UInt8>) throws(MalformedBytes) -> ProfileAnswer {
        switch try byte(in: bytes) {
        case 0: return .notAsked
        case 1: return .given(try profile(in: bytes))
        case 2:
            let refusal = try refusal(try byte(in: bytes), in: bytes)
            // Nobody was asked about a password, so nobody refused one.
            guard !refusal.isVerdict else { throw MalformedBytes() }
            return .missing(refusal)
        default: throw MalformedBytes()
        }
    }

    private mutating func profile(in bytes: Span<UInt8>) throws(MalformedBytes) -> ServerProfile {
        let epoch = try number(UInt64.self, in: bytes)
        guard epoch <= ServerProfile.lastEpoch else { throw MalformedBytes() }
        let application = try optionalText(in: bytes)
        var values: [String: String] = [:]
        var last = -1
        for _ in 0..<(try byte(in: bytes)) {
            let place = Int(try byte(in: bytes))
            guard place > last, place < ServerProfile.keys.count else { throw MalformedBytes() }
            last = place
            let value = try text(in: bytes)
            guard value.utf8.count <= 256 else { throw MalformedBytes() }
            values[ServerProfile.keys[place]] = value
        }
        return ServerProfile(epoch: epoch, application: application, values: values)
    }
}
