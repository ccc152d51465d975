#if Server
// The store in a PostgreSQL database, for several servers.

/// Transactions of PostgreSQL: READ COMMITTED for writes, whose first statement locks the row of what they change; REPEATABLE
/// READ for reads, so that they see one state.
package final class PostgresStore: ServerStore {
    /// How often a transaction that another one disturbed runs.
    private static let mostTries = 5

    private let pool: ConnectionPool<PostgresConnection>

    private init(_ pool: ConnectionPool<PostgresConnection>) { self.pool = pool }

    package static func create(_ url: String, _ schema: StoreSchema) throws(StoreError) {
        let connection = try PostgresConnection(url)
        guard try connection.version() == nil else { throw .exists }
        try connection.execute("BEGIN")
        for statement in Self.versionTable + schema.steps.joined() {
            try connection.execute(StoreSchema.forPostgreSQL(statement))
        }
        _ = try connection.rows("INSERT INTO omvault_schema (version) VALUES (?1)", [.number(schema.version)])
        try connection.execute("COMMIT")
    }

    private static let versionTable = ["CREATE TABLE omvault_schema (version INTEGER NOT NULL)"]

    package static func open(_ url: String, _ schema: StoreSchema, connections: Int) throws(StoreError) -> PostgresStore {
        let pool = ConnectionPool(most: connections) { () throws(StoreError) in try PostgresConnection(url) }
        let first = try pool.take()
        guard let version = try first.version() else { throw .missing }
        guard version == schema.version else { throw .otherVersion(version) }
        pool.give(first)
        return PostgresStore(pool)
    }

    package func transaction<R: Sendable>(
        _ access: StoreAccess, _ body: (any StoreTransaction) throws -> R
    ) throws -> R {
        var tries = 0
        while true {
            tries += 1
            let connection = try pool.take()
            do {
                let result = try connection.transaction(access, body)
                pool.give(connection)
                return result
            } catch {
                guard connection.isUsable else {
                    pool.forget()
                    // Nothing of it was committed, so it runs again on another connection.
                    if !connection.wasCommitting, error as? StoreError == .unreachable, tries < Self.mostTries { continue }
                    throw error
                }
                pool.give(connection)
                guard case StoreError.refused(let state) = error, ["40001", "40P01"].contains(state), tries < Self.mostTries
                else {
                    throw error
                }
            }
        }
    }
}
#endif
