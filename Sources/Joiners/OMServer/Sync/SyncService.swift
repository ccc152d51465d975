#if Server
// The calls of sync. docs/formats/sync.md, "Over HTTP".

internal import OMJSON
internal import OMParcels
internal import OMRecords
internal import OMSecrets
package import OMServerStore

package struct SyncService: ServerService {
    package static let mediaType = "application/vnd.omvault.sync"
    package static let longestWait = 55

    private let store: any ServerStore
    private let clock: ServerClock
    private let limits: SyncLimits

    package init(_ store: any ServerStore, clock: ServerClock, limits: SyncLimits = SyncLimits()) {
        (self.store, self.clock, self.limits) = (store, clock, limits)
    }

    private typealias Method = ServerRequest.Method
    package typealias Handler = @Sendable (ServerRequest) throws -> ServerResponse

    package func routes(_ path: [String]) -> [ServerRequest.Method: Handler] {
        guard path.starts(with: ["v1", "sync"]) else { return [:] }
        switch path.count {
        case 2: return [.get: { _ in ServerResponse(json: .object(["protocols": .array([.number("1")])])) }]
        case 3 where path[2] == "remotes": return [.get: { try remotes($0) }]
        case 3:
            guard let vault = RemoteName.id(path[2]) else { return [:] }
            return [.get: { try remotes($0, of: vault) }]
        case 4 where path[3] == "files":
            guard let name = RemoteName(path[2]) else { return [:] }
            return [.get: { try list($0, name) }]
        default:
            guard let name = RemoteName(path[2]), let file = Self.file(path) else { return [:] }
            return routes(name, file)
        }
    }

    package func bodyLimit(_ path: [String]) -> Int? {
        guard path.starts(with: ["v1", "sync"]), path.count > 3, RemoteName(path[2]) != nil else { return nil }
        return Self.file(path)?.maximumCount
    }

    package func checkBeforeBody(_ request: ServerRequest) throws {
        let now = clock.now()
        _ = try store.transaction(.singleRead) { try account(of: request, now: now, $0) }
    }

    private static func file(_ path: [String]) -> RemoteFile? { RemoteFile(path: path[3...].joined(separator: "/")) }

    private func routes(_ name: RemoteName, _ file: RemoteFile) -> [ServerRequest.Method: Handler] {
        switch file {
        case .headCopy: return [:]
        case .founding: return [.get: { try read($0, name, file) }, .put: { try make($0, name) }]
        // Attack: a stolen token takes entries and heads away, so that devices see an older state.
        case .entry, .head, .heads: return [.get: { try read($0, name, file) }, .put: { try write($0, name, file) }]
        case .pack, .message:
            return [
                .get: { try read($0, name, file) }, .put: { try write($0, name, file) }, .delete: { try remove($0, name, file) },
            ]
        }
    }

    /// The account of the token, which must have the scope.
    private func account(
        of request: ServerRequest, now: Int64, _ transaction: any StoreTransaction
    ) throws -> AccountName {
        guard let account = try Bearer.grant(of: request, .sync, now: now, transaction).account else {
            throw ServerProblem.forbidden
        }
        return account
    }

    // MARK: - Lists

    private func remotes(_ request: ServerRequest, of vault: [UInt8]) throws -> ServerResponse {
        let now = clock.now()
        let found = try store.transaction(.read) { transaction in
            try RemoteTable.incarnations(of: vault, account(of: request, now: now, transaction), transaction)
        }
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(found.count))
        return Self.answer(bytes + found.joined())
    }

    /// The remotes of all vaults: a new device knows no vault's id.
    private func remotes(_ request: ServerRequest) throws -> ServerResponse {
        let now = clock.now()
        let found = try store.transaction(.read) { transaction in
            try RemoteTable.names(of: account(of: request, now: now, transaction), transaction)
        }
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(found.count))
        for name in found { bytes += name.vault + name.incarnation }
        return Self.answer(bytes)
    }

    private func list(_ request: ServerRequest, _ name: RemoteName) throws -> ServerResponse {
        let seconds = request.query.contains { $0.name == "wait" } ? request.value("wait").flatMap(Self.wait) : 0
        guard let seconds else { throw ServerProblem.malformed }
        let now = clock.now()
        // Most clients ask whether there is something new, and there is nothing.
        if let known = request.headers["if-none-match"] {
            let remote = try store.transaction(.singleRead) { try RemoteAccess.find(name, for: request, now: now, $0) }
            if known == Self.tag(remote) {
                var answer = ServerResponse(304, ["etag": known])
                if seconds > 0 { answer.wait = ChangeWait(remote: remote.id, change: remote.change, seconds: seconds) }
                return answer
            }
        }
        return try store.transaction(.read) { transaction in
            let remote = try RemoteAccess.find(name, for: request, now: now, transaction)
            var answer = Self.answer(try FileList.encoded(remote, transaction))
            answer.headers["etag"] = Self.tag(remote)
            return answer
        }
    }

    private static func tag(_ remote: Remote) -> String { "\"\(remote.change)\"" }

    private static func wait(_ text: String) -> Int? {
        guard (1...2).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            number <= longestWait
        else { return nil }
        return number
    }

    // MARK: - Files

    private func read(_ request: ServerRequest, _ name: RemoteName, _ file: RemoteFile) throws -> ServerResponse {
        let now = clock.now()
        let body = try store.transaction(.read) { transaction -> [UInt8]? in
            let remote = try RemoteAccess.find(name, for: request, now: now, transaction)
            return switch file {
            case .founding: try EntryTable.founding(of: remote.id, transaction)
            case .entry(let number, let digest):
                number == 0
                    ? nil : try EntryTable.body(EntryTable.Row(number: number, digest: digest), of: remote.id, transaction)
            case .head(let device, let isSecond): try HeadTable.body(of: device, isSecond: isSecond, in: remote.id, transaction)
            case .heads(let device): try HeadTable.list(of: device, in: remote.id, transaction)
            case .pack(let device, let number): try PackTable.body(number, of: device, in: remote.id, transaction)
            case .message(let mailbox, let number):
                try MessageTable.body(MessageTable.Row(mailbox: mailbox, number: number), of: remote.id, transaction)
            case .headCopy: nil
            }
        }
        guard let body else { throw ServerProblem.notFound }
        return Self.answer(body)
    }

    private func make(_ request: ServerRequest, _ name: RemoteName) throws -> ServerResponse {
        let now = clock.now()
        _ = try store.transaction(.singleRead) { try account(of: request, now: now, $0) }
        try Self.checkBody(of: request, as: .founding)
        guard let entry = try? RollEntry(decoding: request.body), entry.contents.vault == name.vault,
            let roll = try? Roll(entry)
        else { throw ServerProblem.refused }
        let devices = roll.members.values.filter { $0.kind == .device }.map(\.number)
        let id = Random.bytes(16)
        return try store.transaction(.write) { transaction in
            let account = try account(of: request, now: now, transaction)
            // Of two requests at once the second one finds the remote of the first.
            guard try AccountTable.find(account, locked: true, transaction) != nil else { throw ServerProblem.unauthorized() }
            if let remote = try RemoteTable.find(name, of: account, transaction) {
                guard try EntryTable.founding(of: remote.id, transaction) == request.body else { throw ServerProblem.conflict }
                return ServerResponse(204)
            }
            guard try RemoteTable.count(of: account, transaction) < limits.remotes else { throw ServerProblem.quota }
            try RemoteTable.add(Remote(id: id, name: name, change: 1), of: account, now: now, transaction)
            for member in entry.contents.added { _ = try RemoteTable.add(member, to: id, transaction) }
            try EntryTable.add(entry, to: id, devices: devices, transaction)
            return ServerResponse(201)
        }
    }

    private func write(_ request: ServerRequest, _ name: RemoteName, _ file: RemoteFile) throws -> ServerResponse {
        guard let kind = file.upload else { throw ServerProblem.notFound }
        // A request without a token waits for no lock.
        _ = try Bearer.digest(of: request)
        let now = clock.now()
        let parsed = Result {
            try Self.checkBody(of: request, as: file)
            return try kind.init(request.body, as: file, to: name)
        }
        // A client without a token is not told what is wrong with the file.
        if case .failure = parsed {
            _ = try store.transaction(.singleRead) { try RemoteAccess.find(name, for: request, now: now, $0) }
        }
        var upload: any SyncUpload = try parsed.get()
        var found: Remote?
        if kind.isCostly {
            (found, upload) = try store.transaction(.read) { transaction in
                let remote = try RemoteAccess.find(name, for: request, now: now, transaction)
                var checked = upload
                try checked.check(in: remote, transaction)
                return (remote, checked)
            }
        }
        try store.transaction(.write) { [found, upload] transaction in
            let remote = try RemoteAccess.lock(name, for: request, now: now, transaction)
            // What was checked belongs to a remote that was removed.
            guard found == nil || remote.id == found?.id else { throw ServerProblem.notFound }
            if try upload.store(in: remote, within: limits, now: now, transaction) {
                try RemoteTable.raiseChange(remote.id, transaction)
            }
        }
        return ServerResponse(204)
    }

    private func remove(_ request: ServerRequest, _ name: RemoteName, _ file: RemoteFile) throws -> ServerResponse {
        let now = clock.now()
        try store.transaction(.write) { transaction in
            let remote = try RemoteAccess.lock(name, for: request, now: now, transaction)
            switch file {
            case .message(let mailbox, let number):
                let message = MessageTable.Row(mailbox: mailbox, number: number)
                if try MessageTable.remove(message, of: remote.id, transaction) {
                    try RemoteTable.raiseChange(remote.id, transaction)
                }
            case .pack(let device, let number):
                guard let pack = try PackTable.find(number, of: device, in: remote.id, transaction) else { return }
                switch pack.state {
                case .listed: throw ServerProblem.conflict
                case .new: try PackTable.remove(pack, of: remote.id, transaction)
                // It is out of the list already, and a device that read the older head may still want it.
                case .superseded: break
                }
            case .founding, .entry, .head, .headCopy, .heads: throw ServerProblem.notFound
            }
        }
        return ServerResponse(204)
    }

    private static func checkBody(of request: ServerRequest, as file: RemoteFile) throws(ServerProblem) {
        let type = request.headers["content-type"]?.split(separator: ";").first?.lowercased()
        guard type == mediaType else { throw .unsupported }
        guard request.body.count <= file.maximumCount else { throw .tooLarge }
    }

    private static func answer(_ body: [UInt8]) -> ServerResponse { ServerResponse(200, ["content-type": mediaType], body: body) }
}
#endif
