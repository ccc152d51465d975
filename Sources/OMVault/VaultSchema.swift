// The vault file's tables and every statement on them, in one place. Format: docs/vault-format.md, "Tables".

internal import OMStorage

enum VaultSchema {
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
            "CREATE TABLE records (id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        ])

    static let findHeader = "SELECT body FROM header WHERE id = 1"
    static let findSlots = "SELECT id, body FROM slots ORDER BY id LIMIT 65"
    static let findStates = "SELECT level, state FROM levels ORDER BY level LIMIT 65"
    static let findEntries =
        "SELECT key, digest, record FROM entries WHERE level = ?1 AND key BETWEEN ?2 AND ?3 ORDER BY key"
    static let findBranch = "SELECT digests FROM branches WHERE level = ?1 AND prefix = ?2"
    static let findRecord = "SELECT body FROM records WHERE id = ?1"

    static let addHeader = "INSERT INTO header VALUES (1, ?1)"
    static let addSlot = "INSERT INTO slots VALUES (?1, ?2)"
    static let saveState = "INSERT INTO levels VALUES (?1, ?2) ON CONFLICT (level) DO UPDATE SET state = ?2"
    static let saveEntry = """
        INSERT INTO entries VALUES (?1, ?2, ?3, ?4) \
        ON CONFLICT (level, key) DO UPDATE SET digest = ?3, record = ?4
        """
    static let saveBranch = """
        INSERT INTO branches VALUES (?1, ?2, ?3) ON CONFLICT (level, prefix) DO UPDATE SET digests = ?3
        """
    static let addRecord = "INSERT INTO records (body) VALUES (?1) RETURNING id"
    static let dropEntry = "DELETE FROM entries WHERE level = ?1 AND key = ?2"
    static let dropRecord = "DELETE FROM records WHERE id = ?1"
}
