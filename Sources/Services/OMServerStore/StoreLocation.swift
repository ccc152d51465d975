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

    /// Opens the store, whose tables must have the version of `schema`.
    ///
    /// - Parameter connections: How many transactions can run at once.
    package func open(_ schema: StoreSchema, connections: Int) throws(StoreError) -> any ServerStore {
        switch self {
        case .file(let path): try SQLiteStore.open(path, schema, connections: connections)
        case .postgres(let url): try PostgresStore.open(url, schema, connections: connections)
        }
    }

    /// Makes the tables of a new store.
    package func create(_ schema: StoreSchema) throws(StoreError) {
        switch self {
        case .file(let path): try SQLiteStore.create(path, schema)
        case .postgres(let url): try PostgresStore.create(url, schema)
        }
    }
}
#endif
