#if Server
// Values that go to a database and come back.

/// A parameter of a statement, or a column of a row.
package enum SQLValue: Hashable, Sendable {
    case bytes([UInt8])
    case number(Int64)
    case text(String)
    case null
}

/// A row of a result: its columns in the order of the statement.
package struct SQLRow: Hashable, Sendable {
    package let columns: [SQLValue]

    package init(_ columns: [SQLValue]) { self.columns = columns }

    /// - Throws: ``StoreError/damaged`` if the column has another kind: an administrator or a disk changed the table.
    package func bytes(_ column: Int) throws(StoreError) -> [UInt8] {
        guard case .bytes(let bytes) = columns[column] else { throw .damaged }
        return bytes
    }

    package func number(_ column: Int) throws(StoreError) -> Int64 {
        guard case .number(let number) = columns[column] else { throw .damaged }
        return number
    }

    package func text(_ column: Int) throws(StoreError) -> String {
        guard case .text(let text) = columns[column] else { throw .damaged }
        return text
    }

    package func isNull(_ column: Int) -> Bool { columns[column] == .null }
}
#endif
