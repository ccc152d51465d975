// Answers as frames. Format: docs/agent-protocol.md, "Answers".

internal import OMRecords
internal import OMSecrets
internal import OMVault

extension AgentReply {
    consuming func encode(into body: inout SecretBuffer) -> FrameKind {
        switch consume self {
        case .done: return .done
        case .otherVersion(let version):
            body.append(version)
            return .otherVersion
        case .busy: return .busy
        case .refused: return .refused
        case .status(let status):
            status.encode(into: &body)
            return .agentStatus
        case .reply(let reply):
            reply.encode(into: &body)
            return .reply
        case .failure(let error):
            body.append(error: error)
            return .failure
        case .locked(let state):
            body.append(state.rawValue)
            return .locked
        case .full: return .full
        case .rememberingKey(let key):
            key.withExposedBytes { body.append($0) }
            return .rememberingKeyIs
        case .session(let session):
            body.append(session: session)
            return .session
        case .noSession: return .noSession
        case .sessionRefused(let refusal):
            body.append(refusal: refusal)
            return .sessionRefused
        case .sessionEnded(let ending):
            body.append(ending: ending)
            return .sessionEnded
        case .sessions(let sessions):
            body.append(number: UInt16(sessions.count))
            for session in sessions { body.append(session: session) }
            return .sessionList
        }
    }

    static func decode(_ kind: UInt8, _ bytes: Span<UInt8>) throws(MalformedBytes) -> AgentReply {
        var cursor = ByteCursor()
        let reply = try decode(kind, bytes, &cursor)
        try cursor.end(in: bytes)
        return reply
    }

    private static func decode(
        _ kind: UInt8, _ bytes: Span<UInt8>, _ cursor: inout ByteCursor
    ) throws(MalformedBytes) -> AgentReply {
        switch FrameKind(rawValue: kind) {
        case .done: return .done
        case .otherVersion: return .otherVersion(try cursor.byte(in: bytes))
        case .busy: return .busy
        case .refused: return .refused
        case .agentStatus: return .status(try AgentStatus(decoding: &cursor, in: bytes))
        case .reply: return .reply(try ItemReply(decoding: &cursor, in: bytes))
        case .failure: return .failure(try cursor.error(in: bytes))
        case .locked: return .locked(try cursor.state(in: bytes))
        case .full: return .full
        case .rememberingKeyIs:
            let key = SecretBytes(copying: bytes.extracting(try cursor.skip(Key<Remembering>.count, in: bytes)))
            do throws(SecretsError) { return .rememberingKey(try Key(readFrom: key)) } catch { throw MalformedBytes() }
        case .session: return .session(try cursor.session(in: bytes))
        case .noSession: return .noSession
        case .sessionRefused: return .sessionRefused(try cursor.refusal(try cursor.byte(in: bytes), in: bytes))
        case .sessionEnded: return .sessionEnded(try cursor.ending(in: bytes))
        case .sessionList: return .sessions(try cursor.sessions(in: bytes))
        default: throw MalformedBytes()
        }
    }
}

extension AgentStatus {
    /// process (4) ‖ memory (1) ‖ idle (4) ‖ hard (4) ‖ count (2) ‖ per vault: place, state (1), idle (4), hard (4)
    fileprivate func encode(into body: inout SecretBuffer) {
        body.append(number: process)
        body.append(memory)
        body.append(number: idle)
        body.append(number: hard)
        body.append(number: UInt16(vaults.count))
        for vault in vaults {
            body.append(place: vault.place)
            body.append(vault.state.rawValue)
            body.append(number: vault.idleLeft)
            body.append(number: vault.hardLeft)
        }
    }

    fileprivate init(decoding cursor: inout ByteCursor, in bytes: Span<UInt8>) throws(MalformedBytes) {
        process = try cursor.number(in: bytes)
        memory = try cursor.byte(in: bytes)
        idle = try cursor.number(in: bytes)
        hard = try cursor.number(in: bytes)
        var vaults: [Vault] = []
        for _ in 0..<(try cursor.number(UInt16.self, in: bytes)) {
            vaults.append(
                Vault(
                    place: try cursor.place(in: bytes), state: try cursor.state(in: bytes),
                    idleLeft: try cursor.number(in: bytes), hardLeft: try cursor.number(in: bytes)))
        }
        self.vaults = vaults
        guard memory <= 2, process > 0 else { throw MalformedBytes() }
    }
}

extension AgentReply {
    /// About how long its body will be, so that a long list is written without being moved time and again.
    var expectedCount: Int {
        switch self {
        case .reply(let reply): reply.expectedCount
        default: 256
        }
    }
}

extension ItemReply {
    fileprivate var expectedCount: Int {
        switch self {
        case .items(let items):
            items.reduce(256) { sum, item in
                item.fields.reduce(sum + item.name.text.utf8.count + 64) { $0 + $1.name.text.utf8.count + 8 }
            }
        default: 256
        }
    }

    fileprivate consuming func encode(into body: inout SecretBuffer) {
        switch consume self {
        case .items(let items):
            body.append(1)
            body.append(items: items)
        case .item(let item):
            body.append(2)
            body.append(item: item)
        case .secret(let secret):
            body.append(3)
            body.append(counted: secret)
        case .secrets(let item, let values):
            body.append(4)
            body.append(item: item)
            body.append(values: values)
        case .changed(let item, let purge):
            body.append(5)
            body.append(item: item)
            body.append(optional: purge) { $0.append($1.rawValue) }
        case .removed(let items, let purge):
            body.append(6)
            body.append(items: items)
            body.append(optional: purge) { $0.append($1.rawValue) }
        case .versions(let versions):
            body.append(7)
            body.append(number: UInt32(versions.count))
            for version in versions { body.append(version: version) }
        case .places(let places):
            body.append(8)
            body.append(places: places)
        }
    }

    fileprivate init(decoding cursor: inout ByteCursor, in bytes: Span<UInt8>) throws(MalformedBytes) {
        switch try cursor.byte(in: bytes) {
        case 1: self = .items(try cursor.items(in: bytes))
        case 2: self = .item(try cursor.item(in: bytes))
        case 3: self = .secret(try cursor.secret(in: bytes))
        case 4:
            let item = try cursor.item(in: bytes)
            self = .secrets(item, try cursor.values(in: bytes))
        case 5:
            let item = try cursor.item(in: bytes)
            self = .changed(item, purge: try cursor.purge(in: bytes))
        case 6:
            let items = try cursor.items(in: bytes)
            self = .removed(items, purge: try cursor.purge(in: bytes))
        case 7:
            var versions: [ItemVersion] = []
            for _ in 0..<(try cursor.number(UInt32.self, in: bytes)) { versions.append(try cursor.version(in: bytes)) }
            self = .versions(versions)
        case 8: self = .places(try cursor.places(in: bytes))
        default: throw MalformedBytes()
        }
    }
}

extension SecretBuffer {
    /// count (4) ‖ items
    fileprivate mutating func append(items: [Item]) {
        append(number: UInt32(items.count))
        for item in items { append(item: item) }
    }

    /// revision (8) ‖ modified (8) ‖ in trash ‖ fields
    fileprivate mutating func append(version: ItemVersion) {
        append(number: version.revision)
        append(number: version.modified)
        append(version.isTrashed ? 1 : 0)
        append(fields: version.fields)
    }
}

extension ByteCursor {
    fileprivate mutating func state(in bytes: Span<UInt8>) throws(MalformedBytes) -> AgentVaultState {
        guard let state = AgentVaultState(rawValue: try byte(in: bytes)) else { throw MalformedBytes() }
        return state
    }

    fileprivate mutating func items(in bytes: Span<UInt8>) throws(MalformedBytes) -> [Item] {
        var items: [Item] = []
        for _ in 0..<(try number(UInt32.self, in: bytes)) { items.append(try item(in: bytes)) }
        return items
    }

    fileprivate mutating func version(in bytes: Span<UInt8>) throws(MalformedBytes) -> ItemVersion {
        ItemVersion(
            revision: try number(in: bytes), modified: try number(in: bytes), isTrashed: try flag(in: bytes),
            fields: try fields(in: bytes))
    }

    fileprivate mutating func purge(in bytes: Span<UInt8>) throws(MalformedBytes) -> PurgeResult? {
        guard try flag(in: bytes) else { return nil }
        guard let result = PurgeResult(rawValue: try byte(in: bytes)) else { throw MalformedBytes() }
        return result
    }
}
