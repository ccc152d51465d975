public import OMSecrets

/// What ``Vault/perform(_:)`` answers.
public enum ItemReply: ~Copyable, Sendable {
    case items([Item])
    case item(Item)
    case secret(SecretBytes)
    case secrets(Item, FieldValues)
    case versions([ItemVersion])
    case entries([EntryReference])
    /// The item as it stands after the change.
    ///
    /// - `purge`: nil for a change that leaves nothing to purge.
    case changed(Item, purge: PurgeResult?)
    /// What went: in the trash as it stands there, or as it stood before the purge.
    case removed([Item], purge: PurgeResult?)
}
