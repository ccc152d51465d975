// Answers as frames. Format: docs/formats/agent-protocol.md, "Replies".

internal import OMAgentProtocol
internal import OMItems
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMVault

extension AgentReply: FrameReply {
    consuming func encode(into body: inout SecretBuffer) -> FrameKind {
        switch consume self {
        case .done: return .done
        case .otherVersion(let version):
            body.write(version)
            return .otherVersion
        case .busy: return .busy
        case .refused: return .refused
        case .status(let status):
            body.write(status)
            return .agentStatus
        case .reply(let reply):
            reply.encode(into: &body)
            return .reply
        case .failure(let error):
            body.write(error)
            return .failure
        case .locked(let state):
            body.write(state)
            return .locked
        case .full: return .full
        case .unlocked(let vault):
            body.write(vault)
            return .unlocked
        case .rememberingKey(let key):
            key.withExposedBytes { body.append($0) }
            return .rememberingKeyIs
        case .sync(let sync):
            body.write(sync)
            return .sync
        case .session(let session):
            body.write(session)
            return .session
        case .noSession: return .noSession
        case .sessionRefused(let refusal):
            body.write(refusal)
            return .sessionRefused
        case .sessionEnded(let ending, let address):
            body.write(ending, address)
            return .sessionEnded
        case .sessions(let sessions):
            body.write(shortList: sessions)
            return .sessionList
        case .token(let token, let left, let state):
            body.write(token)
            body.write(left, state)
            return .tokenGiven
        case .tokenRefused(let refusal):
            body.write(refusal)
            return .tokenRefused
        case .signed(let signature):
            body.write(signature)
            return .signed
        case .notSigned(let cause):
            body.write(cause)
            return .notSigned
        case .sshKeys(let keys):
            body.write(shortList: keys)
            return .sshKeysGiven
        case .claims(let claims):
            body.write(claims)
            return .claimsGiven
        case .knownToken(let token):
            body.write(token)
            return .knownTokenGiven
        case .requester(let requester):
            body.write(WireID(requester.mark), requester.kind)
            return .requester
        case .foreignOrigin: return .foreignOrigin
        }
    }

    package static func decode(_ kind: UInt8, _ bytes: Span<UInt8>) throws(MalformedBytes) -> AgentReply {
        switch FrameKind(rawValue: kind) {
        case .reply, .failure, .locked: return AgentReply(try AgentItemReply.decode(kind, bytes))
        default: break
        }
        var wire = WireReader(bytes)
        let reply = try decode(kind, &wire)
        try wire.end()
        return reply
    }

    private static func decode(_ kind: UInt8, _ wire: inout WireReader) throws(MalformedBytes) -> AgentReply {
        switch FrameKind(rawValue: kind) {
        case .done: .done
        case .otherVersion: .otherVersion(try wire.read())
        case .busy: .busy
        case .refused: .refused
        case .agentStatus: .status(try wire.read())
        case .full: .full
        case .unlocked: .unlocked(try wire.read())
        case .rememberingKeyIs: .rememberingKey(try wire.key())
        case .sync: .sync(try wire.read())
        case .session: .session(try wire.read())
        case .noSession: .noSession
        case .sessionRefused: .sessionRefused(try wire.read())
        case .sessionEnded: .sessionEnded(try wire.read(), address: try wire.read())
        case .sessionList: .sessions(try wire.shortList())
        case .tokenGiven: .token(try wire.read(), left: try wire.secondsLeft(), try wire.read())
        case .tokenRefused: .tokenRefused(try wire.read())
        case .signed: .signed(try wire.secret(upTo: 64 << 10))
        case .notSigned: .notSigned(try wire.signingProblem())
        case .sshKeysGiven: .sshKeys(try wire.shortList(upTo: SSHKeyItem.most))
        case .claimsGiven: .claims(try wire.secret(upTo: OnlineAcceptance.longestClaims))
        case .foreignOrigin: .foreignOrigin
        default: throw MalformedBytes()
        }
    }

    private init(_ reply: consuming AgentItemReply) {
        switch consume reply {
        case .reply(let reply): self = .reply(reply)
        case .failure(let error): self = .failure(error)
        case .locked(let state): self = .locked(state)
        }
    }

    /// The descriptor that goes with the frame. It stays open as long as this value.
    var requester: Requester? {
        switch self {
        case .requester(let requester): requester
        default: nil
        }
    }

    /// The approximate length of the body, so that a long list is written without moving it again and again.
    var expectedCount: Int {
        switch self {
        case .reply(.items(let items)):
            items.reduce(256) { sum, item in
                item.fields.reduce(sum + item.name.text.utf8.count + 64) { $0 + $1.name.text.utf8.count + 8 }
            }
        case .reply(.names(let names, _)): names.lines.count + 16
        default: 256
        }
    }
}

/// paths ‖ state (1) ‖ idle (4) ‖ hard (4)
extension AgentStatus.VaultStatus: WireValue {
    func write(to body: inout SecretBuffer) { body.write(paths, state, idleLeft, hardLeft) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(paths: try wire.read(), state: try wire.read(), idleLeft: try wire.read(), hardLeft: try wire.read())
    }
}

/// process (4) ‖ memory (1) ‖ idle (4) ‖ hard (4) ‖ count (2) ‖ vaults
extension AgentStatus: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(process, memory, idle, hard)
        body.write(shortList: vaults)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self.init(
            process: try wire.read(), memory: try wire.read(), idle: try wire.read(), hard: try wire.read(),
            vaults: try wire.shortList())
        guard memory <= 2, process > 0 else { throw MalformedBytes() }
    }
}

extension WireReader {
    /// Why there is no signature.
    @_lifetime(self: copy self)
    mutating func signingProblem() throws(MalformedBytes) -> OnlineFailure {
        let cause: OnlineFailure = try read()
        guard OnlineFailure.ofSigning.contains(cause) else { throw MalformedBytes() }
        return cause
    }
}
