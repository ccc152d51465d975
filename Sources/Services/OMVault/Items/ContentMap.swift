// The second reading of content that was parsed before, for lists and searches over thousands of items.

internal import OMItems
internal import OMRecords
internal import OMSecrets

/// The positions of the parts in an item's content. Format: docs/formats/vault-format.md, "Content".
///
/// Use it only for bytes that ``ItemContent`` has read, because it trusts their lengths.
struct ContentMap {
    let isTrashed: Bool
    let name: Range<Int>
    /// Whether its fields have flags. Only such a content has values in chunks.
    let hasFlags: Bool
    /// The offset of the type. Nil in version 1.
    private let details: Int?
    private let fieldsOffset: Int
    private let fieldCount: Int

    init(_ content: Span<UInt8>) {
        isTrashed = content[5] == 1
        name = Self.name(of: content)
        hasFlags = content[ItemContent.versionOffset] == 2
        var offset = name.upperBound
        details = hasFlags ? offset : nil
        if hasFlags {
            offset += Self.tagsOffset
            for _ in 0..<content[offset - 1] { offset += 1 + Int(content[offset]) }
            offset = content[offset] == 0 ? offset + 1 : Self.endOfSyncedParts(content, from: offset + 1)
        }
        fieldCount = Int(Self.number(content, offset, 2))
        fieldsOffset = offset + 2
    }

    /// type (1) ‖ expires (8) ‖ number of tags (1)
    private static let tagsOffset = 10

    /// dot (12) ‖ number (2) ‖ seen (12 each) ‖ number of lowerings (1) ‖ per lowering: level (1) ‖ epoch (4) ‖ number (2) ‖
    /// covered (12 each) ‖ MAC (32); then 0, or 1 and the origin (16).
    private static func endOfSyncedParts(_ content: Span<UInt8>, from start: Int) -> Int {
        var offset = start + 12
        offset += 2 + 12 * Int(number(content, offset, 2))
        let lowerings = content[offset]
        offset += 1
        for _ in 0..<lowerings { offset += 5 + 2 + 12 * Int(number(content, offset + 5, 2)) + 32 }
        return offset + (content[offset] == 0 ? 1 : 17)
    }

    static func name(of content: Span<UInt8>) -> Range<Int> { 26..<26 + Int(number(content, 24, 2)) }

    /// The number of bytes of a padded content without its padding.
    static func length(_ padded: Span<UInt8>) -> Int { Int(number(padded, 0, 4)) }

    /// The positions of a field's parts.
    struct Field {
        let name: Range<Int>
        /// Empty for a value in chunks.
        let value: Range<Int>
        /// The number of bytes of the value.
        let count: Int
        let isShown: Bool
        let isChunked: Bool
    }

    /// Calls `body` with each field, until it returns false.
    func forEachField(in content: Span<UInt8>, _ body: (Field) -> Bool) {
        var offset = fieldsOffset
        for _ in 0..<fieldCount {
            let flags = hasFlags ? content[offset] : 0
            if hasFlags { offset += 1 }
            let name = offset + 1..<offset + 1 + Int(content[offset])
            let count = Int(Self.number(content, name.upperBound, 4))
            let start = name.upperBound + 4
            let isChunked = flags == ItemContent.chunkedFlag
            let value = start..<start + (isChunked ? 0 : count)
            let isShown = flags == ItemContent.shownFlag
            guard body(Field(name: name, value: value, count: count, isShown: isShown, isChunked: isChunked)) else { return }
            offset = isChunked ? start + ChunkedValue.encodedCount(count) : value.upperBound
        }
    }

    /// The item without its concealed values.
    func item(_ level: ProtectionLevel, _ head: VersionHead, _ content: Span<UInt8>) -> Item {
        var fields: [Item.Field] = []
        fields.reserveCapacity(fieldCount)
        forEachField(in: content) { field in
            fields.append(
                Item.Field(
                    name: FieldName(checked: Self.text(content, field.name)), count: field.count,
                    shownValue: field.isShown ? Self.text(content, field.value) : nil))
            return true
        }
        return Item(
            name: ItemName(checked: Self.text(content, name)), level: level, id: head.id, revision: head.revision,
            created: Int64(bitPattern: Self.number(content, 8, 8)),
            modified: Int64(bitPattern: Self.number(content, 16, 8)), isTrashed: isTrashed,
            details: itemDetails(content), fields: fields)
    }

    private func itemDetails(_ content: Span<UInt8>) -> ItemDetails {
        guard let details else { return ItemDetails() }
        let expires = Int64(bitPattern: Self.number(content, details + 1, 8))
        var tags: [ItemTag] = []
        var offset = details + Self.tagsOffset
        for _ in 0..<content[offset - 1] {
            let tag = offset + 1..<offset + 1 + Int(content[offset])
            tags.append(ItemTag(checked: Self.text(content, tag)))
            offset = tag.upperBound
        }
        return ItemDetails(type: ItemType(code: content[details]), tags: tags, expires: expires == 0 ? nil : expires)
    }

    private static func text(_ content: Span<UInt8>, _ range: Range<Int>) -> String {
        guard let text = try? UTF8Span(validating: content.extracting(range)) else {
            preconditionFailure("names were read before")
        }
        return String(copying: text)
    }

    private static func number(_ content: Span<UInt8>, _ offset: Int, _ count: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in offset..<offset + count { number = number << 8 | UInt64(content[index]) }
        return number
    }
}
