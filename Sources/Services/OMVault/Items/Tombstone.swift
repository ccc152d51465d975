// What stays of a purged item. Format: docs/formats/vault-format.md, "Tombstone".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets

/// The content of a tombstone. It has no item data.
///
/// In a vault that does not sync it is zeros. In a vault that syncs it is a content of version 2 without name, details and fields.
struct Tombstone {
    /// Nil if the item was purged before the vault began to sync, or at a device-only level.
    let synced: Synced?

    struct Synced {
        /// When the item was made, and when it was purged.
        let (created, modified): (Int64, Int64)
        let parts: SyncedParts
    }

    init(_ synced: Synced?) { self.synced = synced }

    /// Parses an opened box.
    ///
    /// - Throws: ``VaultError/corrupt(_:)``; ``VaultError/laterContent``, because a key of this vault sealed the box.
    init(opened bytes: borrowing SecretBytes, format: UInt32) throws(VaultError) {
        synced = try bytes.withBytes { (span: Span<UInt8>) throws(VaultError) in
            guard !span.indices.allSatisfy({ span[$0] == 0 }) else { return nil }
            let parts = try ItemContent.parts(span, format)
            guard parts.name == nil, let synced = parts.synced else { throw .corrupt(.record) }
            return Synced(created: parts.created, modified: parts.modified, parts: synced)
        }
    }

    var encoded: SecretBytes {
        guard let synced else { return SecretBytes(count: Record.step) { _ in } }
        var content: [UInt8] = [2, ItemContent.purgedState, 0, 0]
        content.append(number: synced.created)
        content.append(number: synced.modified)
        // No name, type, expiry and tags.
        content += [UInt8](repeating: 0, count: 2 + 1 + 8 + 1)
        content += [1] + synced.parts.encoded
        content.append(number: UInt16(0))
        var bytes: [UInt8] = []
        bytes.append(number: UInt32(content.count + 4))
        bytes += content
        bytes += [UInt8](repeating: 0, count: (Record.step - bytes.count % Record.step) % Record.step)
        return SecretBytes(copying: bytes)
    }
}
