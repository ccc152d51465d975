// Questions for access tokens, and their answers, as frames. Format: docs/formats/agent-protocol.md, "Access tokens".

internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets

extension TokenStatus: WireValue {}
extension TokenInquiry: WireValue {}
extension TokenKind: WireValue {}

/// 0 never, 1 confirm, 2 allow
extension TokenRelease: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .never: body.write(tag: 0)
        case .confirm: body.write(tag: 1)
        case .allow: body.write(tag: 2)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0: self = .never
        case 1: self = .confirm
        case 2: self = .allow
        default: throw MalformedBytes()
        }
    }
}

/// scopes ‖ least life (4) ‖ needs it ‖ fresh ‖ agreed ‖ optional narrowing ‖ ID token
extension TokenQuestion: WireValue {
    func write(to body: inout SecretBuffer) { body.write(scopes, atLeast, needsLife, isFresh, isAgreed, narrowing, isForIDToken) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let (scopes, atLeast): (ScopeSet, UInt32) = (try wire.read(), try wire.read())
        guard atLeast <= Self.longest else { throw MalformedBytes() }
        let (needsLife, isFresh, isAgreed): (Bool, Bool, Bool) = (try wire.read(), try wire.read(), try wire.read())
        let (narrowing, isForIDToken): (TokenNarrowing?, Bool) = (try wire.read(), try wire.read())
        guard !isForIDToken || narrowing == nil else { throw MalformedBytes() }
        self.init(
            scopes: scopes, atLeast: atLeast, needsLife: needsLife, isFresh: isFresh, narrowing: narrowing, isAgreed: isAgreed,
            isForIDToken: isForIDToken)
    }
}

/// scopes ‖ optional left (8) ‖ kind
extension HeldToken: WireValue {
    func write(to body: inout SecretBuffer) { body.write(scopes, left, kind) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(scopes: try wire.read(), left: try wire.secondsLeft(), kind: try wire.read())
    }
}

/// tag, and the value of its case
extension TokenRefusal: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .never: body.write(tag: 0)
        case .unconfirmed: body.write(tag: 1)
        case .scopes(let held): body.write(tag: 2, held)
        case .noToken: body.write(tag: 3)
        case .dead: body.write(tag: 4)
        case .server(let refusal): body.write(tag: 5, refusal)
        case .otherScopes(let given): body.write(tag: 6, given)
        case .noIDToken: body.write(tag: 7)
        case .bound: body.write(tag: 8)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0: self = .never
        case 1: self = .unconfirmed
        case 2: self = .scopes(held: try wire.read())
        case 3: self = .noToken
        case 4: self = .dead
        case 5: self = .server(try wire.read())
        case 6: self = .otherScopes(given: try wire.read())
        case 7: self = .noIDToken
        case 8: self = .bound
        default: throw MalformedBytes()
        }
    }
}

extension WireReader {
    /// The seconds that something has left, of which 0 is possible.
    @_lifetime(self: copy self)
    mutating func secondsLeft() throws(MalformedBytes) -> Int64? {
        let seconds: Int64? = try read()
        guard (0...1 << 40).contains(seconds ?? 0) else { throw MalformedBytes() }
        return seconds
    }
}

extension AgentReply {
    init(_ claims: consuming TokenClaims) {
        switch consume claims {
        case .given(let claims): self = .claims(claims)
        case .none: self = .noSession
        case .noToken: self = .tokenRefused(.noToken)
        case .refused(let refusal): self = .sessionRefused(refusal)
        }
    }

    init(_ result: SessionCheckResult) {
        switch result {
        case .valid(let session): self = .session(session)
        case .none: self = .noSession
        case .refused(let refusal): self = .sessionRefused(refusal)
        }
    }
}
