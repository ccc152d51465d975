#if Server
// Stores of tests: a new SQLite file, or a new schema in the PostgreSQL database that OMVAULT_TEST_POSTGRES names.

import Foundation
import OMSecrets
import OMServerStore
import TestSupport
import Testing

/// What a store is on. A test of all has `arguments: StoreKind.allCases`.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, postgres

    static let allCases: [StoreKind] = postgresURL == nil ? [.sqlite] : [.sqlite, .postgres]
    fileprivate static var postgresURL: String? { ProcessInfo.processInfo.environment["OMVAULT_TEST_POSTGRES"] }

    var testDescription: String { rawValue }
}

/// The place of one test's store. The place is new and has no tables yet.
final class TestStore: Sendable {
    let location: StoreLocation
    let folder: TestFolder

    init(_ kind: StoreKind) async throws {
        folder = try TestFolder()
        guard kind == .postgres else {
            location = .file(folder.file("store.db"))
            return
        }
        let url = try #require(StoreKind.postgresURL)
        let name = "test\(Hex.encode(Random.bytes(8)))"
        let empty = StoreSchema(steps: [[]])
        do { try StoreLocation(url).create(empty) } catch { guard error == .exists || Self.isRace(error) else { throw error } }
        let whole = try StoreLocation(url).open(empty, connections: 1)
        try whole.transaction(.write) { try $0.rows("CREATE SCHEMA \(name)") }
        location = StoreLocation("\(url)\(url.contains("?") ? "&" : "?")options=-csearch_path%3D\(name)")
    }

    /// Another test made the table at the same time.
    private static func isRace(_ error: StoreError) -> Bool {
        if case .refused = error { true } else { false }
    }

    /// A new store with these tables.
    func make(_ schema: StoreSchema, connections: Int = 10) throws -> any ServerStore {
        try location.create(schema)
        return try location.open(schema, connections: connections)
    }
}
#endif
