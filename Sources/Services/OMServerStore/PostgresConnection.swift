#if Server
// One connection to PostgreSQL, and its transactions.

/// Each wait for an answer costs PostgreSQL and this program a change of process. So BEGIN goes with a transaction's first
/// statement, what ``later(_:_:)`` queued goes with the next one or with COMMIT, and the COMMIT of a read is not awaited.
///
/// One thread at a time uses it.
final class PostgresConnection: StoreTransaction {
    /// How many rows of a large result are in memory at once.
    private static let rowsAtOnce = 32

    private let channel: PostgresChannel
    /// Whether the connection was lost while a COMMIT ran.
    private(set) var wasCommitting = false
    /// What goes before the transaction's first statement.
    private var begin: String?
    /// Whether BEGIN was sent, and neither COMMIT nor ROLLBACK.
    private var isOpen = false

    /// - Throws: ``StoreError/unreachable``.
    init(_ url: String) throws(StoreError) {
        channel = try PostgresChannel(url)
        try execute(
            """
            SELECT set_config('statement_timeout', '30s', false), set_config('lock_timeout', '10s', false), \
            set_config('idle_in_transaction_session_timeout', '60s', false), \
            set_config('synchronous_commit', CASE current_setting('synchronous_commit') \
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)
            """)
    }

    var isUsable: Bool { channel.isIdle }

    /// The version of the tables. Nil if there are none.
    func version() throws(StoreError) -> Int64? {
        let tables = "SELECT 1 FROM pg_tables WHERE tablename = 'omvault_schema' AND schemaname = current_schema()"
        guard try !rows(tables, []).isEmpty else { return nil }
        guard let row = try rows("SELECT version FROM omvault_schema", []).first else { throw .damaged }
        return try row.number(0)
    }

    // MARK: - Transactions

    func transaction<R>(_ access: StoreAccess, _ body: (any StoreTransaction) throws -> R) throws -> R {
        wasCommitting = false
        begin =
            switch access {
            case .read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            case .write: "BEGIN ISOLATION LEVEL READ COMMITTED"
            case .singleRead: nil
            }
        defer { begin = nil }
        let result: R
        do { result = try body(self) } catch {
            rollBack()
            throw error
        }
        // Without a statement there is nothing to end.
        guard isOpen else { return result }
        if access == .read, !channel.hasUnread, !channel.hasFailed {
            commitLater()
        } else {
            try commit(access)
        }
        return result
    }

    /// Sends the COMMIT of a read. Its answer comes before that of the connection's next statement.
    private func commitLater() {
        isOpen = false
        // If that fails, the next use of the connection fails too.
        try? channel.send("COMMIT", [], isPrepared: true)
        try? channel.end()
    }

    private func commit(_ access: StoreAccess) throws(StoreError) {
        let answer: PostgresChannel.Answer?
        do throws(StoreError) {
            // Set before it is sent: after that a failure does not show whether it was done.
            wasCommitting = access == .write
            try channel.send("COMMIT", [], isPrepared: true)
            try channel.end()
            answer = try channel.read().last
        } catch {
            // A queued statement failed, so COMMIT did not run.
            if channel.hasFailed { rollBack() }
            isOpen = false
            throw error
        }
        isOpen = false
        // PostgreSQL answers ROLLBACK to a COMMIT of a transaction that failed.
        guard answer?.tag == "COMMIT" else { throw .failedBefore }
        // An administrator who cancels a COMMIT that waits for a standby gets a COMMIT with a warning: the rows are on this
        // machine only, and a failover loses them. So whether it is done is not known.
        guard !channel.hasWarning else { throw .unreachable }
        wasCommitting = false
    }

    private func rollBack() {
        guard isOpen else {
            // Attack: requests without a token throw before their first statement. A connection whose last COMMIT is not read yet
            // would be taken for a broken one, and all idle ones be closed with it.
            if channel.hasUnread { _ = try? channel.read() }
            return
        }
        isOpen = false
        do throws(StoreError) {
            // ROLLBACK runs also if one of the queued statements fails.
            if channel.hasUnread { try channel.end() }
            try channel.send("ROLLBACK", [], isPrepared: true)
            try channel.end()
            _ = try channel.read()
        } catch {}
    }

    // MARK: - Statements

    @discardableResult
    func rows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
        try later(sql, values)
        return try answered(1).last?.rows ?? []
    }

    func lockedRows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
        try rows(sql + " FOR UPDATE", values)
    }

    func answers(_ statements: [SQLStatement]) throws(StoreError) -> [[SQLRow]] {
        for statement in statements {
            try later(statement.sql + (statement.locked.map { " FOR UPDATE OF \($0)" } ?? ""), statement.values)
        }
        return try answered(statements.count).map(\.rows)
    }

    func later(_ sql: String, _ values: [SQLValue]) throws(StoreError) {
        if let begin {
            isOpen = true
            self.begin = nil
            try channel.send(begin, [], isPrepared: true)
        }
        // One without parameters is short.
        try channel.send(sql, values, isPrepared: !values.isEmpty)
    }

    func eachRow(_ sql: String, _ body: (SQLRow) throws -> Void) throws {
        try later("DECLARE omvault_rows NO SCROLL CURSOR FOR \(sql)", [])
        while true {
            let rows = try rows("FETCH FORWARD \(Self.rowsAtOnce) FROM omvault_rows", [])
            for row in rows { try body(row) }
            if rows.count < Self.rowsAtOnce { break }
        }
        try later("CLOSE omvault_rows", [])
    }

    func execute(_ sql: String) throws(StoreError) { try rows(sql, []) }

    /// The answers to the last `count` statements.
    private func answered(_ count: Int) throws(StoreError) -> ArraySlice<PostgresChannel.Answer> {
        try channel.end()
        let answers = try channel.read()
        guard answers.count >= count else { throw .unreachable }
        return answers.suffix(count)
    }
}
#endif
