internal import Glibc
public import OMItems
internal import OMParcels
internal import OMRecords
public import OMSecrets
internal import OMSystem

/// An item under construction, field by field. Values in memory are in locked memory.
public struct ItemDraft: ~Copyable {
    /// The values in memory, one after the other.
    private var buffer = SecretBuffer(capacity: 512)
    private var fields: [Field] = []
    private let name: ItemName
    var created: Int64
    private let modified: Int64
    private let isTrashed: Bool
    private let details: ItemDetails
    /// The parts of sync. Nil in a vault that does not sync, and at a device-only level.
    var synced: SyncedParts?

    private struct Field {
        let name: FieldName
        let shownValue: String?
        var value: Value
        let count: Int

        var flags: UInt8 {
            if shownValue != nil { return ItemContent.shownFlag }
            if case .chunked = value { return ItemContent.chunkedFlag }
            return 0
        }

        /// The field's bytes in a content.
        func encodedCount(version: UInt8) -> Int {
            let head = (version == 1 ? 0 : 1) + 1 + name.text.utf8.count + 4
            switch value {
            case .inMemory: return head + count
            case .spooled, .chunked: return head + ChunkedValue.encodedCount(count)
            }
        }
    }

    private enum Value {
        /// Its place in the buffer.
        case inMemory(Range<Int>)
        case spooled(SpooledValue)
        case chunked(ChunkedValue)
    }

    init(
        name: ItemName, created: Int64, modified: Int64, isTrashed: Bool = false, details: ItemDetails = ItemDetails(),
        synced: SyncedParts? = nil
    ) {
        (self.name, self.created, self.modified, self.isTrashed) = (name, created, modified, isTrashed)
        (self.details, self.synced) = (details, synced)
    }

    /// Adds a field with a value of at most 1 MiB.
    ///
    /// - Parameter isShown: Whether `show` and `find` print the value without `--reveal`.
    /// - Throws: ``VaultError/tooLarge`` above the limits of ``Item``; ``VaultError/tooMuchAtOnce`` if all values in memory
    ///   together have more than 16 MiB; ``VaultError/fieldExists(_:)``; ``VaultError/notShowable(_:)``.
    public mutating func put(
        _ value: borrowing SecretBytes, at name: FieldName, isShown: Bool = false
    ) throws(VaultError) {
        guard value.count <= Item.maximumWholeCount else { throw .tooLarge }
        guard buffer.count + value.count <= FieldValues.maximumInMemory else { throw .tooMuchAtOnce }
        let shown = isShown ? value.withBytes { Item.Field.shownValue($0) } : nil
        guard !isShown || shown != nil else { throw .notShowable(name) }
        let start = buffer.count
        try add(Field(name: name, shownValue: shown, value: .inMemory(start..<start + value.count), count: value.count))
        buffer.append(value)
    }

    /// Adds a field with a value that was taken in block by block.
    ///
    /// - Throws: ``VaultError/tooLarge`` above the limits of ``Item``, ``VaultError/fieldExists(_:)``.
    public mutating func put(_ value: SpooledValue, at name: FieldName) throws(VaultError) {
        guard value.count > 0 else { return try put(SecretBytes(copying: []), at: name) }
        try add(Field(name: name, shownValue: nil, value: .spooled(value), count: value.count))
    }

    /// Adds a field whose value has its chunks already.
    mutating func put(_ value: ChunkedValue, at name: FieldName, isShown: Bool) throws(VaultError) {
        guard !isShown else { throw .notShowable(name) }
        try add(Field(name: name, shownValue: nil, value: .chunked(value), count: value.count))
    }

    /// Adds the field of this name from `values`.
    mutating func put(
        _ values: borrowing FieldValues, _ name: FieldName, isShown: Bool
    ) throws(VaultError) {
        if let spooled = values.spooled.first(where: { $0.name == name }) {
            guard !isShown else { throw .notShowable(name) }
            return try put(spooled.value, at: name)
        }
        try values.withSecret(name) { (secret: borrowing SecretBytes) throws(VaultError) in
            try put(secret, at: name, isShown: isShown)
        }
    }

    private mutating func add(_ field: Field) throws(VaultError) {
        guard !fields.contains(where: { $0.name == field.name }) else { throw .fieldExists(field.name) }
        let total = fields.reduce(field.count) { $0 + $1.count }
        guard fields.count < Item.maximumFields, total <= Item.maximumTotalCount else { throw .tooLarge }
        fields.append(field)
    }

    /// The item without its concealed values, as a user will see it.
    borrowing func item(_ header: Record.Header) -> Item {
        Item(
            name: name, level: header.level, id: header.id, revision: header.revision, created: created,
            modified: modified, isTrashed: isTrashed, details: details,
            fields: fields.map { Item.Field(name: $0.name, count: $0.count, shownValue: $0.shownValue) })
    }

    /// The key of the item's future entry in its level's tree.
    borrowing func key(_ keys: LevelKeys, _ id: [UInt8]) -> [UInt8] {
        isTrashed ? keys.key(ofTrashed: id) : keys.key(of: name)
    }

    /// Writes the chunks of a value of `count` bytes. `chunk` gives the bytes of each.
    typealias ChunkWriter = (_ count: Int, _ chunk: (Int) throws(VaultError) -> SecretBytes) throws(VaultError) -> ChunkedValue

    /// The padded content, in version 1 if that version can say everything.
    ///
    /// - Parameters:
    ///   - kept: The number of older versions.
    ///   - write: Called for each value that goes into chunks now.
    /// - Throws: ``VaultError/tooLarge`` if the shown values alone do not fit into 64 KiB.
    consuming func finish(kept: Int, _ write: ChunkWriter) throws(VaultError) -> SecretBytes {
        let version = try moveLargeValues(write)
        let head = head(version: version, kept: kept)
        let length = fields.reduce(head.count) { $0 + $1.encodedCount(version: version) }
        let padded = (length + Record.step - 1) / Record.step * Record.step
        var content = SecretBuffer(capacity: padded)
        content.append(lengthBytes(length).span)
        content.append(head.span.extracting(4...))
        buffer.withBytes { values in
            for field in fields {
                if version > 1 { content.append(field.flags) }
                content.append(UInt8(field.name.text.utf8.count))
                content.append(field.name.text.utf8Span.span)
                content.append(lengthBytes(field.count).span)
                switch field.value {
                case .inMemory(let range): content.append(values.extracting(range))
                case .chunked(let value): content.append(value.encoded.span)
                case .spooled: preconditionFailure("a spooled value has its chunks by now")
                }
            }
        }
        content.append(upTo: padded - length) { _ in padded - length }
        return content.finish()
    }

    private borrowing func lengthBytes(_ length: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt32(length))
        return bytes
    }

    /// Moves values into chunks, the largest first, until the content has at most 64 KiB.
    ///
    /// - Returns: The version of the content.
    private mutating func moveLargeValues(_ write: ChunkWriter) throws(VaultError) -> UInt8 {
        for index in fields.indices {
            guard case .spooled(let value) = fields[index].value else { continue }
            let chunked = try write(value.count) { chunk throws(VaultError) in try value.chunk(chunk) }
            // Attack, or a broken disk: the file is not what the process took in.
            guard chunked.digest == value.digest else { throw .storage(.io(EBADMSG)) }
            fields[index].value = .chunked(chunked)
        }
        let syncedCount = synced?.encoded.count ?? 0
        func count(version: UInt8) -> Int {
            fields.reduce(head(version: version, kept: 0).count - syncedCount) { $0 + $1.encodedCount(version: version) }
        }
        if synced == nil, !ItemContent.needsVersion2(name, details, fields.map(\.flags)),
            count(version: 1) <= ItemContent.maximumCount
        {
            return 1
        }
        while count(version: 2) > ItemContent.maximumCount {
            guard let index = largestInMemory, case .inMemory(let range) = fields[index].value else { throw .tooLarge }
            let chunked = try write(range.count) { chunk throws(VaultError) in
                let start = range.lowerBound + chunk * ValueChunk.valueCount
                let end = min(range.upperBound, start + ValueChunk.valueCount)
                return buffer.withBytes { SecretBytes(copying: $0.extracting(start..<end)) }
            }
            fields[index].value = .chunked(chunked)
        }
        return 2
    }

    /// The largest concealed value in memory that takes less room in chunks.
    private var largestInMemory: Int? {
        fields.indices.filter { index in
            guard case .inMemory = fields[index].value, fields[index].shownValue == nil else { return false }
            return fields[index].count > ChunkedValue.encodedCount(fields[index].count)
        }.max { fields[$0].count < fields[$1].count }
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
            head += synced.map { [1] + $0.encoded } ?? [0]
        }
        head.append(number: UInt16(fields.count))
        return head
    }
}
