// What a user sees of an item without its secrets, and the names by which it is asked for.

public import OMRecords

/// 1 to 255 bytes of UTF-8 without control characters or `:`. Compared as bytes: two spellings of é are two names.
public struct ItemName: Hashable, Sendable {
    public let text: String

    public init(_ text: String) throws(VaultError) {
        guard isName(text, upTo: 255, without: { $0 == UInt8(ascii: ":") }) else { throw .invalidItemName }
        self.text = text
    }

    /// Text that was a name's before.
    init(checked text: String) { self.text = text }

    var bytes: [UInt8] { Array(text.utf8) }

    /// In the order of their bytes.
    func precedes(_ other: ItemName) -> Bool { text.utf8.lexicographicallyPrecedes(other.text.utf8) }

    public static func == (one: ItemName, other: ItemName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

/// 1 to 64 bytes of UTF-8 without control characters, `:`, `/` or `=`.
public struct FieldName: Hashable, Sendable {
    public let text: String

    public init(_ text: String) throws(VaultError) {
        guard isName(text, upTo: 64, without: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") })
        else { throw .invalidFieldName }
        self.text = text
    }

    /// Text that was a name's before.
    init(checked text: String) { self.text = text }

    var bytes: [UInt8] { Array(text.utf8) }

    public static func == (one: FieldName, other: FieldName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

@inline(__always)
private func isName(_ text: String, upTo limit: Int, without isRefused: (UInt8) -> Bool) -> Bool {
    guard (1...limit).contains(text.utf8.count) else { return false }
    // Most names are of ASCII alone, and a scalar's category is looked up in tables: a list has a hundred thousand.
    var isPlain = true
    for byte in text.utf8 {
        if isRefused(byte) { return false }
        if byte < 0x20 || byte >= 0x7F { isPlain = false }
    }
    return isPlain || text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
}

/// One secret of one item.
public struct FieldPath: Hashable, Sendable {
    public let item: ItemName
    public let field: FieldName

    public init(_ item: ItemName, _ field: FieldName) { (self.item, self.field) = (item, field) }
}

/// An item without its secrets.
public struct Item: Hashable, Sendable {
    /// The largest value of one field: 1 MiB.
    public static let maximumFieldCount = 1 << 20
    public static let maximumFields = 256
    /// The largest sum of all that an item holds: 16 MiB.
    public static let maximumCount = 16 << 20

    public struct Field: Hashable, Sendable {
        public let name: FieldName
        /// The length of its secret in bytes.
        public let count: Int

        public init(name: FieldName, count: Int) { (self.name, self.count) = (name, count) }
    }

    public let name: ItemName
    public let level: ProtectionLevel
    /// 16 bytes.
    public let id: [UInt8]
    public let revision: UInt64
    /// Seconds since 1970.
    public let created: Int64
    public let modified: Int64
    public let isTrashed: Bool
    public let fields: [Field]

    public init(
        name: ItemName, level: ProtectionLevel, id: [UInt8], revision: UInt64, created: Int64, modified: Int64,
        isTrashed: Bool = false, fields: [Field]
    ) {
        (self.name, self.level, self.id, self.revision) = (name, level, id, revision)
        (self.created, self.modified, self.isTrashed, self.fields) = (created, modified, isTrashed, fields)
    }
}
