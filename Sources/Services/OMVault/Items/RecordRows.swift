internal import OMItems
internal import OMStorage
internal import OMSystem

/// Reads records for a list of many items. A step to the next row costs a third of a search for it.
struct RecordRows: ~Copyable {
    private var find: Statement
    /// The row that was read last. Nil if there is no row behind it.
    private var last: Int64?

    init(_ database: borrowing Database) throws(VaultError) {
        find = try storing { () throws(StorageError) in try database.prepare(VaultSchema.findRecordsFrom) }
    }

    /// The bytes of a record's row, unchecked, and the row that they name as the previous version.
    mutating func row(_ number: Int64) throws(VaultError) -> (bytes: [UInt8], previous: Int64) {
        try storing { () throws(StorageError) in
            // It steps to the next row only: a step over a row would read that row.
            if last != number - 1 || last == nil {
                find.reset()
                try find.bind(1, number)
            }
            let isThere = try find.step()
            last = isThere ? find.number(2) : nil
            guard isThere, last == number else {
                last = nil
                return ([], 0)
            }
            return (find.bytes(0), find.number(1))
        }
    }
}
