// An item as a user sees it, without its concealed values.

public import OMRecords

/// An item without its concealed values.
public struct Item: Hashable, Sendable {
    /// The largest value of one field: 64 MiB.
    public static let maximumFieldCount = 64 << 20
    /// The largest value that is read and written whole: 1 MiB. A larger one, a large value, needs ``ValueSpool`` and
    /// ``Vault/chunk(_:of:revision:digest:)``.
    public static let maximumWholeCount = 1 << 20
    public static let maximumFields = 256
    /// The largest sum of all values of an item: 256 MiB.
    public static let maximumTotalCount = 256 << 20
    public static let maximumTags = 64
    /// The longest value of a shown field, in bytes.
    public static let maximumShownCount = 1024

    public struct Field: Hashable, Sendable {
        public let name: FieldName
        /// The length of the field's value in bytes.
        public let count: Int
        /// The value of a shown field. Nil if the field is concealed.
        public let shownValue: String?

        /// Whether the value is too large to be read whole.
        public var isLarge: Bool { count > Item.maximumWholeCount }

        package init(name: FieldName, count: Int, shownValue: String? = nil) {
            (self.name, self.count, self.shownValue) = (name, count, shownValue)
        }

        /// The text that a shown field has with this value: at most 1024 bytes of UTF-8, without control characters other
        /// than newline and tab.
        ///
        /// - Returns: nil if a field with this value cannot be shown.
        package static func shownValue(_ value: Span<UInt8>) -> String? {
            guard value.count <= Item.maximumShownCount, let text = try? UTF8Span(validating: value) else { return nil }
            let copy = String(copying: text)
            let isPlain = copy.unicodeScalars.allSatisfy { scalar in
                scalar.properties.generalCategory != .control || scalar == "\n" || scalar == "\t"
            }
            return isPlain ? copy : nil
        }
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
    public let details: ItemDetails
    public let fields: [Field]

    package init(
        name: ItemName, level: ProtectionLevel, id: [UInt8], revision: UInt64, created: Int64, modified: Int64,
        isTrashed: Bool = false, details: ItemDetails = ItemDetails(), fields: [Field]
    ) {
        self.details = details
        (self.name, self.level, self.id, self.revision) = (name, level, id, revision)
        (self.created, self.modified, self.isTrashed, self.fields) = (created, modified, isTrashed, fields)
    }
}
