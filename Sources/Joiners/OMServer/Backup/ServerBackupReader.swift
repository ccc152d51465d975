#if Server
// Reads a backup from front to end. Nothing of it counts before the digest at its end was compared.

internal import OMSecrets
internal import OMServerStore
internal import OMSystem

struct ServerBackupReader: ~Copyable {
    /// The version of the tables.
    let version: UInt64
    private var file: StreamFile
    private let digest: BLAKE2b

    init(_ path: String) throws {
        var file = try StreamFile.open(path)
        let digest = BLAKE2b(count: ServerBackup.digestCount)
        let start = try file.read(ServerBackup.start.count)
        guard start == ServerBackup.start else { throw BackupFault.notBackup }
        let numbers = try file.read(16)
        guard numbers.count == 16 else { throw BackupFault.damaged }
        digest.update(start.span)
        digest.update(numbers.span)
        version = numbers.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        self.file = file
        self.digest = digest
    }

    /// Gives each row with the name of its table to `body`.
    ///
    /// - Parameter tables: The tables that the backup has, in this order.
    /// - Returns: The number of rows.
    /// - Throws: ``BackupFault/damaged``, after `body` got rows that do not count.
    mutating func rows(_ tables: [String], _ body: (_ table: String, _ row: [SQLValue]) throws -> Void) throws -> Int64 {
        var rest = tables[...]
        var table: String?
        var rows: Int64 = 0
        while true {
            switch ServerBackup.Part(rawValue: try take(1)[0]) {
            case .table:
                let name = try take(try number(2))
                guard let next = rest.popFirst(), Array(next.utf8) == name else { throw BackupFault.damaged }
                table = next
            case .row:
                guard let table else { throw BackupFault.damaged }
                var row: [SQLValue] = []
                for _ in 0..<(try number(2)) { row.append(try value()) }
                guard !row.isEmpty else { throw BackupFault.damaged }
                try body(table, row)
                rows += 1
            case .end:
                guard rest.isEmpty, try number(8) == rows else { throw BackupFault.damaged }
                let computed = digest.digest()
                guard try file.read(computed.count) == computed, try file.read(1).isEmpty else { throw BackupFault.damaged }
                return rows
            case nil: throw BackupFault.damaged
            }
        }
    }

    private mutating func value() throws -> SQLValue {
        switch ServerBackup.Value(rawValue: try take(1)[0]) {
        case .null: return .null
        case .number: return .number(Int64(bitPattern: try take(8).reduce(0) { $0 << 8 | UInt64($1) }))
        case .text:
            guard let text = String(validating: try take(try number(4)), as: UTF8.self) else { throw BackupFault.damaged }
            return .text(text)
        case .bytes: return .bytes(try take(try number(4)))
        case nil: throw BackupFault.damaged
        }
    }

    private mutating func number(_ count: Int) throws -> Int {
        guard let number = Int(exactly: try take(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) else {
            throw BackupFault.damaged
        }
        return number
    }

    /// Attack: a forged length fills the memory. A value has a limit, and a file that ends earlier is damaged.
    private mutating func take(_ count: Int) throws -> [UInt8] {
        guard count <= ServerBackup.longestValue else { throw BackupFault.damaged }
        let bytes = try file.read(count)
        guard bytes.count == count else { throw BackupFault.damaged }
        digest.update(bytes.span)
        return bytes
    }
}
#endif
