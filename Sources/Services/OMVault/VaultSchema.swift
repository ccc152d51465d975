// The vault file's tables and every statement on them. Format: docs/formats/vault-format.md, "The database".

internal import OMItems
internal import OMRecords
internal import OMStorage
internal import OMSystem

enum VaultSchema {
    /// The schema of a new vault.
    static let schema = Schema(
        applicationID: 0x4F4D_5631, version: 1,
        statements: [
            "CREATE TABLE header (id INTEGER PRIMARY KEY CHECK (id = 1), body BLOB NOT NULL)",
            "CREATE TABLE slots (id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
            "CREATE TABLE levels (level INTEGER PRIMARY KEY, state BLOB NOT NULL)",
            """
            CREATE TABLE entries (level INTEGER NOT NULL, key BLOB NOT NULL, digest BLOB NOT NULL, \
            record INTEGER NOT NULL, PRIMARY KEY (level, key)) WITHOUT ROWID
            """,
            """
            CREATE TABLE branches (level INTEGER NOT NULL, prefix BLOB NOT NULL, digests BLOB NOT NULL, \
            PRIMARY KEY (level, prefix)) WITHOUT ROWID
            """,
            "CREATE TABLE records (id INTEGER PRIMARY KEY, previous INTEGER, body BLOB NOT NULL)",
            "CREATE TABLE log (id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
            "CREATE TABLE pending (id INTEGER PRIMARY KEY CHECK (id = 1))",
        ])
    /// The schema of a vault that has contents of version 2.
    static let secondSchema = Schema(
        applicationID: schema.applicationID, version: 2,
        statements: schema.statements + ["CREATE TABLE chunks (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"])

    /// The schema of a vault that syncs.
    static let thirdSchema = Schema(
        applicationID: schema.applicationID, version: 3,
        statements: secondSchema.statements + [
            "CREATE TABLE sync_self (id INTEGER PRIMARY KEY CHECK (id = 1), body BLOB NOT NULL)",
            """
            CREATE TABLE sync_rows (kind INTEGER NOT NULL, key BLOB NOT NULL, body BLOB NOT NULL, \
            PRIMARY KEY (kind, key)) WITHOUT ROWID
            """,
        ])

    /// Opens a vault of any format.
    static func open(_ path: String) throws(VaultError) -> Database {
        try storing { () throws(StorageError) in try Database.open(path, schema, secondSchema, thirdSchema) }
    }

    /// The most slots of a vault.
    static let maximumSlots = 64

    static let findHeader = "SELECT \(bounded("body", VaultHeader.count)) FROM header WHERE id = 1"
    static let findSlots =
        "SELECT id, \(bounded("body", KeySlot.maximumCount)) FROM slots ORDER BY id LIMIT \(maximumSlots + 1)"
    static let findStates = "SELECT level, \(bounded("state", LevelState.boxCount)) FROM levels ORDER BY level LIMIT 7"
    static let findEntries = """
        SELECT \(bounded("key", 16)), \(bounded("digest", 32)), record FROM entries \
        WHERE level = ?1 AND key BETWEEN ?2 AND ?3 ORDER BY key
        """
    static let findBranch = "SELECT \(bounded("digests", 512)) FROM branches WHERE level = ?1 AND prefix = ?2"
    static let findBranches = """
        SELECT \(bounded("prefix", 31)), \(bounded("digests", 512)), \
        typeof(prefix) = 'blob' AND length(prefix) <= 31 FROM branches WHERE level = ?1 ORDER BY prefix
        """
    static let findRecord =
        "SELECT \(bounded("body", ItemContent.maximumFirstCount)), previous FROM records WHERE id = ?1"
    static let findRecordsFrom = """
        SELECT \(bounded("body", ItemContent.maximumFirstCount)), previous, id FROM records WHERE id >= ?1 ORDER BY id
        """
    /// How many items of a level are not deleted. The fourth byte of a record says that.
    static let countEntries = """
        SELECT count(*) FROM entries JOIN records ON records.id = entries.record \
        WHERE level = ?1 AND substr(body, 4, 1) = x'00'
        """
    static let countPending = "SELECT count(*) FROM pending"

    static let addHeader = "INSERT INTO header VALUES (1, ?1)"
    static let addSlot = "INSERT INTO slots VALUES (?1, ?2)"
    static let saveHeader = "UPDATE header SET body = ?1 WHERE id = 1"
    static let saveSlot = "INSERT INTO slots VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET body = ?2"
    static let dropSlot = "DELETE FROM slots WHERE id = ?1"
    static let saveState = "INSERT INTO levels VALUES (?1, ?2) ON CONFLICT (level) DO UPDATE SET state = ?2"
    static let saveEntry = """
        INSERT INTO entries VALUES (?1, ?2, ?3, ?4) \
        ON CONFLICT (level, key) DO UPDATE SET digest = ?3, record = ?4
        """
    static let saveBranch = """
        INSERT INTO branches VALUES (?1, ?2, ?3) ON CONFLICT (level, prefix) DO UPDATE SET digests = ?3
        """
    /// Branches below a leaf belong to nothing, and would become part of the tree when the leaf splits.
    static let dropBranches = "DELETE FROM branches WHERE level = ?1 AND prefix BETWEEN ?2 AND ?3"
    /// Without a second value, the version has no previous one.
    static let addRecord = "INSERT INTO records (body, previous) VALUES (?1, ?2)"
    static let placeRecord = "INSERT INTO records (id, body, previous) VALUES (?1, ?2, ?3)"
    static let addPending = "INSERT INTO pending VALUES (1) ON CONFLICT DO NOTHING"
    static let dropPending = "DELETE FROM pending"
    static let dropEntry = "DELETE FROM entries WHERE level = ?1 AND key = ?2"
    static let dropEntries = "DELETE FROM entries WHERE level = ?1"
    static let dropAllBranches = "DELETE FROM branches WHERE level = ?1"
    /// The epoch is in clear in every record.
    static let dropOtherEpochs = "DELETE FROM records WHERE substr(body, 29, 4) <> ?1"
    static let dropRecord = "DELETE FROM records WHERE id = ?1"
    static let findRows = "SELECT id FROM records"
    /// Every version of an item, by the id that is in clear.
    static let dropVersions = "DELETE FROM records WHERE substr(body, 5, 16) = ?1"

    static let findChunk = "SELECT \(bounded("body", ValueChunk.maximumStoredCount)) FROM chunks WHERE id = ?1"
    static let hasChunk = "SELECT 1 FROM chunks WHERE id = ?1"
    static let findChunkRows = "SELECT id FROM chunks"
    static let hasAnyChunk = "SELECT EXISTS (SELECT 1 FROM chunks)"
    static let addChunk = "INSERT INTO chunks VALUES (?1, ?2)"
    static let replaceChunk = "UPDATE chunks SET body = ?2 WHERE id = ?1"
    static let dropChunk = "DELETE FROM chunks WHERE id = ?1"
    /// Item id and epoch are in clear in every chunk.
    static let dropChunksOfItem = "DELETE FROM chunks WHERE substr(body, 5, 16) = ?1"
    static let dropChunksOfOtherEpochs = "DELETE FROM chunks WHERE substr(body, 37, 4) <> ?1"

    static let findSelf = "SELECT \(bounded("body", SyncSelf.maximumBoxCount)) FROM sync_self WHERE id = 1"
    static let saveSelf = "INSERT INTO sync_self VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET body = ?1"
    static let findSyncRow = "SELECT \(syncBody) FROM sync_rows WHERE kind = ?1 AND key = ?2"
    static let findSyncRows = "SELECT \(syncKey), \(syncBody) FROM sync_rows WHERE kind = ?1 ORDER BY key"
    static let findSyncRowStarts = """
        SELECT \(syncKey), substr(\(syncBody), 1, ?2), length(body) FROM sync_rows WHERE kind = ?1 ORDER BY key
        """
    static let findAllSyncRows = "SELECT kind, \(syncKey), \(syncBody) FROM sync_rows"
    static let saveSyncRow = """
        INSERT INTO sync_rows VALUES (?1, ?2, ?3) ON CONFLICT (kind, key) DO UPDATE SET body = ?3
        """
    static let dropSyncRow = "DELETE FROM sync_rows WHERE kind = ?1 AND key = ?2"
    private static let syncKey = bounded("key", SyncRow.maximumKeyCount)
    private static let syncBody = bounded("body", SyncRow.maximumCount)

    /// One row more than the log keeps: a log that an attacker has filled is not read to its end.
    static let findLogFrom = """
        SELECT id, \(bounded("body", AuditEntry.maximumCount)) FROM log WHERE id >= ?1 \
        ORDER BY id LIMIT \(LogChain.capacity + 1)
        """
    static let findLogUpTo = """
        SELECT id, \(bounded("body", AuditEntry.maximumCount)) FROM log WHERE id <= ?1 ORDER BY id DESC LIMIT 1
        """
    static let addLogEntry = "INSERT INTO log VALUES (?1, ?2)"
    static let replaceLogEntry = "UPDATE log SET body = ?2 WHERE id = ?1"
    static let dropLogFrom = "DELETE FROM log WHERE id >= ?1"
    static let dropLogBefore = "DELETE FROM log WHERE id < ?1"

    private static func bounded(_ column: String, _ most: Int) -> String { Database.bounded(column, most) }
}
