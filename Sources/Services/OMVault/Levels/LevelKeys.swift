// One class key per level, and the keys derived from it. They decide which levels can be read.

internal import OMItems
internal import OMRecords
internal import OMSecrets

/// The keys of one level. A class, so that a collection can hold them. They are wiped when the last holder releases them.
final class LevelKeys: Sendable {
    /// For the process that keeps the vault unlocked.
    let classKey: Key<Deriving>
    /// Finds an item by its name without storing the name.
    let names: Key<Hashing>
    /// Digests the level's hash tree.
    let digests: Key<Hashing>
    /// Seals the level's generation and root.
    let state: Key<Sealing>
    /// Every version of every item, and every chunk, gets its own key from this one.
    private let records: KeyDeriver

    init(classKey: borrowing Key<Deriving>) {
        self.classKey = classKey.duplicate()
        names = classKey.derive(Context(.levelName))
        digests = classKey.derive(Context(.levelDigest))
        state = classKey.derive(Context(.levelState))
        records = KeyDeriver(classKey.derive(Context(.levelRecords), as: Deriving.self))
    }

    func recordKey(_ header: Record.Header) -> Key<Sealing> {
        records.derive(
            Context(.recordKey, .bytes(header.id), .number(header.revision), .bytes(header.salt)))
    }

    func chunkKey(_ header: ValueChunk.Header) -> Key<Sealing> {
        records.derive(Context(.chunkKey, .bytes(header.item), .bytes(header.id), .bytes(header.salt)))
    }

    /// The key of an item's entry in the tree, by the item's name: 16 bytes.
    func key(of name: ItemName) -> [UInt8] {
        Array(KeyedHash.hash(name.text.utf8Span.span, using: names, context: Context(.name)).prefix(16))
    }

    /// The key of a trashed item's entry.
    func key(ofTrashed id: [UInt8]) -> [UInt8] {
        Array(KeyedHash.hash(id, using: names, context: Context(.trash)).prefix(16))
    }

    /// The key of a deleted item's tombstone.
    func key(ofDeleted id: [UInt8]) -> [UInt8] {
        Array(KeyedHash.hash(id, using: names, context: Context(.tombstone)).prefix(16))
    }
}
