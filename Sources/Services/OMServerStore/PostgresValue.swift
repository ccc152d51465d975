#if Server
// Values in PostgreSQL's binary format.

internal import CPQ

enum PostgresValue {
    /// The numbers of PostgreSQL's types.
    private enum Kind {
        static let truth: Oid = 16
        static let bytes: Oid = 17
        static let number: Oid = 20
        static let smallNumber: Oid = 23
        static let text: Oid = 25
    }

    static func type(_ value: SQLValue) -> Oid {
        switch value {
        case .bytes: Kind.bytes
        case .number: Kind.number
        case .text: Kind.text
        // PostgreSQL takes the column's type.
        case .null: 0
        }
    }

    static func encode(_ value: SQLValue) -> [UInt8]? {
        switch value {
        case .bytes(let bytes): bytes
        case .number(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .text(let text): Array(text.utf8)
        case .null: nil
        }
    }

    /// - Returns: nil for a type that SQLite does not have.
    static func decode(_ bytes: [UInt8], _ type: Oid) -> SQLValue? {
        let number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return switch type {
        case Kind.bytes: .bytes(bytes)
        case Kind.text: .text(String(decoding: bytes, as: UTF8.self))
        case Kind.number where bytes.count == 8: .number(Int64(bitPattern: number))
        case Kind.smallNumber where bytes.count == 4: .number(Int64(Int32(truncatingIfNeeded: number)))
        // As SQLite has it: 0 or 1.
        case Kind.truth where bytes.count == 1: .number(Int64(number))
        default: nil
        }
    }
}
#endif
