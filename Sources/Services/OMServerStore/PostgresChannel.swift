#if Server
// The messages between this program and PostgreSQL. Parameters and results are binary: no value is ever part of a statement's
// text.

internal import CPQ
internal import Glibc

/// Sends statements and reads their answers later, in the order of the statements: several of them cost one wait. A statement
/// that fails keeps those after it, up to the next ``end()``, from running.
///
/// One thread at a time uses it.
final class PostgresChannel {
    /// The longest wait for an answer, in seconds. PostgreSQL itself ends statements before; only a COMMIT waits longer, as long
    /// as a standby does not confirm it.
    private static let longestAnswer = 60
    /// The server's statements are few texts. Further ones are not prepared.
    private static let mostPrepared = 256

    private let handle: OpaquePointer
    /// Whether an answer did not come in time or not as it must, so that the connection cannot be used any more.
    private var isLost = false
    /// Whether PostgreSQL has warned since the last statement that was answered began.
    private(set) var hasWarning = false
    /// The names of the statements that this connection has prepared.
    private var prepared: [Prepared: String] = [:]
    private var preparedCount = 0
    /// What was sent and is not answered yet.
    private var unread: [Message] = []

    /// A text with the types of its parameters: that of NULL is the column's.
    private struct Prepared: Hashable {
        let sql: String
        let types: [Oid]
    }

    private enum Message {
        case prepare(Prepared)
        case statement
        case end
    }

    struct Answer {
        var rows: [SQLRow] = []
        /// Which statement was done: COMMIT and ROLLBACK have it.
        var tag = ""
    }

    /// - Throws: ``StoreError/unreachable``. PostgreSQL's own words are in no error, since they can quote the password of `url`.
    init(_ url: String) throws(StoreError) {
        let options = [
            ("dbname", url), ("connect_timeout", "5"), ("application_name", "omvault-server"), ("client_encoding", "UTF8"),
            // Of several hosts, the one that accepts writes.
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
                Unmanaged<PostgresChannel>.fromOpaque(context).takeUnretainedValue().hasWarning = true
            }, Unmanaged.passUnretained(self).toOpaque())
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { throw .unreachable }
    }

    deinit { PQfinish(handle) }

    /// Whether the next transaction can run. One whose answers are not read yet is not over.
    var isIdle: Bool {
        !isLost && unread.isEmpty && PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE
    }

    /// Whether a statement of the running transaction failed, as far as the answers are read.
    var hasFailed: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

    var hasUnread: Bool { !unread.isEmpty }

    // MARK: - Sending

    /// Sends a statement, at the latest with the next ``end()``.
    ///
    /// - Parameter isPrepared: PostgreSQL parses and plans the statement once for each connection, and not at each use.
    func send(_ sql: String, _ values: [SQLValue], isPrepared: Bool) throws(StoreError) {
        guard !isLost else { throw .unreachable }
        let types = values.map(PostgresValue.type)
        var name: String?
        if isPrepared { name = try prepare(Prepared(sql: sql, types: types)) }
        let isSent =
            if let name {
                Self.withBytes(values) { PQsendQueryPrepared(handle, name, $0, $1, $2, $3, 1) }
            } else {
                Self.withBytes(values) { PQsendQueryParams(handle, Self.numbered(sql), $0, types, $1, $2, $3, 1) }
            }
        try note(.statement, isSent)
    }

    /// Ends a group of statements: PostgreSQL answers, and goes on with the next group whatever failed in this one.
    func end() throws(StoreError) {
        guard !isLost else { throw .unreachable }
        try note(.end, PQpipelineSync(handle))
    }

    private func note(_ message: Message, _ isSent: Int32) throws(StoreError) {
        guard isSent == 1 else { throw lost() }
        unread.append(message)
    }

    private func lost() -> StoreError {
        (isLost, unread) = (true, [])
        return .unreachable
    }

    /// - Returns: The statement's name. Nil if it is not prepared.
    private func prepare(_ statement: Prepared) throws(StoreError) -> String? {
        if let name = prepared[statement] { return name }
        guard prepared.count < Self.mostPrepared else { return nil }
        let name = "omvault\(preparedCount)"
        preparedCount += 1
        let isSent = PQsendPrepare(handle, name, Self.numbered(statement.sql), Int32(statement.types.count), statement.types)
        try note(.prepare(statement), isSent)
        prepared[statement] = name
        return name
    }

    /// PostgreSQL's form of the parameters.
    private static func numbered(_ sql: String) -> String { sql.replacing("?", with: "$") }

    private typealias Texts = [UnsafePointer<CChar>?]

    /// Calls a function of libpq with the number of the values, their bytes, lengths and formats: all are binary.
    private static func withBytes(_ values: [SQLValue], _ body: (Int32, Texts, [Int32], [Int32]) -> Int32) -> Int32 {
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
            [Int32](repeating: 1, count: values.count))
    }

    // MARK: - Reading

    /// Reads the answers to all that was sent and ended.
    ///
    /// - Returns: The answers to the statements. ``hasWarning`` is about the last one.
    /// - Throws: The error of the first statement that failed.
    func read() throws(StoreError) -> [Answer] {
        guard !isLost else { throw .unreachable }
        var answers: [Answer] = []
        var failure: StoreError?
        let messages = unread
        unread = []
        for message in messages {
            do throws(StoreError) {
                if let answer = try answer(to: message) { answers.append(answer) }
            } catch { failure = failure ?? error }
            guard !isLost else { break }
        }
        if let failure { throw failure }
        return answers
    }

    private func answer(to message: Message) throws(StoreError) -> Answer? {
        // Of a group in which one statement failed, that one's error is thrown.
        if case .statement = message { hasWarning = false }
        try waitForAnswer()
        guard let result = PQgetResult(handle) else { throw lost() }
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        if case .end = message {
            guard status == PGRES_PIPELINE_SYNC else { throw lost() }
            return nil
        }
        // Nil ends the results of one message.
        guard status != PGRES_PIPELINE_SYNC, PQgetResult(handle) == nil else { throw lost() }
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            if case .prepare(let statement) = message { prepared[statement] = nil }
            throw error(of: result)
        }
        if case .prepare = message { return nil }
        var answer = Answer(tag: String(cString: PQcmdStatus(result)))
        for row in 0..<PQntuples(result) {
            var columns: [SQLValue] = []
            for column in 0..<PQnfields(result) { columns.append(try Self.decode(result, row, column)) }
            answer.rows.append(SQLRow(columns))
        }
        return answer
    }

    /// Sends what is not sent yet, and waits until `PQgetResult` does not block.
    private func waitForAnswer() throws(StoreError) {
        let end = Self.now() + Self.longestAnswer * 1000
        while true {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { throw lost() }
            if unsent == 0, PQisBusy(handle) == 0 { return }
            var poll = pollfd(fd: PQsocket(handle), events: Int16(unsent == 1 ? POLLIN | POLLOUT : POLLIN), revents: 0)
            let count = Glibc.poll(&poll, 1, Int32(clamping: max(0, end - Self.now())))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw lost() }
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
