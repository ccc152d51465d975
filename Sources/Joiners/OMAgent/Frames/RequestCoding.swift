// Requests as frames. Format: docs/agent-protocol.md, "Requests".

internal import OMRecords
internal import OMSecrets
internal import OMVault

extension AgentRequest {
    /// The frame's kind and body.
    consuming func encode(into body: inout SecretBuffer) -> FrameKind {
        switch consume self {
        case .stepDown: return .stepDown
        case .status: return .status
        case .unlock(let place, let keys, let login, let idle, let hard):
            body.append(place: place)
            body.append(keys.vault.span)
            body.append(number: keys.epoch)
            body.append(number: idle)
            body.append(number: hard)
            body.append(optional: login) { $0.append($1.span) }
            body.append(UInt8(keys.levels.count))
            for level in keys.levels {
                body.append(level.code)
                keys.withKey(of: level) { key in key.withExposedBytes { body.append($0) } }
            }
            return .unlock
        case .lock(let place, let forgets):
            body.append(forgets ? 1 : 0)
            body.append(optional: place) { $0.append(place: $1) }
            return .lock
        case .lockOpened(let login):
            body.append(login.span)
            return .lockOpened
        case .perform(let place, let request):
            body.append(place: place)
            request.encode(into: &body)
            return .perform
        case .rememberingKey(let place, let level):
            body.append(place: place)
            body.append(level.code)
            return .rememberingKey
        case .keepSession(let kept):
            let (login, profile, way, limits) = (kept.login, kept.profile, kept.way, kept.limits)
            body.append(login: login)
            body.append(profile: profile)
            body.append(way: way, limits, kept.takeAsked())
            return .keepSession
        case .useSession(let login):
            body.append(login: login)
            return .useSession
        case .renewSession(let login, let anew):
            body.append(login: login)
            body.append(anew ? 1 : 0)
            return .renewSession
        case .endSession(let login, let waits, let password):
            body.append(login: login)
            body.append(waits ? 1 : 0)
            switch consume password {
            case .none: body.append(0)
            case .some(let password):
                body.append(1)
                body.append(counted: password)
            }
            return .endSession
        case .sessions: return .sessions
        }
    }

    /// - Throws: for a kind that no client sends, and for a body that is not exactly what the page allows.
    static func decode(_ kind: UInt8, _ bytes: Span<UInt8>) throws(MalformedBytes) -> AgentRequest {
        var cursor = ByteCursor()
        let request = try decode(kind, bytes, &cursor)
        try cursor.end(in: bytes)
        return request
    }

    private static func decode(
        _ kind: UInt8, _ bytes: Span<UInt8>, _ cursor: inout ByteCursor
    ) throws(MalformedBytes) -> AgentRequest {
        switch FrameKind(rawValue: kind) {
        case .stepDown: return .stepDown
        case .status: return .status
        case .unlock:
            let place = try cursor.place(in: bytes)
            var keys = ClassKeys(vault: try cursor.take(16, in: bytes), epoch: try cursor.number(in: bytes))
            let idle: UInt32 = try cursor.number(in: bytes)
            let hard: UInt32 = try cursor.number(in: bytes)
            let login = try cursor.flag(in: bytes) ? try cursor.take(16, in: bytes) : nil
            for _ in 0..<(try cursor.byte(in: bytes)) { try cursor.classKey(in: bytes, into: &keys) }
            return .unlock(place, keys, openedBy: login, idle: idle, hard: hard)
        case .keepSession:
            let login = try cursor.login(in: bytes)
            return .keepSession(try cursor.keptSession(of: login, in: bytes))
        case .useSession: return .useSession(try cursor.login(in: bytes))
        case .renewSession:
            let login = try cursor.login(in: bytes)
            return .renewSession(login, anew: try cursor.flag(in: bytes))
        case .endSession:
            let login = try cursor.login(in: bytes)
            let waits = try cursor.flag(in: bytes)
            guard try cursor.flag(in: bytes) else { return .endSession(login, waits: waits, password: nil) }
            let password = try cursor.secret(upTo: OnlineQuestion.maximumSecret, in: bytes)
            return .endSession(login, waits: waits, password: password)
        case .sessions: return .sessions
        case .lock:
            let forgets = try cursor.flag(in: bytes)
            let place = try cursor.flag(in: bytes) ? try cursor.place(in: bytes) : nil
            return .lock(place, forgets: forgets)
        case .lockOpened: return .lockOpened(by: try cursor.take(16, in: bytes))
        case .perform: return .perform(try cursor.place(in: bytes), try ItemRequest(decoding: &cursor, in: bytes))
        case .rememberingKey:
            let place = try cursor.place(in: bytes)
            let level = try cursor.level(in: bytes)
            // What is remembered at always stands under the device key, which a client has itself.
            guard level.availability != .always else { throw MalformedBytes() }
            return .rememberingKey(place, level)
        default: throw MalformedBytes()
        }
    }
}

extension ByteCursor {
    /// level code (1) ‖ key (32); rising codes, so that each level comes once.
    fileprivate mutating func classKey(in bytes: Span<UInt8>, into keys: inout ClassKeys) throws(MalformedBytes) {
        let level = try level(in: bytes)
        let isNext = keys.levels.last.map { Self.rank($0) < Self.rank(level) } ?? true
        guard isNext, level.availability != .always else { throw MalformedBytes() }
        let key = SecretBytes(copying: bytes.extracting(try skip(Key<Deriving>.count, in: bytes)))
        do throws(SecretsError) { keys.add(try Key<Deriving>(readFrom: key), of: level) } catch {
            throw MalformedBytes()
        }
    }

    private static func rank(_ level: ProtectionLevel) -> Int { ProtectionLevel.allCases.firstIndex(of: level) ?? 0 }
}

extension ItemRequest {
    consuming func encode(into body: inout SecretBuffer) {
        switch consume self {
        case .items(let trashed):
            body.append(1)
            body.append(trashed ? 1 : 0)
        case .find(let search, let trashed):
            body.append(15)
            body.append(trashed ? 1 : 0)
            body.append(search: search)
        case .item(let name):
            body.append(2)
            body.append(text: name.text)
        case .secret(let path, let revision):
            body.append(3)
            body.append(text: path.item.text)
            body.append(text: path.field.text)
            body.append(revision: revision)
        case .secrets(let name, let revision):
            body.append(4)
            body.append(text: name.text)
            body.append(revision: revision)
        case .add(let name, let level, let values):
            body.append(5)
            body.append(text: name.text)
            body.append(optional: level) { $0.append($1.code) }
            body.append(values: values)
        case .update(let name, let values, let removed, let revision):
            body.append(6)
            body.append(text: name.text)
            body.append(values: values)
            body.append(list: removed.map(\.text))
            body.append(revision: revision)
        case .history(let name):
            body.append(7)
            body.append(text: name.text)
        case .setLevel(let name, let level, let revision):
            body.append(8)
            body.append(text: name.text)
            body.append(level.code)
            body.append(revision: revision)
        case .trash(let names, let revision):
            body.append(9)
            body.append(list: names.map(\.text))
            body.append(revision: revision)
        case .purge(let names, let revision):
            body.append(10)
            body.append(list: names.map(\.text))
            body.append(revision: revision)
        case .purgeTrash(let names):
            body.append(11)
            body.append(optional: names) { $0.append(list: $1.map(\.text)) }
        case .purgeID(let id, let level):
            body.append(13)
            body.append(id.span)
            body.append(optional: level) { $0.append($1.code) }
        case .places(let id, let level):
            body.append(14)
            body.append(id.span)
            body.append(optional: level) { $0.append($1.code) }
        case .restore(let name, let id, let revision):
            body.append(12)
            body.append(text: name.text)
            body.append(optional: id) { $0.append($1.span) }
            body.append(revision: revision)
        }
    }

    init(decoding cursor: inout ByteCursor, in bytes: Span<UInt8>) throws(MalformedBytes) {
        switch try cursor.byte(in: bytes) {
        case 1: self = .items(trashed: try cursor.flag(in: bytes))
        case 2: self = .item(try cursor.itemName(in: bytes))
        case 3:
            let item = try cursor.itemName(in: bytes)
            let path = FieldPath(item, try cursor.fieldName(in: bytes))
            self = .secret(path, revision: try cursor.revision(in: bytes))
        case 4:
            let name = try cursor.itemName(in: bytes)
            self = .secrets(name, revision: try cursor.revision(in: bytes))
        case 5:
            let name = try cursor.itemName(in: bytes)
            let level = try cursor.flag(in: bytes) ? try cursor.level(in: bytes) : nil
            self = .add(name, level: level, try cursor.values(in: bytes))
        case 6:
            let name = try cursor.itemName(in: bytes)
            let values = try cursor.values(in: bytes)
            let removed = try cursor.fieldNames(in: bytes)
            self = .update(name, set: values, remove: removed, ifRevision: try cursor.revision(in: bytes))
        case 7: self = .history(try cursor.itemName(in: bytes))
        case 8:
            let name = try cursor.itemName(in: bytes)
            let level = try cursor.level(in: bytes)
            self = .setLevel(name, level, ifRevision: try cursor.revision(in: bytes))
        case 9:
            let names = try cursor.itemNames(in: bytes)
            self = .trash(names, ifRevision: try cursor.revision(in: bytes))
        case 10:
            let names = try cursor.itemNames(in: bytes)
            self = .purge(names, ifRevision: try cursor.revision(in: bytes))
        case 11: self = .purgeTrash(try cursor.flag(in: bytes) ? try cursor.itemNames(in: bytes) : nil)
        case 12:
            let name = try cursor.itemName(in: bytes)
            let id = try cursor.flag(in: bytes) ? try cursor.take(16, in: bytes) : nil
            self = .restore(name, id: id, revision: try cursor.revision(in: bytes))
        case 13:
            let id = try cursor.take(16, in: bytes)
            self = .purgeID(id, level: try cursor.flag(in: bytes) ? try cursor.level(in: bytes) : nil)
        case 14:
            let id = try cursor.take(16, in: bytes)
            self = .places(id: id, level: try cursor.flag(in: bytes) ? try cursor.level(in: bytes) : nil)
        case 15:
            let trashed = try cursor.flag(in: bytes)
            self = .find(try cursor.search(in: bytes), trashed: trashed)
        default: throw MalformedBytes()
        }
    }

    /// Whether it may be answered with what is at hand while the vault is locked. A new item may not: its name could be
    /// that of one that nobody can see now.
    var isForLockedToo: Bool {
        switch self {
        case .item: true
        case .secret: true
        case .secrets: true
        case .history: true
        case .update: true
        default: false
        }
    }
}
