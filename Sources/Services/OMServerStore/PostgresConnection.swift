#if Server
// One connection to PostgreSQL. Parameters and results are binary: no value is ever part of a statement's text.

internal import CPQ
internal import Glibc

/// One thread at a time uses it.
final class PostgresConnection: StoreTransaction {
    /// The longest wait for an answer, in seconds. PostgreSQL itself ends statements before; only a COMMIT waits longer, as long
    /// as a standby does not confirm it.
    private static let longestAnswer = 60
    /// How many rows of a large result are in memory at once.
    private static let rowsAtOnce = 32
    /// The server's statements are few texts. Further ones are not prepared.
    private static let mostPrepared = 256

    private let handle: OpaquePointer
    /// Whether the connection was lost while a COMMIT ran.
    private(set) var wasCommitting = false
    /// Whether an answer did not come in time, so that the connection cannot be used any more.
    private var isLost = false
    /// Whether PostgreSQL has warned since the last statement began.
    private var hasWarning = false
    /// The names of the statements that this connection has prepared.
    private var prepared: [Prepared: String] = [:]

    /// A text with the types of its parameters: that of NULL is the column's.
    private struct Prepared: Hashable {
        let sql: String
        let types: [Oid]
    }

    /// - Throws: ``StoreError/unreachable``. PostgreSQL's own words are in no error, since they can quote the password of `url`.
    init(_ url: String) throws(StoreError) {
        let options = [
            ("dbname", url), ("connect_timeout", "5"), ("application_name", "omvault-server"), ("client_encoding", "UTF8"),
            // With several hosts: the one that takes writes.
            ("target_session_attrs", "read-write"),
            // The other machine, or the way to it, can be gone without a word.
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "25000"),
        ]
        let opened = Self.withTexts(options.map(\.0)) { names in
            Self.withTexts(options.map(\.1)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let opened else { throw .unreachable }
        guard PQstatus(opened) == CONNECTION_OK else {
            PQfinish(opened)
            throw .unreachable
        }
        handle = opened
        PQsetNoticeReceiver(
            handle,
            { context, notice in
                guard let context, let severity = PQresultErrorField(notice, Int32(UInt8(ascii: "V"))) else { return }
                guard String(cString: severity) == "WARNING" else { return }
                Unmanaged<PostgresConnection>.fromOpaque(context).takeUnretainedValue().hasWarning = true
            }, Unmanaged.passUnretained(self).toOpaque())
        guard PQsetnonblocking(handle, 1) == 0 else { throw .unreachable }
        try execute(
            """
            SELECT set_config('statement_timeout', '30s', false), set_config('lock_timeout', '10s', false), \
            set_config('idle_in_transaction_session_timeout', '60s', false), \
            set_config('synchronous_commit', CASE current_setting('synchronous_commit') \
            WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)
            """)
    }

    deinit { PQfinish(handle) }

    var isUsable: Bool { !isLost && PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// The version of the tables. Nil if there are none.
    func version() throws(StoreError) -> Int64? {
        let tables = "SELECT 1 FROM pg_tables WHERE tablename = 'omvault_schema' AND schemaname = current_schema()"
        guard try !rows(tables, []).isEmpty else { return nil }
        guard let row = try rows("SELECT version FROM omvault_schema", []).first else { throw .damaged }
        return try row.number(0)
    }

    func transaction<R>(_ access: StoreAccess, _ body: (any StoreTransaction) throws -> R) throws -> R {
        wasCommitting = false
        try execute(
            access == .read ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN ISOLATION LEVEL READ COMMITTED")
        let result: R
        do { result = try body(self) } catch {
            try? execute("ROLLBACK")
            throw error
        }
        wasCommitting = access == .write
        // PostgreSQL answers ROLLBACK to a COMMIT of a transaction that failed.
        guard try run("COMMIT", []).tag == "COMMIT" else { throw StoreError.failedBefore }
        // An administrator who cancels a COMMIT that waits for a standby gets a COMMIT with a warning: the rows are on this
        // machine only, and a failover loses them. So whether it is done is not known.
        guard !hasWarning else { throw StoreError.unreachable }
        wasCommitting = false
        return result
    }

    @discardableResult
    func rows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] { try run(sql, values).rows }

    func lockedRows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
        try run(sql + " FOR UPDATE", values).rows
    }

    func eachRow(_ sql: String, _ body: (SQLRow) throws -> Void) throws {
        try execute("DECLARE omvault_rows NO SCROLL CURSOR FOR \(sql)")
        while true {
            let rows = try rows("FETCH FORWARD \(Self.rowsAtOnce) FROM omvault_rows", [])
            for row in rows { try body(row) }
            if rows.count < Self.rowsAtOnce { break }
        }
        try execute("CLOSE omvault_rows")
    }

    func execute(_ sql: String) throws(StoreError) { _ = try run(sql, []) }

    // MARK: - Statements

    private func run(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> (rows: [SQLRow], tag: String) {
        guard !isLost else { throw .unreachable }
        hasWarning = false
        let result: OpaquePointer
        if let name = try prepare(sql, values) {
            result = try answer { send(values) { PQsendQueryPrepared(handle, name, $0, $1, $2, $3, 1) } }
        } else {
            let text = Self.numbered(sql), types = values.map(PostgresValue.type)
            result = try answer { send(values) { PQsendQueryParams(handle, text, $0, types, $1, $2, $3, 1) } }
        }
        defer { PQclear(result) }
        var rows: [SQLRow] = []
        for row in 0..<PQntuples(result) {
            var columns: [SQLValue] = []
            for column in 0..<PQnfields(result) { columns.append(try Self.decode(result, row, column)) }
            rows.append(SQLRow(columns))
        }
        return (rows, String(cString: PQcmdStatus(result)))
    }

    /// Lets PostgreSQL parse and plan a statement once for each connection, and not at each use.
    ///
    /// - Returns: The statement's name. Nil if it is not prepared: one without parameters is short.
    private func prepare(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> String? {
        guard !values.isEmpty else { return nil }
        let statement = Prepared(sql: sql, types: values.map(PostgresValue.type))
        if let name = prepared[statement] { return name }
        guard prepared.count < Self.mostPrepared else { return nil }
        let name = "omvault\(prepared.count)", text = Self.numbered(sql)
        PQclear(try answer { PQsendPrepare(handle, name, text, Int32(values.count), statement.types) == 1 })
        prepared[statement] = name
        return name
    }

    /// PostgreSQL's form of the parameters.
    private static func numbered(_ sql: String) -> String { sql.replacing("?", with: "$") }

    /// Sends, and waits for the answer.
    ///
    /// - Returns: A result without an error. The caller clears it.
    private func answer(_ send: () -> Bool) throws(StoreError) -> OpaquePointer {
        guard send() else { throw .unreachable }
        try waitForAnswer()
        guard let result = PQgetResult(handle) else { throw .unreachable }
        do throws(StoreError) {
            // The connection takes the next statement once the end of this one is read.
            while true {
                try waitForAnswer()
                guard let more = PQgetResult(handle) else { break }
                PQclear(more)
            }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return result
            default: throw error(of: result)
            }
        } catch {
            PQclear(result)
            throw error
        }
    }

    private typealias Texts = [UnsafePointer<CChar>?]

    /// Calls a function of libpq with the number of the values, their bytes, lengths and formats: all are binary.
    private func send(_ values: [SQLValue], _ body: (Int32, Texts, [Int32], [Int32]) -> Int32) -> Bool {
        let encoded = values.map(PostgresValue.encode)
        let buffers = encoded.map { bytes -> UnsafeMutablePointer<CChar>? in
            guard let bytes else { return nil }
            // Not of size 0: libpq takes a null pointer for NULL.
            let buffer = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
            bytes.withUnsafeBytes { if let base = $0.baseAddress { buffer.copyMemory(from: base, byteCount: $0.count) } }
            return buffer.bindMemory(to: CChar.self, capacity: max(1, bytes.count))
        }
        defer { for buffer in buffers { buffer?.deallocate() } }
        return body(
            Int32(values.count), buffers.map { $0.map { UnsafePointer($0) } }, encoded.map { Int32($0?.count ?? 0) },
            [Int32](repeating: 1, count: values.count)) == 1
    }

    /// Sends what is not sent yet, and waits until `PQgetResult` does not block.
    private func waitForAnswer() throws(StoreError) {
        let end = Self.now() + Self.longestAnswer * 1000
        while true {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { throw .unreachable }
            if unsent == 0, PQisBusy(handle) == 0 { return }
            var poll = pollfd(fd: PQsocket(handle), events: Int16(unsent == 1 ? POLLIN | POLLOUT : POLLIN), revents: 0)
            let count = Glibc.poll(&poll, 1, Int32(clamping: max(0, end - Self.now())))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                isLost = true
                throw .unreachable
            }
            // False if the connection has ended. What it still said is read by PQgetResult.
            if Int32(poll.revents) & ~POLLOUT != 0, PQconsumeInput(handle) == 0 { return }
        }
    }

    /// Milliseconds of the monotonic clock.
    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    private func error(of result: OpaquePointer) -> StoreError {
        guard PQstatus(handle) == CONNECTION_OK, let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))) else {
            return .unreachable
        }
        let text = String(cString: state)
        switch text {
        // An administrator or a failover ended the connection, or this server takes no writes any more.
        case "57P01", "57P02", "57P03", "57P05", "25P03", "25006": return .unreachable
        case _ where text.hasPrefix("08"): return .unreachable
        // A lock or a statement took too long.
        case "55P03", "57014", "53300": return .busy
        default: return .refused(state: text)
        }
    }

    private static func decode(_ result: OpaquePointer, _ row: Int32, _ column: Int32) throws(StoreError) -> SQLValue {
        guard PQgetisnull(result, row, column) == 0 else { return .null }
        let count = Int(PQgetlength(result, row, column))
        let bytes = [UInt8](UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: count))
        guard let value = PostgresValue.decode(bytes, PQftype(result, column)) else { throw .damaged }
        return value
    }

    private static func withTexts<R>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> R) -> R {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies.map { $0.map { UnsafePointer($0) } } + [nil])
    }
}
#endif
