// The sealed content of a record: name, times and fields. It exists in clear only in locked memory.
// Format: docs/formats/vault-format.md, "Content".

internal import OMRecords
internal import OMSecrets

/// The opened content of a record.
///
/// length (4) ‖ version (1) ‖ state (1) ‖ kept (2) ‖ created (8) ‖ modified (8) ‖ name length (2) ‖ name ‖
/// number of fields (2) ‖ per field: name length (1) ‖ name ‖ value length (4) ‖ value; then zeros up to a multiple of
/// 256.
struct ItemContent: ~Copyable {
    static let version: UInt8 = 1
    /// The most older versions that an item can keep. The policy sets the number.
    static let maximumHistory = 1000

    let isTrashed: Bool
    /// The number of older versions behind this one when it was written.
    let kept: Int
    let name: ItemName
    let created: Int64
    let modified: Int64
    let fields: [Field]
    private let bytes: SecretBytes

    struct Field {
        let name: FieldName
        let range: Range<Int>
    }

    /// Parses a record's opened box.
    init(opened bytes: consuming SecretBytes) throws(VaultError) {
        let parts = try bytes.withBytes { (span: Span<UInt8>) throws(VaultError) in
            try authentic(.record) { try Self.parse(span) }
        }
        (isTrashed, kept, name, created, modified, fields) = parts
        self.bytes = bytes
    }

    var itemFields: [Item.Field] { fields.map { Item.Field(name: $0.name, count: $0.range.count) } }

    /// The key of the item's entry in its level's tree.
    borrowing func key(_ keys: LevelKeys, _ id: [UInt8]) -> [UInt8] {
        isTrashed ? keys.key(ofTrashed: id) : keys.key(of: name)
    }

    /// The field's value, copied into its own secret.
    borrowing func secret(_ name: FieldName) -> SecretBytes? {
        guard let field = fields.first(where: { $0.name == name }) else { return nil }
        return bytes.withBytes { SecretBytes(copying: $0.extracting(field.range)) }
    }

    /// Lends the content without its padding.
    borrowing func withBytes<R>(_ body: (Span<UInt8>) -> R) -> R {
        bytes.withBytes { bytes in body(bytes.extracting(0..<ContentMap.length(bytes))) }
    }

    /// All fields with their secrets.
    borrowing func values() throws(VaultError) -> FieldValues {
        var values = FieldValues()
        for field in fields {
            try values.put(bytes.withBytes { SecretBytes(copying: $0.extracting(field.range)) }, at: field.name)
        }
        return values
    }

    /// Whether a field of `values` is missing here or has another secret.
    borrowing func differs(from values: borrowing FieldValues) -> Bool {
        var isDifferent = false
        values.forEach { name, new in
            switch secret(name) {
            case .some(let old): if !old.isEqual(to: new) { isDifferent = true }
            case .none: isDifferent = true
            }
        }
        return isDifferent
    }

    /// A draft with the same fields, but with `values` for the fields of the same names and without `removed`. New
    /// fields come after the others.
    borrowing func draft(
        putting values: borrowing FieldValues, without removed: [FieldName] = [], at now: Int64
    ) throws(VaultError) -> ItemDraft {
        var draft = ItemDraft(name: name, created: created, modified: now)
        let replaced = values.names
        for field in fields where !removed.contains(field.name) {
            if replaced.contains(field.name) {
                try values.withSecret(field.name) { (new: borrowing SecretBytes) throws(VaultError) in
                    try draft.put(new, at: field.name)
                }
            } else {
                try draft.put(bytes.withBytes { SecretBytes(copying: $0.extracting(field.range)) }, at: field.name)
            }
        }
        try values.forEach { (name, new) throws(VaultError) in
            if removed.contains(name) || !fields.contains(where: { $0.name == name }) { try draft.put(new, at: name) }
        }
        return draft
    }

    private typealias Parts = (Bool, Int, ItemName, Int64, Int64, [Field])

    private static func parse(_ span: Span<UInt8>) throws -> Parts {
        var cursor = ByteCursor()
        let length: UInt32 = try cursor.number(in: span)
        guard span.count % Record.step == 0, Int(length) <= span.count, Int(length) > span.count - Record.step else {
            throw MalformedBytes()
        }
        let content = span.extracting(0..<Int(length))
        guard try cursor.number(UInt8.self, in: content) == version else { throw MalformedBytes() }
        let state: UInt8 = try cursor.number(in: content)
        let kept: UInt16 = try cursor.number(in: content)
        guard state <= 1, kept <= maximumHistory else { throw MalformedBytes() }
        let created: Int64 = try cursor.number(in: content)
        let modified: Int64 = try cursor.number(in: content)
        let name = try ItemName(cursor.text(Int(try cursor.number(UInt16.self, in: content)), in: content))
        let count: UInt16 = try cursor.number(in: content)
        var fields: [Field] = []
        for _ in 0..<count {
            let name = try FieldName(cursor.text(Int(try cursor.number(UInt8.self, in: content)), in: content))
            let range = try cursor.skip(Int(try cursor.number(UInt32.self, in: content)), in: content)
            guard !fields.contains(where: { $0.name == name }) else { throw MalformedBytes() }
            fields.append(Field(name: name, range: range))
        }
        try cursor.end(in: content)
        for index in content.count..<span.count where span[index] != 0 { throw MalformedBytes() }
        return (state == 1, Int(kept), name, created, modified, fields)
    }

    /// A draft with the same fields, live or in the trash. A nil name keeps the present one.
    borrowing func draft(
        named newName: ItemName? = nil, isTrashed: Bool = false, at now: Int64
    ) throws(VaultError) -> ItemDraft {
        var draft = ItemDraft(name: newName ?? name, created: created, modified: now, isTrashed: isTrashed)
        for field in fields {
            try draft.put(bytes.withBytes { SecretBytes(copying: $0.extracting(field.range)) }, at: field.name)
        }
        return draft
    }

    /// The content that a deleted item's tombstone seals. It has no item data.
    static func tombstone() -> SecretBytes { SecretBytes(count: Record.step) { _ in } }
}
