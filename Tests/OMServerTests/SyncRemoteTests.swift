#if Server
// Remotes of the server: who may use them, and the list of their files. docs/formats/sync.md, "Over HTTP".

import Foundation
import OMParcels
import OMSecrets
import OMServerStore
import Synchronization
import TestSupport
import Testing

@testable import OMServer

@Suite("Remotes of the server") struct SyncRemoteTests {
    @Test("a remote is made once, with an entry 0 of its vault", arguments: StoreKind.allCases)
    func made(kind: StoreKind) async throws {
        let server = try await SyncServer(kind)
        let founding = Sample.founding()
        #expect(try server.call(.get, SyncServer.name() + "/files").status == 404)
        #expect(try server.get(.founding) == nil)
        #expect(try server.put(Sample.pack(1)) == 404)
        let next = Sample.add(20, to: try Roll(founding))
        for wrong in [next.encoded, Sample.founding(vault: Sample.bytes(9, 16)).encoded, founding.encoded.dropLast() + [0], []] {
            #expect(try server.put(.founding, Array(wrong)) == 422)
        }
        #expect(try server.remoteRows().allSatisfy { $0.value.isEmpty })
        #expect(try server.put(.founding, founding.encoded) == 201)
        let rows = try server.remoteRows()
        #expect(try server.put(.founding, founding.encoded) == 204)
        #expect(try server.put(.founding, Sample.founding(time: 2).encoded) == 409)
        #expect(try server.remoteRows() == rows)
        #expect(try server.get(.founding) == founding.encoded)
        #expect(try server.list() == (1, []))
        #expect(try server.delete(.founding) == 405)
    }

    @Test("the remotes of a vault are listed; an account has 16 at most", arguments: StoreKind.allCases)
    func remotes(kind: StoreKind) async throws {
        let server = try await SyncServer(kind)
        let vault = Hex.encode(Sample.vault), body = Sample.founding().encoded
        #expect(try server.call(.get, vault).body == [0, 0])
        for byte in UInt8(1)...16 {
            #expect(try server.put(.founding, body, to: SyncServer.name(Sample.vault, Sample.bytes(byte, 16))) == 201)
        }
        #expect(try server.put(.founding, body, to: SyncServer.name(Sample.vault, Sample.bytes(17, 16))) == 507)
        #expect(try server.put(.founding, body, to: SyncServer.name(Sample.vault, Sample.bytes(16, 16))) == 204)
        #expect(try server.put(.founding, body, as: "bob", to: SyncServer.name(Sample.vault, Sample.bytes(17, 16))) == 201)
        let answer = try server.call(.get, vault)
        #expect(answer.status == 200 && answer.headers["content-type"] == "application/vnd.omvault.sync")
        #expect(answer.body == [0, 16] + (UInt8(1)...16).flatMap { Sample.bytes($0, 16) })
        #expect(try server.call(.get, Hex.encode(Sample.bytes(9, 16))).body == [0, 0])
        // A new device knows no vault.
        let all = try server.call(.get, "remotes")
        #expect(all.status == 200 && all.headers["content-type"] == "application/vnd.omvault.sync")
        let names: [UInt8] = (UInt8(1)...16).flatMap { byte -> [UInt8] in Sample.vault + Sample.bytes(byte, 16) }
        #expect(all.body == [0, 16] + names)
        let one: [UInt8] = [0, 1] + Sample.vault + Sample.bytes(17, 16)
        #expect(try server.call(.get, "remotes", as: "bob").body == one)
        #expect(try server.call(.get, "remotes", as: nil).status == 401)
    }

    @Test("another account gets 404, and a token without the scope 403", arguments: StoreKind.allCases)
    func tokens(kind: StoreKind) async throws {
        let (server, roll) = try await SyncServer.withRemote(kind)
        let chain = TestChain(10)
        let head = chain.next(roll, packs: [Sample.pack(1)])
        #expect(try server.put(Sample.pack(1)) == 204 && server.put(chain.file(head), head.encoded) == 204)
        let rows = try server.remoteRows()
        let calls: [(ServerRequest.Method, String, [UInt8])] = [
            (.get, "files", []), (.get, "remote", []), (.get, Sample.pack(1).file.path, []), (.get, chain.file(head).path, []),
            (.put, Sample.pack(2).file.path, Sample.pack(2).encoded), (.put, chain.file(head).path, head.encoded),
            (.delete, Sample.pack(1).file.path, []),
        ]
        let profile = try server.service.logIn("ana", SyncServer.password, scope: "profile").text("access_token")
        let refresh = try server.service.logIn("ana", SyncServer.password).text("refresh_token")
        for (method, path, body) in calls {
            let path = SyncServer.name() + "/" + path
            #expect(try server.call(method, path, body, as: "bob").status == 404)
            #expect(try server.call(method, path, body, as: nil).status == 401)
            for (token, status) in [(profile, 403), (refresh, 401), ("omva_none", 401)] {
                let answer = try server.call(method, path, body, as: nil, headers: ["authorization": "Bearer \(token)"])
                #expect(answer.status == status, "\(method) \(path)")
                #expect(answer.headers["content-type"] == "application/problem+json")
            }
        }
        #expect(try server.call(.put, SyncServer.name() + "/remote", Sample.founding().encoded, as: nil).status == 401)
        #expect(try server.remoteRows() == rows)
        let token = try server.token()
        server.service.pass(901)
        let late = try server.call(.get, SyncServer.name() + "/files", as: nil, headers: ["authorization": "Bearer \(token)"])
        #expect(late.status == 401)
        let bob = ["authorization": "Bearer \(try server.token("bob"))"]
        #expect(try server.call(.get, SyncServer.name() + "/files", as: nil, headers: bob).status == 404)
        try server.service.setBlocked(true, "bob")
        #expect(try server.call(.get, SyncServer.name() + "/files", as: nil, headers: bob).status == 401)
    }

    @Test("a write that waits for the lock of its remote is refused if its account is blocked meanwhile")
    func blockedBehindTheLock() async throws {
        // In SQLite a block waits for the whole write.
        let (server, _) = try await SyncServer.withRemote(.postgres)
        #expect(try server.put(Sample.pack(1)) == 204)
        let rows = try server.remoteRows()
        for body in [Sample.pack(2).encoded, nil] {
            server.store.before("incarnation = ?3 FOR UPDATE") { _ in try server.service.setBlocked(true, "ana") }
            let answer = try server.call(
                body == nil ? .delete : .put, "\(SyncServer.name())/\(Sample.pack(body == nil ? 1 : 2).file.path)", body ?? [])
            #expect(answer.status == 401 && server.store.isDone)
            #expect(try server.remoteRows() == rows)
            try server.service.setBlocked(false, "ana")
            server.forgetTokens()
        }
        #expect(try server.delete(Sample.pack(1).file) == 204)
    }

    @Test("a write that waits in PostgreSQL for its lock is refused if its account is blocked meanwhile")
    func blockedInTheWait() async throws {
        let (server, _) = try await SyncServer.withRemote(.postgres)
        _ = try server.token()
        let rows = try server.remoteRows()
        let status = Mutex<Int?>(nil)
        try server.place.location.open(ServerTables.schema, connections: 1).transaction(.write) { transaction in
            _ = try transaction.lockedRow("SELECT id FROM remote")
            Thread.detachNewThread {
                let found = try? server.put(Sample.pack(1))
                status.withLock { $0 = found ?? 0 }
            }
            try transaction.awaitBlocked(server.store) { status.withLock { $0 != nil } }
            try server.service.setBlocked(true, "ana")
        }
        try await eventually { status.withLock { $0 != nil } }
        #expect(status.withLock { $0 } == 401)
        #expect(try server.remoteRows() == rows)
    }

    @Test("a client of its own, without an account, has no remotes")
    func clients() async throws {
        let server = try await SyncServer()
        let secret = try server.store.transaction(.write) { try ClientTable.add("robot", [.sync], now: 0, $0) }
        let token = try server.service.post(
            ["oauth2", "token"],
            [
                ("grant_type", "client_credentials"), ("client_id", "robot"), ("client_secret", try #require(secret)),
                ("scope", "sync"),
            ]
        ).text("access_token")
        let headers = ["authorization": "Bearer \(token)"]
        #expect(try server.call(.get, Hex.encode(Sample.vault), as: nil, headers: headers).status == 403)
    }

    @Test("the protocols need no token; other paths, methods and types are refused")
    func paths() async throws {
        let (server, roll) = try await SyncServer.withRemote()
        let answer = try server.call(.get, "", as: nil)
        #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == "{\"protocols\":[1]}")
        let name = SyncServer.name(), device = "00000001"
        for path in [
            name, SyncServer.name(Sample.bytes(0xab, 16)).uppercased() + "/files", "x", name + "/mail", name + "/roll/x",
            name + "/\(device)/head.2",
            name + "/\(device)/head (copy)", name + "/\(device)/1.pack", name + "/files/x", Hex.encode(Sample.bytes(1, 15)),
        ] { #expect(try server.call(.get, path).status == 404, "\(path)") }
        #expect(try server.call(.put, name + "/\(device)/head (copy)", [1]).status == 404)
        #expect(try server.call(.put, name + "/files", [1]).status == 405)
        #expect(try server.call(.post, name + "/remote", [1]).status == 405)
        let entry = Sample.add(20, to: roll)
        #expect(try server.put(entry) == 204)
        for file in [entry.file, .head(device: 1, isSecond: false), .heads(device: 1)] {
            #expect(try server.delete(file) == 405)
        }
        let pack = Sample.pack(1)
        let typed = try server.call(.put, "\(name)/\(pack.file.path)", pack.encoded, headers: ["content-type": "text/plain"])
        #expect(typed.status == 415)
        let files: [RemoteFile] = [
            .entry(number: 1, digest: Sample.bytes(1)), .head(device: 1, isSecond: false), .heads(device: 1),
            .pack(device: 1, number: 1), .message(mailbox: Sample.bytes(1, 16), number: 1), .founding,
        ]
        let service = SyncService(server.store, clock: ServerClock { 0 })
        for file in files {
            let long = [UInt8](repeating: 0, count: file.maximumCount + 1)
            #expect(try server.put(file, long) == 413)
            #expect(
                service.bodyLimit(["v1", "sync", name] + file.path.split(separator: "/").map { String($0) }) == file.maximumCount)
        }
        #expect(service.bodyLimit(["v1", "sync", name, "files"]) == nil)
    }

    @Test("the list has every file, a number that rises, and answers 304 or waits", arguments: StoreKind.allCases)
    func list(kind: StoreKind) async throws {
        let (server, roll) = try await SyncServer.withRemote(kind)
        let path = SyncServer.name() + "/files"
        let pack = Sample.pack(1), message = RemoteFile.message(mailbox: Sample.bytes(5, 16), number: 1)
        var chain = TestChain(10)
        #expect(try server.put(pack) == 204)
        // No client reads a pack before a head lists it.
        #expect(try server.list() == (1, [pack.file]))
        let entry = Sample.add(20, to: roll)
        #expect(try server.put(entry) == 204)
        let head = chain.next(roll, packs: [pack])
        #expect(try server.put(head, &chain) == 204)
        let kept = HeadList(vault: Sample.vault, heads: [head])
        #expect(try server.put(.heads(device: chain.number), kept.encoded) == 204)
        #expect(try server.put(message, Sample.bytes(1, 40 + 256)) == 204)
        let all: Set = [
            pack.file, entry.file, RemoteFile.head(device: chain.number, isSecond: false), .heads(device: chain.number), message,
        ]
        #expect(try server.list() == (5, all))
        let answer = try server.call(.get, path)
        #expect(answer.headers["etag"] == "\"5\"" && answer.headers["content-type"] == "application/vnd.omvault.sync")
        let bytes = answer.body.map { $0 }
        // The digests of head and list, which a client compares before it reads them.
        for digest in [head.digest, PublicHash.hash(kept.encoded)] {
            #expect(bytes.indices.contains { bytes[$0...].starts(with: digest) })
        }
        let known = ["if-none-match": "\"5\""]
        let same = try server.call(.get, path, headers: known)
        #expect(same.status == 304 && same.body.isEmpty && same.wait == nil && same.headers["etag"] == "\"5\"")
        let waiting = try server.call(.get, path, query: [("wait", "55")], headers: known)
        let wait = try #require(waiting.wait)
        #expect(waiting.status == 304 && wait.change == 5 && wait.seconds == 55)
        #expect(try server.call(.get, path, query: [("wait", "0")], headers: known).wait == nil)
        #expect(try server.call(.get, path, query: [("wait", "55")], headers: ["if-none-match": "\"4\""]).status == 200)
        #expect(try server.call(.get, path, query: [("wait", "55")]).status == 200)
        for wrong in ["56", "-1", "+5", "", "x", "100"] {
            #expect(try server.call(.get, path, query: [("wait", wrong)], headers: known).status == 400, "\(wrong)")
        }
        #expect(try server.call(.get, path, query: [("wait", "1"), ("wait", "2")]).status == 400)
        let before = try server.store.transaction(.read) { try ChangeWait.changes(of: [wait.remote], $0) }
        #expect(before == [wait.remote: 5])
        #expect(try server.delete(message) == 204 && server.delete(message) == 204)
        let after = try server.store.transaction(.read) { try ChangeWait.changes(of: [wait.remote], $0) }
        #expect(after == [wait.remote: 6])
        #expect(try server.files() == all.subtracting([message]))
    }

    @Test("all of a removed account goes", arguments: StoreKind.allCases)
    func removed(kind: StoreKind) async throws {
        let (server, roll) = try await SyncServer.withRemote(kind)
        var chain = TestChain(10)
        let head = chain.next(roll, packs: [Sample.pack(1)])
        #expect(try server.put(Sample.pack(1)) == 204 && server.put(head, &chain) == 204)
        #expect(try server.put(.heads(device: chain.number), HeadList(vault: Sample.vault, heads: [head]).encoded) == 204)
        #expect(try server.put(.message(mailbox: Sample.bytes(5, 16), number: 1), Sample.bytes(1, 40 + 256)) == 204)
        #expect(try server.remoteRows().allSatisfy { !$0.value.isEmpty })
        let ana = try #require(AccountName("ana"))
        #expect(try server.store.transaction(.write) { try AccountTable.remove(ana, $0) })
        #expect(try server.remoteRows().allSatisfy { $0.value.isEmpty })
    }
}
#endif
