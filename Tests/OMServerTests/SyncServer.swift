#if Server
// A server with sync, and clients that have tokens.

import Foundation
import OMParcels
import OMSecrets
import OMServerStore
import Synchronization
import TestSupport
import Testing

@testable import OMServer

final class SyncServer: Sendable {
    static let password = "right password"

    let service: TestService
    let place: TestStore
    private let routes: ServerRoutes
    private let tokens = Mutex<[String: (text: String, expires: Int64)]>([:])

    /// The accounts "ana" and "bob", each without a remote.
    init(_ kind: StoreKind = .sqlite, limits: SyncLimits = SyncLimits()) async throws {
        place = try await TestStore(kind)
        let service = try TestService(place.make(ServerTables.schema))
        self.service = service
        routes = ServerRoutes(
            [SyncService(service.store, clock: ServerClock { service.now }, limits: limits)],
            note: { Issue.record("the server noted \($0)") })
        for name in ["ana", "bob"] { try service.add(name, Self.password) }
    }

    /// The same with the remote of a vault whose roll has entry 0.
    static func withRemote(
        _ kind: StoreKind = .sqlite, limits: SyncLimits = SyncLimits()
    ) async throws -> (server: SyncServer, roll: Roll) {
        let server = try await SyncServer(kind, limits: limits)
        #expect(try server.put(.founding, Sample.founding().encoded) == 201)
        return (server, try Roll(Sample.founding()))
    }

    var store: InterruptedStore { service.store }

    func token(_ account: String = "ana") throws -> String {
        let now = service.now
        if let known = tokens.withLock({ $0[account] }), known.expires > now { return known.text }
        let text = try service.logIn(account, Self.password).text("access_token")
        tokens.withLock { $0[account] = (text, now + 900) }
        return text
    }

    /// The next call logs in again.
    func forgetTokens() { tokens.withLock { $0 = [:] } }

    static func name(_ vault: [UInt8] = Sample.vault, _ incarnation: [UInt8] = Sample.incarnation) -> String {
        "\(Hex.encode(vault))-\(Hex.encode(incarnation))"
    }

    func call(
        _ method: ServerRequest.Method, _ path: String, _ body: [UInt8] = [], as account: String? = "ana",
        query: [(name: String, value: String)] = [], headers: [String: String] = [:]
    ) throws -> ServerResponse {
        var all = headers
        if let account { all["authorization"] = "Bearer \(try token(account))" }
        if method == .put, all["content-type"] == nil { all["content-type"] = SyncService.mediaType }
        let parts = ["v1", "sync"] + path.split(separator: "/").map { String($0) }
        return routes.answer(ServerRequest(method, path: parts, query: query, headers: all, body: body, client: "192.0.2.1"))
    }

    /// - Returns: The status.
    func put(_ file: RemoteFile, _ body: [UInt8], as account: String = "ana", to remote: String = name()) throws -> Int {
        try call(.put, "\(remote)/\(file.path)", body, as: account).status
    }

    func put(_ pack: Pack) throws -> Int { try put(pack.file, pack.encoded) }
    func put(_ entry: RollEntry) throws -> Int { try put(entry.file, entry.encoded) }

    /// Puts a head, and appends it to the chain if the server takes it.
    func put(_ head: Head, _ chain: inout TestChain) throws -> Int {
        let status = try put(chain.file(head), head.encoded)
        if status == 204, head.statement.number == UInt64(chain.heads.count + 1) { chain.append(head) }
        return status
    }

    /// - Returns: nil for 404.
    func get(_ file: RemoteFile, as account: String = "ana") throws -> [UInt8]? {
        let answer = try call(.get, "\(Self.name())/\(file.path)", as: account)
        #expect([200, 404].contains(answer.status))
        return answer.status == 200 ? answer.body : nil
    }

    func delete(_ file: RemoteFile) throws -> Int { try call(.delete, "\(Self.name())/\(file.path)").status }

    /// The files of the list, and its number.
    func list() throws -> (change: Int64, files: Set<RemoteFile>) {
        let answer = try call(.get, "\(Self.name())/files")
        #expect(answer.status == 200)
        return try Self.decode(answer.body)
    }

    func files() throws -> Set<RemoteFile> { try list().files }

    /// Reads a list as a client does that knows the page alone.
    static func decode(_ bytes: [UInt8]) throws -> (change: Int64, files: Set<RemoteFile>) {
        struct Malformed: Error {}
        var rest = bytes[...]
        func take(_ count: Int) throws -> [UInt8] {
            guard rest.count >= count else { throw Malformed() }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func number(_ count: Int) throws -> UInt64 { try take(count).reduce(0) { $0 << 8 | UInt64($1) } }
        guard try number(1) == 1 else { throw Malformed() }
        let change = Int64(try number(8)), count = Int(try number(4))
        var files: [RemoteFile] = [], encoded: [[UInt8]] = []
        for _ in 0..<count {
            let before = rest
            switch try number(1) {
            case 1: files.append(.entry(number: UInt32(try number(4)), digest: try take(32)))
            case 2:
                files.append(.head(device: UInt32(try number(4)), isSecond: try number(1) == 1))
                _ = try take(32)
            case 3:
                files.append(.heads(device: UInt32(try number(4))))
                _ = try take(32)
            case 4: files.append(.pack(device: UInt32(try number(4)), number: try number(8)))
            case 5: files.append(.message(mailbox: try take(16), number: UInt8(try number(1))))
            default: throw Malformed()
            }
            encoded.append(Array(before.prefix(before.count - rest.count)))
        }
        guard rest.isEmpty, zip(encoded, encoded.dropFirst()).allSatisfy({ $0.lexicographicallyPrecedes($1) }) else {
            throw Malformed()
        }
        return (change, Set(files))
    }

    /// What the store has, row by row. For scans, and to see that nothing changed.
    func rows() throws -> [String: [SQLRow]] {
        try store.transaction(.read) { transaction in
            var found: [String: [SQLRow]] = [:]
            for table in Self.tables { found[table] = try transaction.rows("SELECT * FROM \(table)") }
            return found
        }
    }

    static let tables = [
        "account", "stranger", "client", "grants", "token", "policy", "policy_value", "question", "challenge", "sdk_token",
        "remote", "remote_member", "remote_entry", "remote_head",
        "remote_heads", "remote_signer", "remote_pack", "remote_message",
    ]

    /// The rows of remotes.
    func remoteRows() throws -> [String: Set<SQLRow>] {
        try rows().filter { $0.key.hasPrefix("remote") }.mapValues { Set($0) }
    }
}
#endif
