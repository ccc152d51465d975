#if Server
// The loss of the primary under load, with a standby that had stopped to receive. docs/guide/run-a-server.md.

import OMServerStore
import Synchronization
import TestSupport
import Testing

@Suite("The loss of a PostgreSQL server", .onOwnThreads) struct FailoverTests {
    private static let schema = StoreSchema(steps: [["CREATE TABLE push (number INTEGER NOT NULL PRIMARY KEY) STRICT"]])
    private static let writers = 8

    /// A primary and a standby, from Tests/Servers/postgres.py.
    private final class Pair: Sendable {
        private let program: Companion
        private let facts: [String: String]

        init(_ kind: String) async throws {
            let folder = try TestFolder()
            program = try Companion(
                ["/usr/bin/python3", "-B", Programs.serve.replacing("serve", with: "postgres.py"), kind], in: folder,
                environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
            var facts: [String: String] = [:]
            while let line = await program.line(), line != "ready" {
                facts[String(line.prefix { $0 != "=" })] = String(line.drop { $0 != "=" }.dropFirst())
            }
            self.facts = facts
            try #require(facts.count == 3, "PostgreSQL did not start: is it installed? .ci/setup tests")
        }

        subscript(_ name: String) -> StoreLocation { StoreLocation(facts[name]!) }

        func tell(_ word: String) async throws {
            program.say(word)
            try #require(await program.line() == "ready", "the clusters did not do it: \(word)")
        }
    }

    /// Rows with rising numbers, written by several threads until a commit is not acknowledged.
    private final class Load: Sendable {
        private let next = Atomic(0)
        private let acknowledged = Mutex<[Int64]>([])

        var count: Int { acknowledged.withLock { $0.count } }
        var all: Set<Int64> { acknowledged.withLock { Set($0) } }

        func run(_ store: any ServerStore) async throws {
            _ = try await atOnce(FailoverTests.writers) { _ in
                while true {
                    let number = Int64(self.next.add(1, ordering: .relaxed).newValue)
                    do {
                        try store.transaction(.write) { try $0.rows("INSERT INTO push VALUES (?1)", .number(number)) }
                    } catch { return }
                    self.acknowledged.withLock { $0.append(number) }
                }
            }
        }
    }

    private static func found(_ store: any ServerStore) throws -> Set<Int64> {
        try store.transaction(.read) { Set(try $0.rows("SELECT number FROM push").map { try $0.number(0) }) }
    }

    @Test("with a quorum standby no acknowledged write is lost, and the servers go on with the standby")
    func quorum() async throws {
        let pair = try await Pair("sync")
        try pair["primary"].create(Self.schema)
        let store = try pair["both"].open(Self.schema, connections: Self.writers)
        let load = Load()
        async let end: Void = load.run(store)
        try await eventually { load.count >= 300 }
        try await pair.tell("freeze")
        // Each writer waits for the standby now.
        let before = load.count
        try await pair.tell("cancel")
        try await pair.tell("kill")
        try await end
        #expect(load.count == before)
        try await pair.tell("promote")
        let found = try Self.found(store)
        #expect(load.all.subtracting(found).isEmpty)
        try store.transaction(.write) { try $0.rows("INSERT INTO push VALUES (-1)") }
        #expect(try Self.found(store).contains(-1))
    }

    /// The control: the same loss must show where a commit does not wait for the standby.
    @Test("with an asynchronous standby acknowledged writes are lost")
    func asynchronous() async throws {
        let pair = try await Pair("async")
        try pair["primary"].create(Self.schema)
        let store = try pair["both"].open(Self.schema, connections: Self.writers)
        let load = Load()
        async let end: Void = load.run(store)
        try await eventually { load.count >= 300 }
        try await pair.tell("freeze")
        try await eventually { load.count >= 600 }
        try await pair.tell("kill")
        try await end
        try await pair.tell("promote")
        #expect(!load.all.subtracting(try Self.found(store)).isEmpty)
    }
}
#endif
