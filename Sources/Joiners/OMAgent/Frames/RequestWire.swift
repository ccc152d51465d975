// Requests as frames. Format: docs/formats/agent-protocol.md, "Requests".

internal import OMAgentProtocol
internal import OMAuth
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMVault

extension AgentRequest {
    /// The frame's kind and body.
    consuming func encode(into body: inout SecretBuffer) -> FrameKind {
        switch consume self {
        case .stepDown: return .stepDown
        case .status: return .status
        case .unlock(let paths, let keys, let login, let idle, let hard):
            body.write(paths, WireID(keys.vault), keys.epoch, idle, hard, login.map { WireID($0) })
            keys.writeKeys(to: &body)
            return .unlock
        case .lock(let paths, let forgets):
            body.write(forgets, paths)
            return .lock
        case .lockOpened(let login):
            body.write(WireID(login))
            return .lockOpened
        case .perform(let paths, let request):
            body.write(paths)
            request.encode(into: &body)
            return .perform
        case .rememberingKey(let paths, let level):
            body.write(paths, level)
            return .rememberingKey
        case .syncStatus(let paths, let needsFacts):
            body.write(paths, needsFacts)
            return .syncStatus
        case .syncNow(let paths, let remote):
            body.write(paths, remote)
            return .syncNow
        case .keepSession(let kept):
            body.write(kept)
            return .keepSession
        case .restoreSession(let kept, let since):
            body.write(kept)
            body.write(since)
            return .restoreSession
        case .useSession(let login):
            body.write(login)
            return .useSession
        case .renewSession(let login, let newTokens):
            body.write(login, newTokens)
            return .renewSession
        case .endSession(let login, let waits, let inBrowser, let password):
            body.write(login, waits)
            body.write(password)
            body.write(inBrowser)
            return .endSession
        case .sessions: return .sessions
        case .token(let login, let question):
            body.write(login, question)
            return .token
        case .forgetToken(let login, let refused):
            body.write(login)
            body.write(refused)
            return .forgetToken
        case .sign(let paths, let identity, let use):
            body.write(paths, identity, use)
            return .sign
        case .sshKeys(let paths):
            body.write(paths)
            return .sshKeys
        case .signSSH(let paths, let signing):
            body.write(paths, signing)
            return .signSSH
        case .claims(let login, let inquiry):
            body.write(login, inquiry)
            return .claims
        case .request(let question):
            body.write(question)
            return .request
        case .knownToken(let question):
            body.write(question)
            return .knownToken
        case .profileReading(let login, let profile, let reading):
            body.write(login, profile, reading)
            return .profileReading
        case .compareSession(let login):
            body.write(login)
            return .compareSession
        }
    }

    /// - Throws: For a kind that no client sends, and for a body that is not exactly what docs/formats/agent-protocol.md allows.
    ///
    /// - Parameter descriptors: Those that came with the frame.
    static func decode(
        _ kind: UInt8, _ bytes: Span<UInt8>, _ descriptors: ReceivedDescriptors? = nil
    ) throws(MalformedBytes) -> AgentRequest {
        var wire = WireReader(bytes, descriptors)
        let request = try decode(kind, &wire)
        try wire.end()
        return request
    }

    private static func decode(_ kind: UInt8, _ wire: inout WireReader) throws(MalformedBytes) -> AgentRequest {
        switch FrameKind(rawValue: kind) {
        case .stepDown: return .stepDown
        case .status: return .status
        case .unlock:
            let paths: VaultPaths = try wire.read()
            var keys = ClassKeys(vault: try wire.read(WireID.self).bytes, epoch: try wire.read())
            let (idle, hard): (UInt32, UInt32) = (try wire.read(), try wire.read())
            let login = try wire.read(WireID?.self)?.bytes
            try keys.readKeys(from: &wire)
            return .unlock(paths, keys, openedBy: login, idle: idle, hard: hard)
        case .syncStatus: return .syncStatus(try wire.read(), needsFacts: try wire.read())
        case .syncNow: return .syncNow(try wire.read(), remote: try wire.read())
        case .keepSession: return .keepSession(try wire.read())
        case .restoreSession:
            let kept: NewSession = try wire.read()
            guard kept.isRemembered else { throw MalformedBytes() }
            return .restoreSession(kept, since: try wire.read())
        case .useSession: return .useSession(try wire.read())
        case .renewSession: return .renewSession(try wire.read(), newTokens: try wire.read())
        case .endSession:
            let login: LoginReference = try wire.read()
            let waits: Bool = try wire.read()
            let password = try wire.read(Bool.self) ? try wire.secret(upTo: OnlineQuestion.maximumSecret) : nil
            let inBrowser: Bool = try wire.read()
            guard waits || !inBrowser else { throw MalformedBytes() }
            return .endSession(login, waits: waits, inBrowser: inBrowser, password: password)
        case .sessions: return .sessions
        case .token: return .token(try wire.read(), try wire.read())
        case .forgetToken:
            let login: LoginReference = try wire.read()
            let refused = try wire.read(Bool.self) ? try wire.secret(upTo: AccessToken.longest) : nil
            return .forgetToken(login, refused: refused)
        case .sign: return .sign(try wire.read(), identity: try wire.read(), try wire.read())
        case .sshKeys: return .sshKeys(try wire.read())
        case .signSSH: return .signSSH(try wire.read(), try wire.read())
        case .claims: return .claims(try wire.read(), try wire.read())
        case .request: return .request(try wire.read())
        case .knownToken: return .knownToken(try wire.read())
        case .profileReading: return .profileReading(try wire.read(), try wire.read(), try wire.read())
        case .compareSession: return .compareSession(try wire.read())
        case .lock:
            let forgets: Bool = try wire.read()
            return .lock(try wire.read(), forgets: forgets)
        case .lockOpened: return .lockOpened(by: try wire.read(WireID.self).bytes)
        case .perform: return .perform(try wire.read(), try ItemRequest(from: &wire))
        case .rememberingKey:
            let paths: VaultPaths = try wire.read()
            let level: ProtectionLevel = try wire.read()
            // Passwords that are remembered at `always` are under the device key, which a client has itself.
            guard level.availability != .always else { throw MalformedBytes() }
            return .rememberingKey(paths, level)
        default: throw MalformedBytes()
        }
    }
}
