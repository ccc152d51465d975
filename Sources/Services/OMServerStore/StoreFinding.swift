#if Server
// What `doctor` asks a store.

internal import Glibc

/// Something about a store that an administrator must mend.
package enum StoreFinding: Hashable, Sendable {
    /// SQLite finds damage in the file, or a table cannot be read.
    case damaged
    /// This setting of PostgreSQL is off. A power cut can lose or damage what was acknowledged.
    case unsafeSetting(String)
    /// The database's clock is this many seconds ahead of the clock of this machine. Negative: behind.
    case clockDiffers(Int64)
}

extension StoreLocation {
    /// Looks at the whole store. For SQLite this reads all of the file.
    ///
    /// - Returns: The findings, and whether a commit also waits for a standby.
    package func check(_ schema: StoreSchema) throws -> (findings: [StoreFinding], hasStandby: Bool) {
        let store = try open(schema, connections: 1)
        switch self {
        case .file(let path): return (try SQLiteStore.isWhole(path, schema) ? [] : [.damaged], false)
        case .postgres: return try store.transaction(.read) { try Self.check($0, schema) }
        }
    }

    private static func check(
        _ transaction: any StoreTransaction, _ schema: StoreSchema
    ) throws -> (findings: [StoreFinding], hasStandby: Bool) {
        var findings: [StoreFinding] = []
        for name in ["fsync", "full_page_writes"] where try transaction.row("SHOW \(name)")?.text(0) != "on" {
            findings.append(.unsafeSetting(name))
        }
        let clock = try transaction.row("SELECT CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)")?.number(0) ?? 0
        let ahead = clock - Int64(time(nil))
        if abs(ahead) > 5 { findings.append(.clockDiffers(ahead)) }
        for table in schema.tables { try transaction.row("SELECT 1 FROM \(table) LIMIT 1") }
        return (findings, try transaction.row("SHOW synchronous_standby_names")?.text(0).isEmpty == false)
    }
}
#endif
