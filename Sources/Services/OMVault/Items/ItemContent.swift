// The sealed content of a record: name, times, details and fields. It exists in clear only in locked memory.
// Format: docs/formats/vault-format.md, "Content".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets

/// The opened content of a record.
///
/// Version 1: length (4) ‖ version (1) ‖ state (1) ‖ kept (2) ‖ created (8) ‖ modified (8) ‖ name length (2) ‖ name ‖
/// number of fields (2) ‖ per field: name length (1) ‖ name ‖ value length (4) ‖ value; then zeros up to a multiple of
/// 256.
///
/// Version 2 has type (1) ‖ expires (8) ‖ tags ‖ 0, or 1 and the parts of sync, behind the name, and flags (1) before each
/// field. A field can have its value in chunks.
struct ItemContent: ~Copyable {
    /// The most older versions that an item can keep. The policy sets the number.
    static let maximumHistory = 1000
    /// The offset of the version.
    static let versionOffset = 4
    /// The flag of a shown field.
    static let shownFlag: UInt8 = 1
    /// The flag of a field whose value is in chunks.
    static let chunkedFlag: UInt8 = 2
    /// The state of a tombstone: ``Tombstone``.
    static let purgedState: UInt8 = 2
    /// The longest content of version 2 without its padding and the parts of sync. Larger values go into chunks.
    static let maximumCount = 64 << 10
    /// The longest content of version 1, which has no chunks.
    static let maximumFirstCount = (16 << 20) + 1024

    let isTrashed: Bool
    /// The number of older versions behind this one when it was written.
    let kept: Int
    let name: ItemName
    let created: Int64
    let modified: Int64
    let details: ItemDetails
    /// Nil if it was never written by a device of a vault that syncs.
    let synced: SyncedParts?
    let fields: [Field]
    private let bytes: SecretBytes

    struct Field {
        let name: FieldName
        let value: Value
        /// Nil if the field is concealed.
        let shownValue: String?

        var isShown: Bool { shownValue != nil }

        var chunkIDs: [[UInt8]] { if case .chunked(let value) = value { value.ids } else { [] } }

        var count: Int {
            switch value {
            case .inside(let range): range.count
            case .chunked(let value): value.count
            }
        }
    }

    enum Value {
        /// The positions of its bytes in the content.
        case inside(Range<Int>)
        case chunked(ChunkedValue)
    }

    /// Parses a record's opened box.
    ///
    /// - Parameter format: The format of the vault.
    /// - Throws: ``VaultError/corrupt(_:)``; ``VaultError/laterContent``, because a key of this vault sealed the box.
    init(opened bytes: consuming SecretBytes, format: UInt32) throws(VaultError) {
        let parts = try bytes.withBytes { (span: Span<UInt8>) throws(VaultError) in try Self.parts(span, format) }
        let name = try Self.name(parts)
        (isTrashed, kept, self.name) = (parts.isTrashed, parts.kept, name)
        (created, modified) = (parts.created, parts.modified)
        (details, synced, fields) = (parts.details, parts.synced, parts.fields)
        self.bytes = bytes
    }

    static func parts(_ opened: Span<UInt8>, _ format: UInt32) throws(VaultError) -> Parts {
        guard let parts = try authentic(.record, { try Parts(opened, format: format) }) else { throw .laterContent }
        return parts
    }

    /// A tombstone has no name, and is no item.
    private static func name(_ parts: Parts) throws(VaultError) -> ItemName {
        guard let name = parts.name else { throw .corrupt(.record) }
        return name
    }

    /// Parses a record's opened box without keeping it, for ``ContentMap``.
    ///
    /// - Returns: The key of the item's entry in its level's tree.
    static func key(
        ofOpened bytes: Span<UInt8>, format: UInt32, _ keys: LevelKeys, _ id: [UInt8]
    ) throws(VaultError) -> [UInt8] {
        let parts = try parts(bytes, format)
        return key(of: try name(parts), isTrashed: parts.isTrashed, keys, id)
    }

    private static func key(of name: ItemName, isTrashed: Bool, _ keys: LevelKeys, _ id: [UInt8]) -> [UInt8] {
        isTrashed ? keys.key(ofTrashed: id) : keys.key(of: name)
    }

    var itemFields: [Item.Field] {
        fields.map { Item.Field(name: $0.name, count: $0.count, shownValue: $0.shownValue) }
    }

    /// The values in chunks.
    var chunkedValues: [ChunkedValue] {
        fields.compactMap { if case .chunked(let value) = $0.value { value } else { nil } }
    }

    /// The ids of all chunks that this content names.
    var chunkIDs: [[UInt8]] { fields.flatMap(\.chunkIDs) }

    /// The key of the item's entry in its level's tree.
    borrowing func key(_ keys: LevelKeys, _ id: [UInt8]) -> [UInt8] {
        Self.key(of: name, isTrashed: isTrashed, keys, id)
    }

    /// Lends the content without its padding.
    borrowing func withBytes<R>(_ body: (Span<UInt8>) -> R) -> R {
        bytes.withBytes { bytes in body(bytes.extracting(0..<ContentMap.length(bytes))) }
    }

    /// The digest of a field's value.
    borrowing func digest(of field: Field) -> [UInt8] {
        switch field.value {
        case .inside(let range): secret(at: range).valueDigest()
        case .chunked(let value): value.digest
        }
    }

    /// A value inside the content, copied into its own secret.
    borrowing func secret(at range: Range<Int>) -> SecretBytes {
        bytes.withBytes { SecretBytes(copying: $0.extracting(range)) }
    }

    // MARK: - The next version

    /// Whether the change would leave anything different.
    borrowing func differs(after change: borrowing ItemChange) throws(VaultError) -> Bool {
        guard try change.applied(to: details) == details, change.removed.isEmpty else { return true }
        guard !fields.contains(where: { change.shows($0.name, before: $0.isShown) != $0.isShown }) else { return true }
        var isDifferent = false
        change.set.forEach { name, new in if !hasValue(new, at: name) { isDifferent = true } }
        return isDifferent || !change.set.spooled.allSatisfy { hasValue($0.value, at: $0.name) }
    }

    private borrowing func hasValue(_ new: borrowing SecretBytes, at name: FieldName) -> Bool {
        switch fields.first(where: { $0.name == name })?.value {
        case .inside(let range): secret(at: range).isEqual(to: new)
        case .chunked(let old): old.count == new.count && old.digest == new.valueDigest()
        case nil: false
        }
    }

    private borrowing func hasValue(_ new: SpooledValue, at name: FieldName) -> Bool {
        guard case .chunked(let old)? = fields.first(where: { $0.name == name })?.value else { return false }
        return old.count == new.count && old.digest == new.digest
    }

    /// A draft of the item after the change. New fields come after the others.
    ///
    /// - Parameter whole: Gives a value in chunks as one secret. A short value may be in a chunk because its item has many.
    /// - Throws: ``VaultError/tooLarge``, ``VaultError/notShowable(_:)``, ``VaultError/invalidExpiry``.
    borrowing func draft(
        after change: borrowing ItemChange, at now: Int64, whole: (ChunkedValue) throws(VaultError) -> SecretBytes
    ) throws(VaultError) -> ItemDraft {
        var draft = ItemDraft(
            name: name, created: created, modified: now, details: try change.applied(to: details), synced: synced)
        let replaced = change.set.names
        for field in fields where !change.removed.contains(field.name) {
            let isShown = change.shows(field.name, before: field.isShown)
            if replaced.contains(field.name) {
                try draft.put(change.set, field.name, isShown: isShown)
            } else if isShown, case .chunked(let value) = field.value, value.count <= Item.maximumShownCount {
                try draft.put(try whole(value), at: field.name, isShown: true)
            } else {
                try put(field, into: &draft, isShown: isShown)
            }
        }
        let kept = fields.map(\.name).filter { !change.removed.contains($0) }
        for name in replaced where !kept.contains(name) {
            try draft.put(change.set, name, isShown: change.shows(name, before: false))
        }
        return draft
    }

    /// A draft with the same fields, live or in the trash. A nil name keeps the present one.
    ///
    /// - Parameter chunked: Gives the chunks of a value in chunks. They are the same ones unless the draft is another item's.
    borrowing func draft(
        named newName: ItemName? = nil, isTrashed: Bool = false, at now: Int64,
        chunked: (ChunkedValue) throws(VaultError) -> ChunkedValue = { value throws(VaultError) in value }
    ) throws(VaultError) -> ItemDraft {
        var draft = ItemDraft(
            name: newName ?? name, created: created, modified: now, isTrashed: isTrashed, details: details, synced: synced)
        for field in fields { try put(field, into: &draft, isShown: field.isShown, chunked: chunked) }
        return draft
    }

    private borrowing func put(
        _ field: Field, into draft: inout ItemDraft, isShown: Bool,
        chunked: (ChunkedValue) throws(VaultError) -> ChunkedValue = { value throws(VaultError) in value }
    ) throws(VaultError) {
        switch field.value {
        case .inside(let range): try draft.put(secret(at: range), at: field.name, isShown: isShown)
        case .chunked(let value): try draft.put(try chunked(value), at: field.name, isShown: isShown)
        }
    }

    /// Whether version 1 cannot say everything about an item.
    ///
    /// - Parameter flags: Those of its fields.
    static func needsVersion2(_ name: ItemName, _ details: ItemDetails, _ flags: [UInt8]) -> Bool {
        details != ItemDetails() || name.hasColon || flags.contains { $0 != 0 }
    }

}

extension ItemContent {
    /// The parts of a content, as its bytes have them.
    struct Parts {
        let isTrashed: Bool
        let kept: Int
        /// Nil for a tombstone.
        let name: ItemName?
        let created: Int64
        let modified: Int64
        var details = ItemDetails()
        var synced: SyncedParts?
        var fields: [Field] = []

        /// - Returns: nil for a content of a later omvault.
        init?(_ span: Span<UInt8>, format: UInt32) throws {
            var cursor = ByteCursor()
            let length: UInt32 = try cursor.number(in: span)
            guard span.count % Record.step == 0, Int(length) <= span.count, Int(length) > span.count - Record.step else {
                throw MalformedBytes()
            }
            let content = span.extracting(0..<Int(length))
            let version: UInt8 = try cursor.number(in: content)
            guard version < 3 else { return nil }
            // Attack: an attacker sets the vault's format back, so that an older omvault meets this content.
            guard version >= 1, version <= format else { throw MalformedBytes() }
            let state: UInt8 = try cursor.number(in: content)
            let kept: UInt16 = try cursor.number(in: content)
            guard state <= 1 || version == 2 && state == purgedState, kept <= maximumHistory else { throw MalformedBytes() }
            (isTrashed, self.kept) = (state == 1, Int(kept))
            created = try cursor.number(in: content)
            modified = try cursor.number(in: content)
            let nameCount = Int(try cursor.number(UInt16.self, in: content))
            name = state == purgedState && nameCount == 0 ? nil : try ItemName(cursor.text(nameCount, in: content))
            guard (name == nil) == (state == purgedState) else { throw MalformedBytes() }
            var syncedCount = 0
            if version == 1 {
                guard name?.hasColon == false else { throw MalformedBytes() }
            } else {
                guard let details = try Self.details(&cursor, in: content) else { return nil }
                self.details = details
                switch try cursor.number(UInt8.self, in: content) {
                case 0: break
                case 1:
                    let start = cursor.offset
                    synced = try SyncedParts(&cursor, in: content)
                    syncedCount = cursor.offset - start
                default: return nil
                }
            }
            // A content above 64 KiB has its large values in chunks.
            guard version == 1 || content.count - syncedCount <= maximumCount else { throw MalformedBytes() }
            let count: UInt16 = try cursor.number(in: content)
            fields.reserveCapacity(Int(count))
            var (allFlags, total): (UInt8, Int) = (0, 0)
            for _ in 0..<count {
                let flags = version == 1 ? 0 : try cursor.number(UInt8.self, in: content)
                guard flags & ~(shownFlag | chunkedFlag) == 0 else { return nil }
                let name = try FieldName(cursor.text(Int(try cursor.number(UInt8.self, in: content)), in: content))
                guard !fields.contains(where: { $0.name == name }) else { throw MalformedBytes() }
                fields.append(try Self.field(name, flags, &cursor, in: content))
                allFlags |= flags
                total += fields[fields.count - 1].count
            }
            try cursor.end(in: content)
            guard total <= Item.maximumTotalCount else { throw MalformedBytes() }
            if allFlags & chunkedFlag != 0 {
                let ids = fields.flatMap(\.chunkIDs)
                guard Set(ids).count == ids.count else { throw MalformedBytes() }
            }
            if let name {
                // Version 2 is only for what version 1 cannot say.
                guard version == 1 || synced != nil || needsVersion2(name, details, [allFlags]) else { throw MalformedBytes() }
            } else {
                guard synced != nil, kept == 0, details == ItemDetails(), fields.isEmpty else { throw MalformedBytes() }
            }
            for index in content.count..<span.count where span[index] != 0 { throw MalformedBytes() }
        }

        /// length of the value (4) ‖ the value, or its digest (32) and the ids of its chunks (16 each)
        private static func field(
            _ name: FieldName, _ flags: UInt8, _ cursor: inout ByteCursor, in content: Span<UInt8>
        ) throws -> Field {
            let count = Int(try cursor.number(UInt32.self, in: content))
            guard flags & chunkedFlag == 0 else {
                guard flags == chunkedFlag, (1...Item.maximumFieldCount).contains(count) else { throw MalformedBytes() }
                let digest = try cursor.take(ChunkedValue.digestCount, in: content)
                var ids: [[UInt8]] = []
                for _ in 0..<ValueChunk.number(for: count) { ids.append(try cursor.take(ChunkedValue.idCount, in: content)) }
                let value = ChunkedValue(count: count, digest: digest, ids: ids)
                return Field(name: name, value: .chunked(value), shownValue: nil)
            }
            let range = try cursor.skip(count, in: content)
            let shown = flags == shownFlag ? Item.Field.shownValue(content.extracting(range)) : nil
            guard flags == 0 || shown != nil else { throw MalformedBytes() }
            return Field(name: name, value: .inside(range), shownValue: shown)
        }

        /// type (1) ‖ expires (8) ‖ number of tags (1) ‖ per tag: length (1) ‖ tag
        ///
        /// - Returns: nil for a type of a later omvault.
        private static func details(_ cursor: inout ByteCursor, in content: Span<UInt8>) throws -> ItemDetails? {
            let code: UInt8 = try cursor.number(in: content)
            let type = ItemType(code: code)
            let expires: Int64 = try cursor.number(in: content)
            guard expires >= 0 else { throw MalformedBytes() }
            var tags: [ItemTag] = []
            for _ in 0..<(try cursor.number(UInt8.self, in: content)) {
                let tag = try ItemTag(cursor.text(Int(try cursor.number(UInt8.self, in: content)), in: content))
                guard tags.last.map({ $0 < tag }) ?? true else { throw MalformedBytes() }
                tags.append(tag)
            }
            guard tags.count <= Item.maximumTags else { throw MalformedBytes() }
            guard code == 0 || type != nil else { return nil }
            return ItemDetails(type: type, tags: tags, expires: expires == 0 ? nil : expires)
        }
    }
}

extension SecretBytes {
    /// The digest of a value, as a content has it beside the ids of the value's chunks.
    borrowing func valueDigest() -> [UInt8] {
        let hash = BLAKE2b(count: ChunkedValue.digestCount)
        withBytes { hash.update($0) }
        return hash.digest()
    }
}
