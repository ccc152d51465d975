// An entry on its way from the process that reads a foreign file. Format: docs/formats/import-reader.md.

internal import OMInterchange
internal import OMItems
internal import OMRecords
internal import OMSecrets

/// The part of an entry that has no values: its names, and how long each value is.
struct ImportEntryHead {
    static let maximumCount = 192 << 10
    static let maximumFields = 4096
    static let maximumNames = 1024

    private(set) var entry: ForeignEntry
    private(set) var fields: [(name: String, role: ForeignField.Role, isConcealed: Bool, count: Int)] = []

    static func encode(_ entry: ForeignEntry) throws(InterchangeError) -> [UInt8] {
        guard entry.fields.count <= maximumFields, entry.folders.count <= maximumNames, entry.tags.count <= maximumNames else {
            throw .tooMuch("parts of an entry")
        }
        var head: [UInt8] = []
        head.append(text: entry.title)
        for names in [entry.folders, entry.tags] {
            head.append(number: UInt16(names.count))
            for name in names { head.append(text: name) }
        }
        head.append(entry.type?.code ?? 0)
        head.append(entry.isTrashed ? 1 : 0)
        for time in [entry.created, entry.modified, entry.expires] {
            head.append(time == nil ? 0 : 1)
            head.append(number: UInt64(bitPattern: time ?? 0))
        }
        head.append(number: UInt16(entry.fields.count))
        for field in entry.fields {
            head.append(UInt8(ForeignField.Role.allCases.firstIndex(of: field.role) ?? 0))
            head.append(field.isConcealed ? 1 : 0)
            head.append(text: field.name)
            head.append(number: UInt32(field.value.count))
        }
        head.append(losses: entry.losses)
        guard head.count <= maximumCount else { throw .tooMuch("bytes of names in an entry") }
        return head
    }

    /// Attack: an attacker has taken over the process. So each bound is checked here too.
    init(decoding bytes: Span<UInt8>) throws(MalformedBytes) {
        var cursor = ByteCursor()
        entry = ForeignEntry(title: try cursor.shortText(in: bytes))
        entry.folders = try Self.names(&cursor, bytes)
        entry.tags = try Self.names(&cursor, bytes)
        let type = try cursor.number(UInt8.self, in: bytes)
        entry.type = ItemType(code: type)
        guard type == 0 || entry.type != nil else { throw MalformedBytes() }
        entry.isTrashed = try Self.flag(&cursor, bytes)
        entry.created = try Self.time(&cursor, bytes)
        entry.modified = try Self.time(&cursor, bytes)
        entry.expires = try Self.time(&cursor, bytes)
        let count = Int(try cursor.number(UInt16.self, in: bytes))
        guard count <= Self.maximumFields else { throw MalformedBytes() }
        var total = 0
        for _ in 0..<count {
            let code = Int(try cursor.number(UInt8.self, in: bytes))
            let isConcealed = try Self.flag(&cursor, bytes)
            let name = try cursor.shortText(in: bytes)
            let size = Int(try cursor.number(UInt32.self, in: bytes))
            total += size
            guard code < ForeignField.Role.allCases.count, size <= Item.maximumFieldCount, total <= ForeignReader.maximumTotal
            else {
                throw MalformedBytes()
            }
            fields.append((name, ForeignField.Role.allCases[code], isConcealed, size))
        }
        entry.losses = try cursor.losses(in: bytes)
        try cursor.end(in: bytes)
    }

    private static func names(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) throws(MalformedBytes) -> [String] {
        let count = Int(try cursor.number(UInt16.self, in: bytes))
        guard count <= maximumNames else { throw MalformedBytes() }
        var names: [String] = []
        for _ in 0..<count { names.append(try cursor.shortText(in: bytes)) }
        return names
    }

    private static func flag(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) throws(MalformedBytes) -> Bool {
        let flag = try cursor.number(UInt8.self, in: bytes)
        guard flag <= 1 else { throw MalformedBytes() }
        return flag == 1
    }

    private static func time(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) throws(MalformedBytes) -> Int64? {
        let isThere = try flag(&cursor, bytes)
        let seconds = Int64(bitPattern: try cursor.number(UInt64.self, in: bytes))
        return isThere ? seconds : nil
    }
}

/// An entry whose values arrive.
struct ReceivedEntry: ~Copyable {
    private let head: ImportEntryHead
    /// The bytes of the head.
    let headCount: Int
    private var fields: [ForeignField] = []
    private var value = SecretBuffer()

    init(_ head: ImportEntryHead, count: Int) {
        (self.head, headCount) = (head, count)
        finishValues()
    }

    var isWhole: Bool { fields.count == head.fields.count }

    /// - Throws: For more bytes than the head announced.
    mutating func take(_ bytes: Span<UInt8>) throws(MalformedBytes) {
        var start = 0
        while start < bytes.count {
            guard !isWhole else { throw MalformedBytes() }
            let end = min(bytes.count, start + head.fields[fields.count].count - value.count)
            value.append(bytes.extracting(start..<end))
            start = end
            finishValues()
        }
    }

    private mutating func finishValues() {
        while !isWhole, value.count == head.fields[fields.count].count {
            let field = head.fields[fields.count]
            let whole = value.withBytes { SecretBytes(copying: $0) }
            fields.append(ForeignField(field.name, field.role, isConcealed: field.isConcealed, whole))
            value = SecretBuffer()
        }
    }

    consuming func finish() -> ForeignEntry {
        var entry = head.entry
        entry.fields = fields
        return entry
    }
}
