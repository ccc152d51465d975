#if Server
// What only PostgreSQL can do to a transaction.

import OMServerStore
import Synchronization
import TestSupport
import Testing

@Suite("The server's store on PostgreSQL", .onOwnThreads) struct PostgresStoreTests {
    private static let schema = StoreTests.schema

    private static func fail(_ state: String, _ transaction: any StoreTransaction) throws {
        try transaction.rows("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '\(state)'; END $$")
    }

    private static func process(_ transaction: any StoreTransaction) throws -> Int64 {
        try #require(try transaction.row("SELECT pg_backend_pid()")?.number(0))
    }

    @Test("an error before the first statement closes no connection, also behind a read")
    func errorBeforeStatement() async throws {
        let store = try await TestStore(.postgres).make(Self.schema, connections: 1)
        struct Stop: Error {}
        let process = try store.transaction(.read) { try Self.process($0) }
        for access: StoreAccess in [.read, .write, .singleRead] {
            #expect(throws: Stop.self) { try store.transaction(access) { _ in throw Stop() } }
            #expect(try store.transaction(.read) { try Self.process($0) } == process)
        }
    }

    @Test("a transaction that another one disturbed runs again, but not for ever", arguments: ["40001", "40P01"])
    func again(_ state: String) async throws {
        let store = try await TestStore(.postgres).make(Self.schema)
        var tries = 0
        try store.transaction(.write) { transaction in
            tries += 1
            try StoreTests.add(1, 7, transaction)
            if tries < 3 { try Self.fail(state, transaction) }
        }
        #expect(tries == 3)
        #expect(try StoreTests.count(store) == 1)
        tries = 0
        #expect(throws: StoreError.refused(state: state)) {
            try store.transaction(.write) { transaction in
                tries += 1
                try Self.fail(state, transaction)
            }
        }
        #expect(tries == 8)
    }

    @Test("two that wait for each other both end")
    func deadlock() async throws {
        let store = try await TestStore(.postgres).make(Self.schema)
        try store.transaction(.write) { transaction in for id: UInt8 in [0, 1] { try StoreTests.add(id, 0, transaction) } }
        let started = Mutex(0)
        let tries = try await atOnce(2) { number in
            var tries = 0
            try store.transaction(.write) { transaction in
                tries += 1
                for (place, id) in [UInt8(number), UInt8(1 - number)].enumerated() {
                    try transaction.rows("UPDATE thing SET number = number + 1 WHERE id = ?1", .bytes([id]))
                    guard place == 0, tries == 1 else { continue }
                    started.withLock { $0 += 1 }
                    eventuallyHere { started.withLock { $0 == 2 } }
                }
            }
            return tries
        }
        #expect(tries.contains { $0 > 1 })
        #expect(
            try store.transaction(.read) { try $0.rows("SELECT number FROM thing") }.allSatisfy { $0 == SQLRow([.number(2)]) })
    }

    @Test("a connection that PostgreSQL ended is replaced, in a transaction and between two")
    func ended() async throws {
        let place = try await TestStore(.postgres)
        let store = try place.make(Self.schema, connections: 4)
        var tries = 0
        try store.transaction(.write) { transaction in
            tries += 1
            try StoreTests.add(1, 7, transaction)
            if tries == 1 { try place.sqlHere("SELECT pg_terminate_backend(\(try Self.process(transaction)), 10000)") }
            // The commit would not know whether it was done.
            try transaction.rows("SELECT 1")
        }
        #expect(tries == 2)
        // All connections are idle, and all end.
        let started = Mutex(0)
        let processes = try await atOnce(4) { _ in
            try store.transaction(.read) { transaction in
                started.withLock { $0 += 1 }
                eventuallyHere { started.withLock { $0 == 4 } }
                return try Self.process(transaction)
            }
        }
        #expect(Set(processes).count == 4)
        for process in processes { try await place.sql("SELECT pg_terminate_backend(\(process), 10000)") }
        #expect(try StoreTests.count(store) == 1)
        #expect(!processes.contains(try store.transaction(.read) { try Self.process($0) }))
        _ = try await atOnce(8) { _ in _ = try StoreTests.count(store) }
    }

    @Test("a connection that ends before the answer to its COMMIT of a read is read is replaced")
    func endedAfterRead() async throws {
        let place = try await TestStore(.postgres)
        let store = try place.make(Self.schema, connections: 1)
        for access: StoreAccess in [.read, .write, .singleRead] {
            let process = try store.transaction(.read) { try Self.process($0) }
            // The transaction is over, though its answer is not read.
            let state = "SELECT 1 FROM pg_stat_activity WHERE pid = \(process) AND state = 'idle'"
            let other = try place.location.open(Self.schema, connections: 1)
            try await eventually { try other.transaction(.read) { try $0.row(state) } != nil }
            try await place.sql("SELECT pg_terminate_backend(\(process), 10000)")
            var tries = 0
            let next = try store.transaction(access) { transaction in
                tries += 1
                return try Self.process(transaction)
            }
            #expect(next != process && tries == 2)
        }
    }

    @Test("an error of a queued statement that another transaction caused lets it run again")
    func queuedAgain() async throws {
        let store = try await TestStore(.postgres).make(Self.schema, connections: 1)
        var tries = 0
        try store.transaction(.write) { transaction in
            tries += 1
            try StoreTests.add(UInt8(tries), 7, transaction)
            if tries < 3 {
                try transaction.later("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$")
                try transaction.later("DELETE FROM thing")
            }
        }
        #expect(tries == 3)
        #expect(try store.transaction(.read) { try $0.rows("SELECT id FROM thing") } == [SQLRow([.bytes([3])])])
    }

    @Test("a warning of a queued statement is none of the commit")
    func warnedBefore() async throws {
        let store = try await TestStore(.postgres).make(Self.schema)
        try store.transaction(.write) { try $0.later("DO $$ BEGIN RAISE WARNING 'so what'; END $$") }
    }

    /// A trigger that runs in the COMMIT.
    private static func atCommit(_ statement: String, _ place: TestStore) async throws {
        try await place.sql(
            """
            CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(statement); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER late AFTER INSERT ON thing DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()
            """)
    }

    @Test("a transaction whose connection ends in the commit does not run again")
    func endedInCommit() async throws {
        let place = try await TestStore(.postgres)
        let store = try place.make(Self.schema)
        try await Self.atCommit("PERFORM pg_terminate_backend(pg_backend_pid())", place)
        var tries = 0
        #expect(throws: StoreError.unreachable) {
            try store.transaction(.write) { transaction in
                tries += 1
                try StoreTests.add(1, 7, transaction)
            }
        }
        #expect(tries == 1)
        #expect(try StoreTests.count(store) == 0)
    }

    @Test("a commit that PostgreSQL refuses is an error, and the next transaction runs")
    func refusedCommit() async throws {
        let place = try await TestStore(.postgres)
        let store = try place.make(Self.schema, connections: 1)
        try await Self.atCommit("RAISE EXCEPTION USING ERRCODE = '23514'", place)
        #expect(throws: StoreError.refused(state: "23514")) { try store.transaction(.write) { try StoreTests.add(1, 7, $0) } }
        #expect(try StoreTests.count(store) == 0)
    }

    /// That is how PostgreSQL answers if the wait for a standby was cancelled.
    @Test("a commit with a warning is no acknowledged commit")
    func warnedCommit() async throws {
        let place = try await TestStore(.postgres)
        let store = try place.make(Self.schema)
        try await Self.atCommit("RAISE WARNING 'on this machine only'", place)
        var tries = 0
        #expect(throws: StoreError.unreachable) {
            try store.transaction(.write) { transaction in
                tries += 1
                try StoreTests.add(1, 7, transaction)
            }
        }
        #expect(tries == 1)
        try await place.sql("DROP TRIGGER late ON thing")
        try await place.sql("DROP FUNCTION late")
        // A notice is no warning.
        try await Self.atCommit("RAISE NOTICE 'all is well'", place)
        try store.transaction(.write) { try StoreTests.add(2, 7, $0) }
    }

    @Test("a commit waits for the disk, also where the administrator has switched that off")
    func durable() async throws {
        let place = try await TestStore(.postgres)
        guard case .postgres(let url) = place.location else { return }
        for (asked, used) in [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")] {
            let location = StoreLocation(url.replacing("options=", with: "options=-csynchronous_commit%3D\(asked)%20"))
            if asked == "off" { try location.create(Self.schema) }
            let store = try location.open(Self.schema, connections: 1)
            #expect(try store.transaction(.read) { try $0.row("SHOW synchronous_commit")?.text(0) } == used)
        }
    }

    @Test("a lock that another transaction keeps is given up in bounded time", .timeLimit(.minutes(1)))
    func locked() async throws {
        let store = try await TestStore(.postgres).make(Self.schema)
        try store.transaction(.write) { try StoreTests.add(1, 0, $0) }
        try store.transaction(.write) { transaction in
            _ = try transaction.lockedRow("SELECT number FROM thing")
            #expect(throws: StoreError.busy) {
                try store.transaction(.write) { other in
                    try other.rows("SET LOCAL lock_timeout = '50ms'")
                    _ = try other.lockedRow("SELECT number FROM thing")
                }
            }
        }
    }

    @Test(
        "no error quotes the URL with its password",
        arguments: [
            "postgres://omvault:geheim@/nowhere?host=/nowhere", "postgres://omvault:geheim%zz@localhost/",
            "postgres://o:geheim@[::1/x",
            "postgres://o:geheim@/x?geheim=1",
        ])
    func password(_ url: String) {
        do {
            _ = try StoreLocation(url).open(Self.schema, connections: 1)
            Issue.record("it opened")
        } catch {
            #expect(error == .unreachable)
            #expect(!"\(error)".contains("geheim"))
        }
    }
}
#endif
