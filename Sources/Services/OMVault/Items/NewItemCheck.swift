// Items that are added: checked, and filled from a change.

package import OMItems
internal import OMRecords
internal import OMSecrets

extension NewItem {
    /// Checks the item alone, before it is added. Only the vault knows whether a name is taken. Values above 1 MiB are not
    /// checked.
    ///
    /// - Throws: ``VaultError/tooLarge``, ``VaultError/notShowable(_:)``, ``VaultError/invalidExpiry``.
    package func check() throws(VaultError) {
        var draft = ItemDraft(name: name, created: 0, modified: 0, details: try change.applied(to: ItemDetails()))
        try change.fill(&draft)
        _ = try draft.finish(kept: 0) { count, _ throws(VaultError) in
            ChunkedValue(
                count: count, digest: [UInt8](repeating: 0, count: ChunkedValue.digestCount),
                ids: (0..<ValueChunk.number(for: count)).map { _ in [UInt8](repeating: 0, count: ChunkedValue.idCount) })
        }
    }
}

extension ItemChange {
    /// Adds the fields to a new item.
    borrowing func fill(_ draft: inout ItemDraft) throws(VaultError) {
        for name in set.names { try draft.put(set, name, isShown: shows(name, before: false)) }
    }
}

extension VaultEdit {
    /// Adds an item as a change describes it.
    mutating func add(
        _ name: ItemName, level: ProtectionLevel?, _ change: borrowing ItemChange
    ) throws(VaultError) -> Item {
        try add(name, level: level, details: try change.applied(to: ItemDetails())) { draft throws(VaultError) in
            try change.fill(&draft)
        }
    }
}
