#if Server
// Tests of the store: the same for SQLite and PostgreSQL.

import OMServerStore
import Synchronization
import TestSupport
import Testing

@Suite("The server's store", .onOwnThreads) struct StoreTests {
    static let schema = StoreSchema(steps: [
        [
            "CREATE TABLE thing (id BLOB NOT NULL PRIMARY KEY, number INTEGER NOT NULL, name TEXT) STRICT",
            "CREATE TABLE part (id INTEGER NOT NULL PRIMARY KEY, thing BLOB NOT NULL REFERENCES thing (id) ON DELETE CASCADE) STRICT",
            "CREATE TABLE piece (part INTEGER NOT NULL PRIMARY KEY REFERENCES part (id) ON DELETE CASCADE) STRICT",
        ]
    ])
    struct Stop: Error {}

    static func add(_ id: UInt8, _ number: Int64, _ transaction: any StoreTransaction) throws {
        try transaction.rows("INSERT INTO thing VALUES (?1, ?2, ?3)", .bytes([id]), .number(number), .null)
    }

    static func count(_ store: any ServerStore) throws -> Int64 {
        try store.transaction(.read) { try $0.row("SELECT count(*) FROM thing")?.number(0) ?? -1 }
    }

    @Test("what a transaction wrote is there for the next one, and what failed is not", arguments: StoreKind.allCases)
    func commits(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        try store.transaction(.write) { try Self.add(1, 7, $0) }
        #expect(throws: Stop.self) {
            try store.transaction(.write) { transaction in
                try transaction.rows("DELETE FROM thing")
                throw Stop()
            }
        }
        let rows = try store.transaction(.read) { try $0.rows("SELECT id, number, name FROM thing") }
        #expect(rows == [SQLRow([.bytes([1]), .number(7), .null])])
    }

    @Test("a body that goes on after a refused statement commits nothing", arguments: StoreKind.allCases)
    func failedStatement(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        #expect(throws: StoreError.refused(state: "25P02")) {
            try store.transaction(.write) { transaction in
                try Self.add(1, 7, transaction)
                try? Self.add(1, 8, transaction)
            }
        }
        #expect(try Self.count(store) == 0)
        try store.transaction(.write) { try Self.add(1, 7, $0) }
        #expect(try Self.count(store) == 1)
    }

    @Test("a queued statement runs before the next one, and with the commit", arguments: StoreKind.allCases)
    func queued(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        try store.transaction(.write) { transaction in
            try transaction.later("INSERT INTO thing VALUES (?1, ?2, NULL)", .bytes([1]), .number(7))
            try transaction.later("UPDATE thing SET number = number + 1")
            #expect(try transaction.row("SELECT number FROM thing")?.number(0) == 8)
            try transaction.later("UPDATE thing SET number = number + ?1", .number(2))
        }
        let sum = SQLStatement("SELECT CAST(SUM(number) AS BIGINT) FROM thing WHERE number > ?1", .number(0))
        let answers = try store.transaction(.write) { transaction in
            try transaction.later("INSERT INTO thing VALUES (?1, 5, NULL)", .bytes([2]))
            return try transaction.answers([
                sum, SQLStatement("SELECT t.number FROM thing t LEFT JOIN part p ON p.thing = t.id", locked: "t"),
                SQLStatement("DELETE FROM thing"), sum,
            ])
        }
        #expect(answers.map(\.count) == [1, 2, 0, 1])
        #expect(answers[0] == [SQLRow([.number(15)])] && answers[3] == [SQLRow([.null])])
        #expect(throws: Stop.self) {
            try store.transaction(.write) { transaction in
                try transaction.later("INSERT INTO thing VALUES (?1, 7, NULL)", .bytes([3]))
                throw Stop()
            }
        }
        #expect(try Self.count(store) == 0)
        #expect(try store.transaction(.write) { _ in 7 } == 7)
        #expect(try store.transaction(.read) { _ in 8 } == 8)
    }

    @Test("an error of a queued statement undoes its transaction, and the next one runs", arguments: StoreKind.allCases)
    func failedInQueue(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema, connections: 1)
        let again = SQLStatement("INSERT INTO thing VALUES (?1, 8, NULL)", .bytes([1]))
        let expected = try #require(
            #expect(throws: StoreError.self) {
                try store.transaction(.write) { transaction in
                    try Self.add(1, 7, transaction)
                    try transaction.rows(again.sql, again.values)
                }
            })
        // With COMMIT; with a statement; with several; with an error of the body.
        for place in 0..<4 {
            let error = #expect(throws: (any Error).self, "place \(place)") {
                try store.transaction(.write) { transaction in
                    try transaction.later("INSERT INTO thing VALUES (?1, 7, NULL)", .bytes([1]))
                    try transaction.later(again.sql, again.values)
                    switch place {
                    case 1: try transaction.rows("DELETE FROM thing")
                    case 2: _ = try transaction.answers([SQLStatement("SELECT 1"), SQLStatement("DELETE FROM thing")])
                    case 3: throw Stop()
                    default: break
                    }
                }
            }
            // SQLite says it at once.
            let isStop = place == 3 && kind == .postgres
            #expect(isStop ? error is Stop : error as? StoreError == expected, "place \(place)")
            #expect(try Self.count(store) == 0)
        }
        try store.transaction(.write) { try Self.add(1, 7, $0) }
        #expect(throws: expected) { try store.transaction(.write) { try $0.later(again.sql, again.values) } }
        #expect(throws: StoreError.refused(state: "25P02")) {
            try store.transaction(.write) { transaction in
                try? transaction.later(again.sql, again.values)
                _ = try? transaction.rows("SELECT 1")
                try? transaction.later("DELETE FROM thing", [])
            }
        }
        #expect(try Self.count(store) == 1)
    }

    @Test("one statement that reads runs alone, and its error leaves the next one alone", arguments: StoreKind.allCases)
    func one(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema, connections: 1)
        try store.transaction(.write) { try Self.add(1, 7, $0) }
        for _ in 0..<2 {
            let row = try store.transaction(.singleRead) { try $0.row("SELECT number FROM thing WHERE id = ?1", .bytes([1])) }
            #expect(row == SQLRow([.number(7)]))
            #expect(throws: StoreError.self) { try store.transaction(.singleRead) { try $0.rows("SELECT nothing FROM nowhere") } }
            #expect(throws: Stop.self) {
                try store.transaction(.singleRead) { transaction in
                    try transaction.rows("SELECT number FROM thing")
                    throw Stop()
                }
            }
            #expect(try Self.count(store) == 1)
        }
    }

    @Test("a transaction whose first statement fails is undone, and the next one runs", arguments: StoreKind.allCases)
    func failedFirst(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema, connections: 1)
        for sql in ["SELECT nothing FROM nowhere", "INSERT INTO thing (name) VALUES (NULL)"] {
            for access: StoreAccess in [.read, .write] {
                for _ in 0..<2 {
                    #expect(throws: StoreError.self) { try store.transaction(access) { try $0.rows(sql) } }
                    #expect(throws: StoreError.refused(state: "25P02")) {
                        try store.transaction(.write) { transaction in
                            _ = try? transaction.rows(sql)
                            try? Self.add(1, 7, transaction)
                        }
                    }
                }
            }
        }
        try store.transaction(.write) { try Self.add(2, 7, $0) }
        #expect(try store.transaction(.read) { try $0.rows("SELECT id FROM thing") } == [SQLRow([.bytes([2])])])
    }

    @Test("every value comes back as it was", arguments: StoreKind.allCases)
    func values(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        let planes = String(
            String.UnicodeScalarView(
                (0...16).flatMap { plane in
                    [0x10, 0xA9, 0x100, 0xFFF0].compactMap { UnicodeScalar(UInt32(plane << 16 | $0)) }
                }))
        let rows: [[SQLValue]] = [
            [.bytes([]), .number(.min), .text("")], [.bytes([0]), .number(.max), .null],
            [.bytes([0, 0, 1, 0]), .number(-1), .text(planes)],
            [.bytes(Array(0...255)), .number(0), .text("it's \"so\"; --\\ \n?1 $1")],
            [.bytes([7]), .number(1 << 53 + 1), .text("e\u{301} é" + String(repeating: "é", count: 1 << 20))],
        ]
        try store.transaction(.write) { transaction in
            for row in rows { try transaction.rows("INSERT INTO thing VALUES (?1, ?2, ?3)", row) }
        }
        for row in rows {
            let found = try store.transaction(.read) { try $0.row("SELECT id, number, name FROM thing WHERE id = ?1", row[0]) }
            #expect(found == SQLRow(row))
        }
        // What the two databases call by other names.
        let told = try store.transaction(.read) {
            try $0.row(
                "SELECT count(*), EXISTS (SELECT 1 FROM thing), CAST(SUM(number) AS BIGINT) FROM thing WHERE number IN (-1, 0)")
        }
        #expect(told == SQLRow([.number(2), .number(1), .number(-1)]))
        // é is after z in bytes, and before it in a dictionary.
        try store.transaction(.write) { transaction in
            try transaction.rows("DELETE FROM thing")
            for (id, name) in ["é", "z", "Z", "a"].enumerated() {
                try transaction.rows("INSERT INTO thing VALUES (?1, 0, ?2)", .bytes([UInt8(id)]), .text(name))
            }
        }
        let names = try store.transaction(.read) { try $0.rows("SELECT name FROM thing ORDER BY name").map { try $0.text(0) } }
        #expect(names == ["Z", "a", "z", "é"])
    }

    @Test("a row that is removed takes the rows that refer to it along", arguments: StoreKind.allCases)
    func cascade(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        try store.transaction(.write) { transaction in
            try Self.add(1, 7, transaction)
            try transaction.rows("INSERT INTO part VALUES (1, ?1)", .bytes([1]))
            try transaction.rows("INSERT INTO piece VALUES (1)")
        }
        try store.transaction(.write) { try $0.rows("DELETE FROM thing") }
        #expect(try store.transaction(.read) { try $0.rows("SELECT id FROM part") }.isEmpty)
        #expect(try store.transaction(.read) { try $0.rows("SELECT part FROM piece") }.isEmpty)
        #expect(throws: StoreError.self) {
            try store.transaction(.write) { try $0.rows("INSERT INTO part VALUES (1, ?1)", .bytes([9])) }
        }
    }

    @Test("a transaction that reads sees one state", arguments: StoreKind.allCases)
    func oneState(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        try store.transaction(.write) { try Self.add(1, 7, $0) }
        try store.transaction(.read) { transaction in
            let before = try transaction.rows("SELECT number FROM thing")
            try store.transaction(.write) { try $0.rows("UPDATE thing SET number = 8") }
            try store.transaction(.write) { try Self.add(2, 9, $0) }
            #expect(try transaction.rows("SELECT number FROM thing") == before)
        }
        #expect(try Self.count(store) == 2)
    }

    @Test("many rows are read a few at a time, and an error stops them", arguments: StoreKind.allCases)
    func eachRow(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        try store.transaction(.write) { transaction in for id in 0..<200 { try Self.add(UInt8(id), Int64(id), transaction) } }
        var sum: Int64 = 0
        var seen = 0
        try store.transaction(.read) { transaction in
            // Twice in one transaction: the first one is closed.
            for _ in 0..<2 { try transaction.eachRow("SELECT number FROM thing ORDER BY id") { sum += try $0.number(0) } }
        }
        #expect(sum == 199 * 200)
        #expect(throws: Stop.self) {
            try store.transaction(.read) { transaction in
                try transaction.eachRow("SELECT number FROM thing ORDER BY id") { _ in
                    seen += 1
                    if seen == 33 { throw Stop() }
                }
            }
        }
        #expect(seen == 33)
        #expect(try Self.count(store) == 200)
    }

    @Test("no update of two writers is lost", arguments: StoreKind.allCases)
    func lostUpdate(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        try store.transaction(.write) { try Self.add(1, 0, $0) }
        _ = try await atOnce(8) { _ in
            for _ in 0..<25 {
                try store.transaction(.write) { transaction in
                    let row = try transaction.lockedRow("SELECT number FROM thing WHERE id = ?1", .bytes([1]))
                    let number = try #require(try row?.number(0))
                    try transaction.rows("UPDATE thing SET number = ?1 WHERE id = ?2", .number(number + 1), .bytes([1]))
                }
            }
        }
        #expect(try store.transaction(.read) { try $0.row("SELECT number FROM thing")?.number(0) } == 200)
    }

    @Test("of many that insert the same key, one wins", arguments: StoreKind.allCases)
    func uniqueRace(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        for round in 0..<10 {
            let won = try await atOnce(8) { number in
                try store.transaction(.write) { transaction in
                    try transaction.row(
                        "INSERT INTO thing VALUES (?1, ?2, NULL) ON CONFLICT (id) DO NOTHING RETURNING number",
                        .bytes([UInt8(round)]),
                        .number(Int64(number))) != nil
                }
            }
            #expect(won.filter { $0 }.count == 1)
        }
    }

    /// With a counter of the database itself, a reader can see change 2 before change 1, and never asks for change 1 again.
    @Test("a reader misses no change, however many write at once", arguments: StoreKind.allCases)
    func cursor(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema)
        try store.transaction(.write) { try Self.add(1, 0, $0) }
        let isDone = Atomic(false)
        async let written: Void = {
            defer { isDone.store(true, ordering: .sequentiallyConsistent) }
            _ = try await atOnce(8) { _ in
                for _ in 0..<25 {
                    try store.transaction(.write) { transaction in
                        let row = try transaction.row(
                            "UPDATE thing SET number = number + 1 WHERE id = ?1 RETURNING number", .bytes([1]))
                        let number = try #require(try row?.number(0))
                        try transaction.rows("INSERT INTO part VALUES (?1, ?2)", .number(number), .bytes([1]))
                    }
                }
            }
        }()
        let seen = try await onOwnThread {
            var seen: [Int64] = []
            var isLast = false
            while !isLast {
                isLast = isDone.load(ordering: .sequentiallyConsistent)
                seen += try store.transaction(.read) { transaction in
                    try transaction.rows("SELECT id FROM part WHERE id > ?1 ORDER BY id", .number(seen.last ?? 0)).map {
                        try $0.number(0)
                    }
                }
            }
            return seen
        }
        #expect(seen == Array(1...200))
        _ = try await written
    }

    @Test("a transaction that gets no connection in time is told so, and the next one runs", arguments: StoreKind.allCases)
    func busy(_ kind: StoreKind) async throws {
        let store = try await TestStore(kind).make(Self.schema, connections: 1, wait: 50)
        try store.transaction(.read) { _ in
            #expect(throws: StoreError.busy) { _ = try store.transaction(.read) { try $0.rows("SELECT 1") } }
        }
        #expect(try Self.count(store) == 0)
        for _ in 0..<5 { #expect(throws: Stop.self) { try store.transaction(.write) { _ in throw Stop() } } }
        #expect(try Self.count(store) == 0)
    }

    // MARK: - Places

    @Test("a place without a store, with one, with one of another version", arguments: StoreKind.allCases)
    func places(_ kind: StoreKind) async throws {
        let place = try await TestStore(kind)
        #expect(throws: StoreError.missing) { try place.location.open(Self.schema, connections: 1) }
        #expect(throws: StoreError.missing) { try place.location.migrate(Self.schema) }
        try place.location.create(Self.schema)
        #expect(throws: StoreError.exists) { try place.location.create(Self.schema) }
        let later = StoreSchema(steps: Self.schema.steps + [["CREATE TABLE more (id INTEGER NOT NULL PRIMARY KEY) STRICT"]])
        #expect(throws: StoreError.otherVersion(1)) { try place.location.open(later, connections: 1) }
        try place.location.migrate(later)
        #expect(throws: StoreError.otherVersion(2)) { try place.location.open(Self.schema, connections: 1) }
        #expect(throws: StoreError.otherVersion(2)) { try place.location.migrate(Self.schema) }
    }

    @Test("a new version keeps the rows, and a step that fails changes nothing", arguments: StoreKind.allCases)
    func migrates(_ kind: StoreKind) async throws {
        let place = try await TestStore(kind)
        let step = [
            "CREATE TABLE copy (id BLOB NOT NULL PRIMARY KEY, name TEXT) STRICT", "INSERT INTO copy SELECT id, name FROM thing",
            "CREATE INDEX copy_name ON copy (name)",
        ]
        let later = StoreSchema(steps: Self.schema.steps + [step])
        let broken = StoreSchema(steps: Self.schema.steps + [step + ["INSERT INTO nowhere VALUES (1)"]])
        try place.make(Self.schema).transaction(.write) { try Self.add(5, 7, $0) }
        #expect(throws: StoreError.self) { try place.location.migrate(broken) }
        #expect(try Self.count(try place.location.open(Self.schema, connections: 1)) == 1)
        #expect(try place.location.migrate(later) == 1)
        #expect(try place.location.migrate(later) == 2)
        let store = try place.location.open(later, connections: 1)
        #expect(try store.transaction(.read) { try $0.rows("SELECT id FROM copy") } == [SQLRow([.bytes([5])])])
        #expect(try Self.count(store) == 1)
    }

    @Test("a store whose first rows fail is not made", arguments: StoreKind.allCases)
    func fill(_ kind: StoreKind) async throws {
        let place = try await TestStore(kind)
        #expect(throws: Stop.self) {
            try place.location.create(Self.schema) { transaction in
                try Self.add(1, 7, transaction)
                throw Stop()
            }
        }
        #expect(throws: StoreError.missing) { try place.location.open(Self.schema, connections: 1) }
        try place.location.create(Self.schema) { try Self.add(1, 7, $0) }
        #expect(try Self.count(try place.location.open(Self.schema, connections: 1)) == 1)
    }
}
#endif
