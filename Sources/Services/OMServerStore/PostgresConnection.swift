#if Server
// One connection to PostgreSQL. Parameters and results are binary: no value is ever part of a statement's text.

internal import CPQ

/// One thread at a time uses it.
final class PostgresConnection: StoreTransaction {
    private let handle: OpaquePointer
    /// Whether the connection was lost while a COMMIT ran.
    private(set) var wasCommitting = false

    private enum Kind {
        static let bytes: Oid = 17
        static let number: Oid = 20
        static let smallNumber: Oid = 23
        static let text: Oid = 25
    }

    init(_ url: String) throws(StoreError) {
        // With several hosts: the one that takes writes.
        let names = ["dbname", "connect_timeout", "target_session_attrs", "application_name", "client_encoding"]
        let values = [url, "5", "read-write", "omvault-server", "UTF8"]
        let opened = Self.withTexts(names) { names in
            Self.withTexts(values) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let opened else { throw .unreachable }
        guard PQstatus(opened) == CONNECTION_OK else {
            PQfinish(opened)
            throw .unreachable
        }
        handle = opened
        // A lost answer must not hold a thread for ever.
        try execute("SET statement_timeout = '30s'")
        try execute("SET lock_timeout = '10s'")
        try execute("SET idle_in_transaction_session_timeout = '60s'")
    }

    deinit { PQfinish(handle) }

    var isUsable: Bool { PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// The version of the tables. Nil if there are none.
    func version() throws(StoreError) -> Int64? {
        guard
            try rows("SELECT 1 FROM pg_tables WHERE tablename = 'omvault_schema' AND schemaname = current_schema()", []).first
                != nil
        else { return nil }
        return try rows("SELECT version FROM omvault_schema", []).first?.number(0)
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
        guard try run("COMMIT", []).tag == "COMMIT" else { throw StoreError.refused(state: "25P02") }
        wasCommitting = false
        return result
    }

    @discardableResult
    func rows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] { try run(sql, values).rows }

    func lockedRows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
        try run(sql + " FOR UPDATE", values).rows
    }

    func execute(_ sql: String) throws(StoreError) { _ = try run(sql, []) }

    // MARK: - Statements

    private func run(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> (rows: [SQLRow], tag: String) {
        let types = values.map { value in
            switch value {
            case .bytes: Kind.bytes
            case .number: Kind.number
            case .text: Kind.text
            case .null: Oid(0)
            }
        }
        let encoded = values.map(Self.encode)
        let buffers = encoded.map { bytes -> UnsafeMutablePointer<CChar>? in
            guard let bytes else { return nil }
            // Not of size 0: libpq takes a null pointer for NULL.
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: max(1, bytes.count))
            for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            return buffer
        }
        defer { for buffer in buffers { buffer?.deallocate() } }
        let pointers = buffers.map { $0.map { UnsafePointer($0) } }
        let counts = encoded.map { Int32($0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: values.count)
        let result = PQexecParams(
            handle, sql.replacing("?", with: "$"), Int32(values.count), types, pointers, counts, formats, 1)
        guard let result else { throw .unreachable }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
        default: throw error(of: result)
        }
        var rows: [SQLRow] = []
        for row in 0..<PQntuples(result) {
            var columns: [SQLValue] = []
            for column in 0..<PQnfields(result) { columns.append(try Self.decode(result, row, column)) }
            rows.append(SQLRow(columns))
        }
        return (rows, String(cString: PQcmdStatus(result)))
    }

    private func error(of result: OpaquePointer) -> StoreError {
        guard PQstatus(handle) == CONNECTION_OK, let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))) else {
            return .unreachable
        }
        let text = String(cString: state)
        switch text {
        // An administrator or a failover ended the connection, or this server takes no writes any more.
        case "57P01", "57P02", "57P03", "25006": return .unreachable
        case _ where text.hasPrefix("08"): return .unreachable
        // A lock or a statement took too long.
        case "55P03", "57014", "53300": return .busy
        default: return .refused(state: text)
        }
    }

    private static func encode(_ value: SQLValue) -> [UInt8]? {
        switch value {
        case .bytes(let bytes): bytes
        case .number(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .text(let text): Array(text.utf8)
        case .null: nil
        }
    }

    private static func decode(_ result: OpaquePointer, _ row: Int32, _ column: Int32) throws(StoreError) -> SQLValue {
        guard PQgetisnull(result, row, column) == 0 else { return .null }
        let count = Int(PQgetlength(result, row, column))
        let bytes = [UInt8](UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: count))
        switch PQftype(result, column) {
        case Kind.bytes: return .bytes(bytes)
        case Kind.text: return .text(String(decoding: bytes, as: UTF8.self))
        case Kind.number, Kind.smallNumber:
            let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return .number(count == 4 ? Int64(Int32(truncatingIfNeeded: number)) : Int64(bitPattern: number))
        default: throw .damaged
        }
    }

    private static func withTexts<R>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> R) -> R {
        var copies: [UnsafeMutablePointer<CChar>?] = texts.map { text in
            let bytes = Array(text.utf8CString)
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
            copy.initialize(from: bytes, count: bytes.count)
            return copy
        }
        defer { for copy in copies { copy?.deallocate() } }
        copies.append(nil)
        return body(copies.map { $0.map { UnsafePointer($0) } })
    }
}
#endif
