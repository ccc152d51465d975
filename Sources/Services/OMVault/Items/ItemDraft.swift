internal import OMRecords
public import OMSecrets

/// An item under construction, field by field, in locked memory.
public struct ItemDraft: ~Copyable {
    private var buffer = SecretBuffer(capacity: 512)
    private var fields: [Item.Field] = []
    private let name: ItemName
    private let (created, modified): (Int64, Int64)
    private let isTrashed: Bool
    private let countOffset: Int

    init(name: ItemName, created: Int64, modified: Int64, isTrashed: Bool = false) {
        (self.name, self.created, self.modified, self.isTrashed) = (name, created, modified, isTrashed)
        var head: [UInt8] = [0, 0, 0, 0, ItemContent.version, isTrashed ? 1 : 0, 0, 0]
        head.append(number: created)
        head.append(number: modified)
        head.append(number: UInt16(name.bytes.count))
        head += name.bytes
        countOffset = head.count
        head.append(number: UInt16(0))
        buffer.append(head.span)
    }

    /// Adds a field.
    ///
    /// - Throws: ``VaultError/tooLarge`` above the limits of ``Item``, ``VaultError/fieldExists(_:)``.
    public mutating func put(_ value: borrowing SecretBytes, at name: FieldName) throws(VaultError) {
        guard !fields.contains(where: { $0.name == name }) else { throw .fieldExists(name) }
        guard value.count <= Item.maximumFieldCount, fields.count < Item.maximumFields,
            buffer.count + value.count <= Item.maximumCount
        else { throw .tooLarge }
        fields.append(Item.Field(name: name, count: value.count))
        var head = [UInt8(name.bytes.count)] + name.bytes
        head.append(number: UInt32(value.count))
        buffer.append(head.span)
        buffer.append(value)
    }

    /// The item without its secrets, as a user will see it.
    borrowing func item(_ header: Record.Header) -> Item {
        Item(
            name: name, level: header.level, id: header.id, revision: header.revision, created: created,
            modified: modified, isTrashed: isTrashed, fields: fields)
    }

    /// The key of the item's future entry in its level's tree.
    borrowing func key(_ keys: LevelKeys, _ id: [UInt8]) -> [UInt8] {
        isTrashed ? keys.key(ofTrashed: id) : keys.key(of: name)
    }

    /// The padded content. Its length, its number of fields and its number of older versions are filled in here.
    consuming func finish(kept: Int) -> SecretBytes {
        let (length, count) = (buffer.count, fields.count)
        let padded = (length + Record.step - 1) / Record.step * Record.step
        return buffer.withBytes { content in
            SecretBytes(count: padded) { target in
                for index in 4..<length { target[index] = content[index] }
                for index in 0..<4 { target[index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
                for index in 0..<2 { target[6 + index] = UInt8(truncatingIfNeeded: kept >> (8 - 8 * index)) }
                for index in 0..<2 { target[countOffset + index] = UInt8(truncatingIfNeeded: count >> (8 - 8 * index)) }
            }
        }
    }
}
