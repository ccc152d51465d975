// The content of a version as sync sees it, from a record here or from a parcel.
// Format: docs/formats/vault-format.md, "Content"; docs/formats/sync.md, "Content".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMSecrets
internal import OMStorage

/// The content of a version of an item, or of a tombstone. A class, so that a collection can hold it.
package final class VersionContent {
    package enum State: Hashable, Sendable { case live, trashed, purged }

    /// A field without its value.
    package struct Field: Hashable, Sendable {
        package let name: FieldName
        /// The digest of the value: 32 bytes.
        package let digest: [UInt8]
        package let isShown: Bool
        /// The ids of its chunks: 16 bytes each. None for a value inside the content.
        package let chunks: [[UInt8]]
    }

    package let state: State
    /// Nil for a tombstone.
    package let name: ItemName?
    /// In seconds since 1970.
    package let (created, modified): (Int64, Int64)
    package let details: ItemDetails
    /// Nil for a version from before the vault began to sync.
    package let parts: SyncedParts?
    package let fields: [Field]
    /// The number of older versions of a record here.
    let kept: Int
    /// Nil for a tombstone.
    let item: ItemContent?

    init(_ content: consuming ItemContent) {
        state = content.isTrashed ? .trashed : .live
        (name, details, parts) = (content.name, content.details, content.synced)
        (created, modified) = (content.created, content.modified)
        var fields: [Field] = []
        for field in content.fields {
            fields.append(
                Field(name: field.name, digest: content.digest(of: field), isShown: field.isShown, chunks: field.chunkIDs))
        }
        (self.fields, kept) = (fields, content.kept)
        item = .some(consume content)
    }

    init(_ tombstone: Tombstone) {
        state = .purged
        (name, details, fields, kept) = (nil, ItemDetails(), [], 0)
        (created, modified) = (tombstone.synced?.created ?? 0, tombstone.synced?.modified ?? 0)
        parts = tombstone.synced?.parts
        item = nil
    }

    /// Reads the content of a parcel.
    ///
    /// - Parameter opened: The content with the zeros behind it.
    /// - Throws: ``VaultError/corrupt(_:)``; ``VaultError/laterContent`` for one of a later omvault.
    package convenience init(ofParcel opened: borrowing SecretBytes) throws(VaultError) {
        let padded = try Self.repadded(opened)
        let format = VaultSchema.thirdSchema.version
        // A parcel says nothing of older versions, and has the parts of sync.
        let head = padded.withBytes { (state: $0[5], kept: $0[6] | $0[7]) }
        guard head.kept == 0 else { throw .corrupt(.record) }
        if head.state == ItemContent.purgedState {
            self.init(try Tombstone(opened: padded, format: format))
        } else {
            self.init(try ItemContent(opened: padded, format: format))
        }
        guard parts != nil else { throw .corrupt(.record) }
    }

    /// The padding of a parcel ends two bytes earlier than that of a record.
    private static func repadded(_ opened: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
        let count = opened.withBytes { bytes in bytes.count < 8 ? 0 : ContentMap.length(bytes) }
        let isPadded = opened.withBytes { bytes in
            (8...bytes.count).contains(count) && (count..<bytes.count).allSatisfy { bytes[$0] == 0 }
        }
        guard opened.count >= 8, isPadded else { throw .corrupt(.record) }
        let padded = (count + Record.step - 1) / Record.step * Record.step
        return SecretBytes(count: padded) { target in
            opened.withBytes { bytes in for index in 0..<count { target[index] = bytes[index] } }
        }
    }

    package func names(chunk id: [UInt8]) -> Bool { fields.contains { $0.chunks.contains(id) } }

    /// The value that has a chunk, and the place of the chunk in it.
    func value(withChunk id: [UInt8]) -> (value: ChunkedValue, index: Int)? {
        switch item {
        case .none: return nil
        case .some(let item):
            for value in item.chunkedValues {
                if let index = value.ids.firstIndex(of: id) { return (value, index) }
            }
            return nil
        }
    }

    /// Whether the values in chunks have their digests.
    ///
    /// - Parameter chunk: The bytes of a chunk, by its id and their number. Nil if it is not at hand.
    package func hasRightChunks(
        _ chunk: (_ id: [UInt8], _ count: Int) throws(VaultError) -> SecretBytes?
    ) throws(VaultError) -> Bool {
        let values: [ChunkedValue]
        switch item {
        case .none: return true
        case .some(let item): values = item.chunkedValues
        }
        for value in values {
            let hash = BLAKE2b(count: ChunkedValue.digestCount)
            for (index, id) in value.ids.enumerated() {
                let count = value.count(ofChunk: index)
                guard let bytes = try chunk(id, count), bytes.count == count else { return false }
                bytes.withBytes { hash.update($0) }
            }
            guard hash.digest() == value.digest else { return false }
        }
        return true
    }

    /// A draft with these values and details.
    ///
    /// - Parameter times: When the item was made, and when the version was written.
    func draft(
        named name: ItemName, isTrashed: Bool, _ times: (created: Int64, modified: Int64), _ parts: SyncedParts,
        chunked: (ChunkedValue) throws(VaultError) -> ChunkedValue = { value throws(VaultError) in value }
    ) throws(VaultError) -> ItemDraft {
        switch item {
        case .none: throw .corrupt(.record)
        case .some(let item):
            var draft = try item.draft(named: name, isTrashed: isTrashed, at: times.modified, chunked: chunked)
            draft.created = times.created
            draft.synced = parts
            return draft
        }
    }

    /// The content for a parcel, without padding.
    ///
    /// - Parameter parts: Those of the version, with a MAC in each lowering.
    package func parcelContent(_ parts: SyncedParts) throws(VaultError) -> SecretBytes {
        let padded: SecretBytes
        if let name {
            let draft = try draft(named: name, isTrashed: state == .trashed, (created, modified), parts)
            // Every large value has its chunks already.
            padded = try draft.finish(kept: 0) { _, _ throws(VaultError) in throw .tooLarge }
        } else {
            padded = Tombstone(.init(created: created, modified: modified, parts: parts)).encoded
        }
        return padded.withBytes { SecretBytes(copying: $0.extracting(0..<ContentMap.length($0))) }
    }
}
