#if Server
// The rows of remotes and of their members.

internal import OMParcels
internal import OMRecords
internal import OMServerStore

/// A remote of an account.
struct Remote: Hashable, Sendable {
    /// 16 random bytes. A remote that is removed and made again has another one.
    let id: [UInt8]
    let name: RemoteName
    /// It rises with each write that a client can see in the list.
    let change: Int64
}

enum RemoteTable {
    static let statements = [
        """
        CREATE TABLE remote (id BLOB NOT NULL PRIMARY KEY, account TEXT NOT NULL REFERENCES account (name) ON DELETE CASCADE, \
        vault BLOB NOT NULL, incarnation BLOB NOT NULL, change INTEGER NOT NULL, created INTEGER NOT NULL, \
        UNIQUE (account, vault, incarnation)) STRICT
        """,
        """
        CREATE TABLE remote_member (remote BLOB NOT NULL REFERENCES remote (id) ON DELETE CASCADE, device INTEGER NOT NULL, \
        kind INTEGER NOT NULL, keys BLOB NOT NULL, PRIMARY KEY (remote, device)) STRICT
        """,
    ]

    /// - Returns: nil if the account has no such remote.
    static func find(
        _ name: RemoteName, of account: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) -> Remote? {
        let row = try transaction.row(
            "SELECT id, change FROM remote WHERE account = ?1 AND vault = ?2 AND incarnation = ?3",
            .text(account.text), .bytes(name.vault), .bytes(name.incarnation))
        guard let row else { return nil }
        return Remote(id: try row.bytes(0), name: name, change: try row.number(1))
    }

    /// The incarnations of a vault's remotes, the oldest first.
    static func incarnations(
        of vault: [UInt8], _ account: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        let rows = try transaction.rows(
            "SELECT incarnation FROM remote WHERE account = ?1 AND vault = ?2 ORDER BY created, incarnation",
            .text(account.text), .bytes(vault))
        for row in rows { found.append(try row.bytes(0)) }
        return found
    }

    /// All remotes of an account, the oldest first.
    static func names(of account: AccountName, _ transaction: any StoreTransaction) throws(StoreError) -> [RemoteName] {
        var found: [RemoteName] = []
        let rows = try transaction.rows(
            "SELECT vault, incarnation FROM remote WHERE account = ?1 ORDER BY created, vault, incarnation", .text(account.text))
        for row in rows { found.append(RemoteName(vault: try row.bytes(0), incarnation: try row.bytes(1))) }
        return found
    }

    static func count(of account: AccountName, _ transaction: any StoreTransaction) throws(StoreError) -> Int64 {
        try transaction.row("SELECT count(*) FROM remote WHERE account = ?1", .text(account.text))?.number(0) ?? 0
    }

    static func add(
        _ remote: Remote, of account: AccountName, now: Int64, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.rows(
            "INSERT INTO remote (id, account, vault, incarnation, change, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            .bytes(remote.id), .text(account.text), .bytes(remote.name.vault), .bytes(remote.name.incarnation),
            .number(remote.change), .number(now))
    }

    static func raiseChange(_ remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.later("UPDATE remote SET change = change + 1 WHERE id = ?1", .bytes(remote))
    }

    // MARK: - Members

    /// A device or code that an entry of this remote added, on any branch of the roll.
    static func member(
        _ device: UInt32, of remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) -> Member? {
        let row = try transaction.row(
            "SELECT kind, keys FROM remote_member WHERE remote = ?1 AND device = ?2", .bytes(remote), .number(Int64(device)))
        guard let row else { return nil }
        return try member(row)
    }

    /// A device with its keys, and whether the remote has an entry: what a head of this device must name.
    static func signerStatement(
        _ device: UInt32, naming entry: EntryTable.Row, in remote: [UInt8]
    ) -> SQLStatement {
        SQLStatement(
            """
            SELECT kind, keys, EXISTS (SELECT 1 FROM remote_entry WHERE remote = ?1 AND number = ?3 AND digest = ?4) \
            FROM remote_member WHERE remote = ?1 AND device = ?2
            """, .bytes(remote), .number(Int64(device)), .number(Int64(entry.number)), .bytes(entry.digest))
    }

    static func member(_ row: SQLRow) throws(StoreError) -> Member {
        let keys = try row.bytes(1)
        guard keys.count == 128 else { throw .damaged }
        return Member(isDevice: try row.number(0) == Int64(RollMember.Kind.device.rawValue), keys: keys)
    }

    struct Member: Hashable, Sendable {
        let isDevice: Bool
        /// As an entry has them.
        let keys: [UInt8]

        var headKey: [UInt8] { Array(keys[..<32]) }
        var memberKey: [UInt8] { Array(keys[32..<64]) }
    }

    /// - Returns: false if the number has other keys already.
    static func add(
        _ member: RollMember, to remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) -> Bool {
        // Attack: on a branch of its own a member adds a device whose keys give the number of another one (2^32 tries), and
        // signs heads in its name. So a number has the keys that came first.
        if let known = try self.member(member.number, of: remote, transaction) {
            return known == Member(isDevice: member.kind == .device, keys: member.keys.encoded)
        }
        try transaction.rows(
            "INSERT INTO remote_member (remote, device, kind, keys) VALUES (?1, ?2, ?3, ?4)", .bytes(remote),
            .number(Int64(member.number)), .number(Int64(member.kind.rawValue)), .bytes(member.keys.encoded))
        return true
    }
}
#endif
