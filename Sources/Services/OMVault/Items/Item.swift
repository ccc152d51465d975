// An item as a user sees it, without its secrets.

public import OMRecords

/// An item without its secrets.
public struct Item: Hashable, Sendable {
    /// The largest value of one field: 1 MiB.
    public static let maximumFieldCount = 1 << 20
    public static let maximumFields = 256
    /// The largest sum of everything that an item holds: 16 MiB.
    public static let maximumCount = 16 << 20

    public struct Field: Hashable, Sendable {
        public let name: FieldName
        /// The length of the field's secret in bytes.
        public let count: Int

        package init(name: FieldName, count: Int) { (self.name, self.count) = (name, count) }
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

    package init(
        name: ItemName, level: ProtectionLevel, id: [UInt8], revision: UInt64, created: Int64, modified: Int64,
        isTrashed: Bool = false, fields: [Field]
    ) {
        (self.name, self.level, self.id, self.revision) = (name, level, id, revision)
        (self.created, self.modified, self.isTrashed, self.fields) = (created, modified, isTrashed, fields)
    }
}
