// Answers as frames. Format: docs/formats/agent-protocol.md, "Replies".

internal import OMRecords
internal import OMSecrets
internal import OMVault

extension AgentReply {
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
        case .rememberingKey(let key):
            key.withExposedBytes { body.append($0) }
            return .rememberingKeyIs
        case .session(let session):
            body.write(session)
            return .session
        case .noSession: return .noSession
        case .sessionRefused(let refusal):
            body.write(refusal)
            return .sessionRefused
        case .sessionEnded(let ending):
            body.write(ending)
            return .sessionEnded
        case .sessions(let sessions):
            body.write(shortList: sessions)
            return .sessionList
        }
    }

    static func decode(_ kind: UInt8, _ bytes: Span<UInt8>) throws(MalformedBytes) -> AgentReply {
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
        case .reply: .reply(try ItemReply(from: &wire))
        case .failure: .failure(try wire.read())
        case .locked: .locked(try wire.read())
        case .full: .full
        case .rememberingKeyIs: .rememberingKey(try wire.key())
        case .session: .session(try wire.read())
        case .noSession: .noSession
        case .sessionRefused: .sessionRefused(try wire.read())
        case .sessionEnded: .sessionEnded(try wire.read())
        case .sessionList: .sessions(try wire.shortList())
        default: throw MalformedBytes()
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

extension ItemReply {
    fileprivate consuming func encode(into body: inout SecretBuffer) {
        switch consume self {
        case .items(let items): body.write(tag: 1, LongList(items))
        case .item(let item): body.write(tag: 2, item)
        case .secret(let secret):
            body.write(tag: 3)
            body.write(secret)
        case .secrets(let item, let values):
            body.write(tag: 4, item)
            body.write(values)
        case .changed(let item, let purge): body.write(tag: 5, item, purge)
        case .removed(let items, let purge): body.write(tag: 6, LongList(items), purge)
        case .versions(let versions): body.write(tag: 7, LongList(versions))
        case .entries(let places): body.write(tag: 8, LongList(places))
        case .found(let items, let unsearched): body.write(tag: 10, LongList(items), UInt32(clamping: unsearched))
        case .large(let count, let revision, let digest):
            body.write(tag: 9, UInt32(count), revision)
            body.append(digest.span)
        case .compared(let old, let new, let changed):
            body.write(tag: 11, old, new)
            body.write(longList: changed)
        case .names(let names, let unsearched): body.write(tag: 12, names, UInt32(clamping: unsearched))
        }
    }

    fileprivate init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1: self = .items(try wire.longList())
        case 2: self = .item(try wire.read())
        case 3: self = .secret(try wire.read())
        case 4: self = .secrets(try wire.read(), try wire.read())
        case 5: self = .changed(try wire.read(), purge: try wire.read())
        case 6: self = .removed(try wire.longList(), purge: try wire.read())
        case 7: self = .versions(try wire.longList())
        case 8: self = .entries(try wire.longList())
        case 9:
            self = .large(count: Int(try wire.read(UInt32.self)), revision: try wire.read(), digest: try wire.bytes(32))
        case 10: self = .found(try wire.longList(), unsearched: Int(try wire.read(UInt32.self)))
        case 11:
            self = .compared(try wire.read(), try wire.read(), changed: try wire.longList(upTo: Item.maximumFields))
        case 12: self = .names(try wire.read(), unsearched: Int(try wire.read(UInt32.self)))
        default: throw MalformedBytes()
        }
    }
}
