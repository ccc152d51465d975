#if Server
// The store in a PostgreSQL database, for several servers.

internal import Glibc

/// Transactions of PostgreSQL: READ COMMITTED for writes, whose first statement locks the row of what they change; REPEATABLE
/// READ for reads, so that they see one state.
package final class PostgresStore: ServerStore {
    /// How often a transaction that another one disturbed runs.
    private static let mostTries = 8

    private let pool: ConnectionPool<PostgresConnection>

    private init(_ pool: ConnectionPool<PostgresConnection>) { self.pool = pool }

    package static func create(
        _ url: String, _ schema: StoreSchema, fill: (any StoreTransaction) throws -> Void
    ) throws {
        let connection = try PostgresConnection(url)
        guard try connection.version() == nil else { throw StoreError.exists }
        // Names and texts are UTF-8; another encoding would change or refuse them.
        guard try connection.rows("SHOW server_encoding", []).first?.text(0) == "UTF8" else {
            throw StoreError.refused(state: "22021")
        }
        try connection.transaction(.write) { transaction in
            do throws(StoreError) {
                for statement in versionTable + schema.steps.joined() {
                    try connection.execute(StoreSchema.forPostgreSQL(statement))
                }
            } catch {
                // Another `init` runs, or another program has a table with such a name.
                if case .refused(let state) = error, ["42P07", "42710", "23505"].contains(state) { throw StoreError.exists }
                throw error
            }
            try transaction.rows("INSERT INTO omvault_schema (version) VALUES (?1)", .number(schema.version))
            try fill(transaction)
        }
    }

    private static let versionTable = ["CREATE TABLE omvault_schema (version INTEGER NOT NULL)"]

    package static func open(
        _ url: String, _ schema: StoreSchema, connections: Int, wait: Int
    ) throws(StoreError) -> PostgresStore {
        let pool = ConnectionPool(most: connections, wait: wait) { () throws(StoreError) in try PostgresConnection(url) }
        let first = try pool.take()
        guard let version = try first.version() else { throw .missing }
        guard version == schema.version else { throw .otherVersion(version) }
        pool.give(first)
        return PostgresStore(pool)
    }

    package static func migrate(_ url: String, _ schema: StoreSchema) throws -> Int64 {
        let connection = try PostgresConnection(url)
        guard try connection.version() != nil else { throw StoreError.missing }
        return try connection.transaction(.write) { transaction in
            // Of two that migrate at once, the second one waits here and then finds nothing to do.
            guard let row = try transaction.lockedRow("SELECT version FROM omvault_schema") else { throw StoreError.damaged }
            let version = try row.number(0)
            guard (1...schema.version).contains(version) else { throw StoreError.otherVersion(version) }
            for statement in schema.steps.dropFirst(Int(version)).joined() {
                try connection.execute(StoreSchema.forPostgreSQL(statement))
            }
            try transaction.rows("UPDATE omvault_schema SET version = ?1", .number(schema.version))
            return version
        }
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
                let cause = error as? StoreError
                if cause == .unreachable || !connection.isUsable {
                    pool.forget()
                    pool.forgetIdle()
                } else {
                    pool.give(connection)
                }
                guard tries < Self.mostTries else { throw error }
                switch cause {
                // Nothing of it was committed, so it runs again on another connection.
                case .unreachable? where !connection.wasCommitting: break
                // A pause by chance: two that disturb each other must not meet again each time.
                case .refused("40001")?, .refused("40P01")?: usleep(UInt32.random(in: 0...(2_000 << tries)))
                default: throw error
                }
            }
        }
    }
}
#endif
