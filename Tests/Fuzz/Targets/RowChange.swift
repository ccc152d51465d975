// One value of a row in a database, replaced by another value.

import OMSecrets
import OMStorage

/// A value that an attacker without a key, but with write access, puts into a row.
struct RowChange {
    let table: String
    let column: String
    let row: UInt8
    /// The kind of the value: bytes, a number, text, many zeros, or the value of another row in this column.
    let kind: UInt8
    let bytes: [UInt8]

    func make(in database: borrowing Database) {
        let blob = "x'\(Hex.encode(bytes))'"
        let value =
            switch kind % 5 {
            case 0: blob
            case 1: "\(bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) })"
            case 2: "CAST(\(blob) AS TEXT)"
            case 3: "zeroblob(\(bytes.prefix(3).reduce(0) { $0 << 8 | Int($1) }))"
            default: "(SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(bytes.first ?? 0))"
            }
        let place = "SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(row % 16)"
        try? database.execute("UPDATE OR IGNORE \(table) SET \(column) = \(value) WHERE \(column) = (\(place))")
    }
}
