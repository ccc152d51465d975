#if Server
// Where the server's store is: a file, or a PostgreSQL database.

package enum StoreLocation: Hashable, Sendable {
    /// The path of an SQLite database.
    case file(String)
    /// `postgres://…` or `postgresql://…`, as libpq takes it. It can hold a password.
    case postgres(String)

    package init(_ text: String) {
        self = text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") ? .postgres(text) : .file(text)
    }

    /// How long a transaction waits for a connection, in milliseconds.
    package static let standardWait = 5_000

    /// Opens the store, whose tables must have the version of `schema`.
    ///
    /// - Parameters:
    ///   - connections: How many transactions can run at once.
    ///   - wait: How long another transaction waits for its turn, in milliseconds. Then: ``StoreError/busy``.
    package func open(
        _ schema: StoreSchema, connections: Int, wait: Int = standardWait
    ) throws(StoreError) -> any ServerStore {
        switch self {
        case .file(let path): try SQLiteStore.open(path, schema, connections: connections, wait: wait)
        case .postgres(let url): try PostgresStore.open(url, schema, connections: connections, wait: wait)
        }
    }

    /// Makes the tables of a new store, with what `fill` writes. If `fill` throws, there is no store.
    package func create(
        _ schema: StoreSchema, fill: (any StoreTransaction) throws -> Void = { _ in }
    ) throws {
        switch self {
        case .file(let path): try SQLiteStore.create(path, schema, fill: fill)
        case .postgres(let url): try PostgresStore.create(url, schema, fill: fill)
        }
    }

    /// Takes the tables of an older version to that of `schema`, completely or not at all.
    ///
    /// - Returns: The version that they had.
    @discardableResult
    package func migrate(_ schema: StoreSchema) throws -> Int64 {
        switch self {
        case .file(let path): try SQLiteStore.migrate(path, schema)
        case .postgres(let url): try PostgresStore.migrate(url, schema)
        }
    }
}
#endif
