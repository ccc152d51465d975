#if Server
// Backups of the server's store: docs/formats/server-backup.md.

package import OMServerStore
internal import OMSystem

package enum ServerBackup {
    static let start = Array("OMSB1".utf8)
    static let digestCount = 32
    /// The longest text or value. SQLite takes no longer one.
    static let longestValue = 20 << 20

    enum Part: UInt8 { case table = 1, row, end }
    enum Value: UInt8 { case null, number, text, bytes }

    /// Writes all rows of all tables, as one transaction sees them, into a new file with mode 0600. Others can write meanwhile.
    ///
    /// - Returns: The number of rows.
    package static func write(
        _ store: any ServerStore, _ schema: StoreSchema, to path: String, now: Int64
    ) throws -> Int64 {
        var finished: Draft?
        let rows = try store.transaction(.read) { transaction in
            // If the transaction runs again, it begins a new file, and the first one goes.
            var writer = try ServerBackupWriter(path, version: schema.version, now: now)
            for table in schema.tables {
                try writer.table(table)
                try transaction.eachRow("SELECT * FROM \(table)") { try writer.row($0) }
            }
            let rows = writer.rows
            finished = try writer.end()
            return rows
        }
        if let draft = finished.take() { try draft.finish() }
        return rows
    }

    /// Makes a store with the rows of a backup, or fills one that `init` made. If the backup is older, its tables then become
    /// those of `schema`. An error leaves the store as it was.
    ///
    /// - Returns: The number of rows.
    package static func restore(
        _ path: String, to location: StoreLocation, _ schema: StoreSchema
    ) throws -> Int64 {
        let version = try ServerBackupReader(path).version
        guard version >= 1, version <= UInt64(schema.version) else { throw BackupFault.laterVersion(version) }
        let older = schema.of(version: Int64(version))
        var rows: Int64 = 0
        if let store = try opened(location, schema) {
            guard older.version == schema.version else { throw BackupFault.storeInUse }
            try store.transaction(.write) { transaction in
                for table in schema.tables {
                    guard try transaction.row("SELECT 1 FROM \(table) LIMIT 1") == nil else { throw BackupFault.storeInUse }
                }
                rows = try fill(transaction, from: path, older)
            }
            return rows
        }
        try location.create(older) { rows = try fill($0, from: path, older) }
        try location.migrate(schema)
        return rows
    }

    /// The store, or nil if there is none.
    private static func opened(_ location: StoreLocation, _ schema: StoreSchema) throws -> (any ServerStore)? {
        do throws(StoreError) { return try location.open(schema, connections: 1) } catch {
            switch error {
            case .missing: return nil
            case .otherVersion: throw BackupFault.storeInUse
            default: throw error
            }
        }
    }

    private static func fill(
        _ transaction: any StoreTransaction, from path: String, _ schema: StoreSchema
    ) throws -> Int64 {
        var reader = try ServerBackupReader(path)
        return try reader.rows(schema.tables) { table, row in
            let values = (1...row.count).map { "?\($0)" }.joined(separator: ", ")
            do throws(StoreError) { try transaction.rows("INSERT INTO \(table) VALUES (\(values))", row) } catch {
                switch error {
                case .damaged, .refused: throw BackupFault.damaged
                default: throw error
                }
            }
        }
    }
}
#endif
