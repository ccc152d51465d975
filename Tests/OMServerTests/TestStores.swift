#if Server
// Stores of tests: a new SQLite file, or a new schema in the PostgreSQL cluster of this test run.

import Foundation
import OMServerStore
import Synchronization
import TestSupport
import Testing

/// What a store is on. A test of both has `arguments: StoreKind.allCases`.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, postgres

    var testDescription: String { rawValue }
}

/// The place of one test's store. The place is new and has no tables yet.
final class TestStore: Sendable {
    let location: StoreLocation
    let folder: TestFolder
    private let cluster: Server?
    private static let count = Mutex(0)

    /// The first test with PostgreSQL starts the cluster, and the end of the test run ends it.
    init(_ kind: StoreKind) async throws {
        folder = try TestFolder()
        switch kind {
        case .sqlite:
            cluster = nil
            location = .file(folder.file("store.db"))
        case .postgres:
            let cluster = try await Server.postgres.value
            let schema = "test\(Self.count.withLock { $0 += 1; return $0 })"
            self.cluster = cluster
            location = .postgres(cluster["url"] + "&options=-csearch_path%3D\(schema)")
            try await sql("CREATE SCHEMA \(schema)")
        }
    }

    /// The URL or the path, as `--store` takes it.
    var text: String {
        switch location {
        case .file(let path): path
        case .postgres(let url): url
        }
    }

    /// A new store with these tables.
    func make(_ schema: StoreSchema, connections: Int = 10, wait: Int = 30_000) throws -> any ServerStore {
        try location.create(schema)
        return KeptStore(try location.open(schema, connections: connections, wait: wait), self)
    }

    /// A store that keeps its place: a file must not go before its last connection.
    private final class KeptStore: ServerStore {
        private let store: any ServerStore
        private let place: TestStore

        init(_ store: any ServerStore, _ place: TestStore) { (self.store, self.place) = (store, place) }

        func transaction<R: Sendable>(_ access: StoreAccess, _ body: (any StoreTransaction) throws -> R) throws -> R {
            try store.transaction(access, body)
        }
    }

    /// Runs a statement as PostgreSQL's administrator does, in a connection of its own.
    @discardableResult
    func sql(_ text: String) async throws -> String { try checked(try await run(psql(text), in: folder)) }

    /// The same for synchronous functions.
    @discardableResult
    func sqlHere(_ text: String) throws -> String { try checked(try runHere(psql(text), in: folder)) }

    private func psql(_ text: String) -> [String] {
        [cluster!["psql"], "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", text, self.text]
    }

    /// An administrator's statement that PostgreSQL refused.
    private struct Refused: Error { let reason: String }

    private func checked(_ ran: Ran) throws -> String {
        guard ran.status == 0 else { throw Refused(reason: ran.errors) }
        return ran.output.trimmingCharacters(in: .newlines)
    }
}
#endif
