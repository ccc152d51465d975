internal import OMRecords
public import OMSecrets

/// An item under construction, field by field, in locked memory.
public struct ItemDraft: ~Copyable {
    /// The fields, each with its flags, as in version 2 of the content.
    private var buffer = SecretBuffer(capacity: 512)
    private var fields: [Item.Field] = []
    private let name: ItemName
    private let (created, modified): (Int64, Int64)
    private let isTrashed: Bool
    private let details: ItemDetails

    init(
        name: ItemName, created: Int64, modified: Int64, isTrashed: Bool = false, details: ItemDetails = ItemDetails()
    ) {
        (self.name, self.created, self.modified, self.isTrashed) = (name, created, modified, isTrashed)
        self.details = details
    }

    /// Adds a field.
    ///
    /// - Parameter isShown: Whether `show` and `find` print the value without `--reveal`.
    /// - Throws: ``VaultError/tooLarge`` above the limits of ``Item``, ``VaultError/fieldExists(_:)``,
    ///   ``VaultError/notShowable(_:)``.
    public mutating func put(
        _ value: borrowing SecretBytes, at name: FieldName, isShown: Bool = false
    ) throws(VaultError) {
        guard !fields.contains(where: { $0.name == name }) else { throw .fieldExists(name) }
        guard value.count <= Item.maximumFieldCount, fields.count < Item.maximumFields,
            buffer.count + value.count <= Item.maximumCount
        else { throw .tooLarge }
        let shown = isShown ? value.withBytes { Item.Field.shownValue($0) } : nil
        guard !isShown || shown != nil else { throw .notShowable(name) }
        fields.append(Item.Field(name: name, count: value.count, shownValue: shown))
        var head = [isShown ? ItemContent.shownFlag : 0, UInt8(name.bytes.count)] + name.bytes
        head.append(number: UInt32(value.count))
        buffer.append(head.span)
        buffer.append(value)
    }

    /// The item without its concealed values, as a user will see it.
    borrowing func item(_ header: Record.Header) -> Item {
        Item(
            name: name, level: header.level, id: header.id, revision: header.revision, created: created,
            modified: modified, isTrashed: isTrashed, details: details, fields: fields)
    }

    /// The key of the item's future entry in its level's tree.
    borrowing func key(_ keys: LevelKeys, _ id: [UInt8]) -> [UInt8] {
        isTrashed ? keys.key(ofTrashed: id) : keys.key(of: name)
    }

    /// The padded content, in version 1 if that version can say everything.
    ///
    /// - Parameter kept: The number of older versions.
    consuming func finish(kept: Int) -> SecretBytes {
        let isFirst = !ItemContent.needsVersion2(name, details, fields.map { $0.shownValue != nil })
        let (head, fields) = (head(version: isFirst ? 1 : 2, kept: kept), fields)
        // Version 1 has no flags.
        let length = head.count + buffer.count - (isFirst ? fields.count : 0)
        let padded = (length + Record.step - 1) / Record.step * Record.step
        return buffer.withBytes { content in
            SecretBytes(count: padded) { target in
                var end = 0
                for byte in head {
                    target[end] = byte
                    end += 1
                }
                for index in 0..<4 { target[index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
                var start = 0
                for field in fields {
                    let count = 1 + 1 + field.name.bytes.count + 4 + field.count
                    for index in start + (isFirst ? 1 : 0)..<start + count {
                        target[end] = content[index]
                        end += 1
                    }
                    start += count
                }
            }
        }
    }

    /// Everything before the fields. The length is zeros.
    private borrowing func head(version: UInt8, kept: Int) -> [UInt8] {
        var head: [UInt8] = [0, 0, 0, 0, version, isTrashed ? 1 : 0]
        head.append(number: UInt16(kept))
        head.append(number: created)
        head.append(number: modified)
        head.append(number: UInt16(name.bytes.count))
        head += name.bytes
        if version == 2 {
            head.append(details.type?.code ?? 0)
            head.append(number: details.expires ?? 0)
            head.append(UInt8(details.tags.count))
            for tag in details.tags { head += [UInt8(tag.bytes.count)] + tag.bytes }
            head.append(0)
        }
        head.append(number: UInt16(fields.count))
        return head
    }
}
