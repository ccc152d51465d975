#if Server
// The bytes of a backup, from its start to its end.

internal import OMSecrets
internal import OMServerStore
internal import OMSystem

struct ServerBackupWriter: ~Copyable {
    /// Bytes are written in pieces of at least this size.
    private static let pieceCount = 1 << 18

    private(set) var rows: Int64 = 0
    private var draft: Draft
    private let digest = BLAKE2b(count: ServerBackup.digestCount)
    private var unwritten: [UInt8]

    init(_ path: String, version: Int64, now: Int64) throws(StorageError) {
        draft = try Draft.make(for: path, .onlyNewAnywhere)
        unwritten = ServerBackup.start
        add(UInt64(bitPattern: version))
        add(UInt64(bitPattern: now))
    }

    mutating func table(_ name: String) throws(StorageError) {
        unwritten.append(ServerBackup.Part.table.rawValue)
        add(UInt16(name.utf8.count))
        unwritten += name.utf8
        try write(atLeast: Self.pieceCount)
    }

    mutating func row(_ row: SQLRow) throws(StorageError) {
        unwritten.append(ServerBackup.Part.row.rawValue)
        add(UInt16(row.columns.count))
        for value in row.columns {
            switch value {
            case .null: unwritten.append(ServerBackup.Value.null.rawValue)
            case .number(let number):
                unwritten.append(ServerBackup.Value.number.rawValue)
                add(UInt64(bitPattern: number))
            case .text(let text):
                unwritten.append(ServerBackup.Value.text.rawValue)
                add(UInt32(text.utf8.count))
                unwritten += text.utf8
            case .bytes(let bytes):
                unwritten.append(ServerBackup.Value.bytes.rawValue)
                add(UInt32(bytes.count))
                unwritten += bytes
            }
        }
        rows += 1
        try write(atLeast: Self.pieceCount)
    }

    /// - Returns: The complete file, which has no name yet.
    consuming func end() throws(StorageError) -> Draft {
        unwritten.append(ServerBackup.Part.end.rawValue)
        add(UInt64(rows))
        try write(atLeast: 0)
        try draft.write(digest.digest().span)
        return draft
    }

    private mutating func add<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { unwritten += $0 }
    }

    private mutating func write(atLeast count: Int) throws(StorageError) {
        guard unwritten.count >= count else { return }
        let bytes = unwritten
        digest.update(bytes.span)
        try draft.write(bytes.span)
        unwritten.removeAll(keepingCapacity: true)
    }
}
#endif
