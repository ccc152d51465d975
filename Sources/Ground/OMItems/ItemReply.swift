public import OMSecrets

/// The answer of ``Vault/perform(_:)``.
public enum ItemReply: ~Copyable, Sendable {
    case items([Item])
    /// The items that a search found, and how many values in chunks of the others it did not look into.
    case found([Item], unsearched: Int)
    /// The names alone of such items, and the same number.
    case names(ItemNames, unsearched: Int)
    case item(Item)
    case secret(SecretBytes)
    /// The value is too large for one answer: its bytes, the revision of its item, and its digest.
    /// ``ItemRequest/chunk(_:of:revision:digest:)`` reads it.
    case large(count: Int, revision: UInt64, digest: [UInt8])
    /// Live conflict copies of the item have another value, or none: their names, and the revision of the item.
    /// ``ItemRequest/secret(_:revision:)`` with this revision reads the item's value.
    case hasCopies([ItemName], revision: UInt64)
    case secrets(Item, FieldValues)
    case versions([ItemVersion])
    /// Two versions of an item, and those of their common fields that have different values.
    case compared(Item, Item, changed: [FieldName])
    case entries([EntryReference])
    /// The item after the change.
    ///
    /// - `purge`: Nil if the change leaves nothing to purge.
    case changed(Item, purge: PurgeResult?)
    /// The removed items: as they are in the trash now, or as they were before the purge.
    case removed([Item], purge: PurgeResult?)
}
