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

    /// Appends the bytes of a record's row, unchecked. A missing row has no bytes.
    ///
    /// - Returns: false if the row has more than `most` bytes. Then nothing was appended.
    mutating func append(_ number: Int64, to bytes: inout [UInt8], atMost most: Int) throws(VaultError) -> Bool {
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
                return true
            }
            guard find.count(0) <= most else { return false }
            find.append(0, to: &bytes)
            return true
        }
    }
}
