// What can be asked of an unlocked vault, as a value: the process that holds the keys and one that asks it over a socket
// ask alike.

public import OMRecords
public import OMSecrets

/// One question or one atomic change. `ifRevision` makes a change only while the item has that revision.
public enum ItemRequest: ~Copyable, Sendable {
    /// The items, without their secrets: ``ItemReply/items(_:)``.
    case items
    /// ``ItemReply/item(_:)``
    case item(ItemName)
    /// ``ItemReply/secret(_:)``
    case secret(FieldPath)
    /// An item with all its secrets: ``ItemReply/secrets(_:_:)``.
    case secrets(ItemName)
    /// A new item; a nil level is the vault's default: ``ItemReply/changed(_:purge:)``.
    case add(ItemName, level: ProtectionLevel?, FieldValues)
    /// Fields that are put in, in place of those of the same names, and fields that go: ``ItemReply/changed(_:purge:)``.
    case update(ItemName, set: FieldValues, remove: [FieldName], ifRevision: UInt64?)
}

/// What ``Vault/perform(_:)`` answers.
public enum ItemReply: ~Copyable, Sendable {
    case items([Item])
    case item(Item)
    case secret(SecretBytes)
    case secrets(Item, FieldValues)
    /// The item as it stands after the change.
    ///
    /// - `purge`: nil for a change that leaves nothing to purge.
    case changed(Item, purge: PurgeResult?)
    /// The items as they stood before they went.
    case removed([Item], purge: PurgeResult?)
}

/// Whether the bytes that must be gone are.
public enum PurgeResult: UInt8, Hashable, Sendable {
    /// They are in no file of the vault.
    case complete = 0
    /// Another process still reads the state before: they stand in the write-ahead log until the next open takes them out.
    case pending = 1
}

/// One version of an item, without its secrets.
public struct ItemVersion: Hashable, Sendable {
    public let revision: UInt64
    /// When it was written, in seconds since 1970.
    public let modified: Int64
    /// Whether the item was in the trash with this version.
    public let isTrashed: Bool
    public let fields: [Item.Field]

    public init(revision: UInt64, modified: Int64, isTrashed: Bool, fields: [Item.Field]) {
        (self.revision, self.modified, self.isTrashed, self.fields) = (revision, modified, isTrashed, fields)
    }
}

extension Vault {
    /// Answers a question, or makes a change: all of it or nothing.
    public func perform(_ request: consuming ItemRequest) throws(VaultError) -> ItemReply {
        switch consume request {
        case .items: return .items(try items())
        case .item(let name): return .item(try item(name))
        case .secret(let path): return .secret(try secret(path))
        case .secrets(let name): return try secrets(name)
        case .add(let name, let level, let values):
            return .changed(
                try edit { edit throws(VaultError) in
                    try edit.add(name, level: level) { draft throws(VaultError) in
                        try values.forEach { (field, secret) throws(VaultError) in try draft.put(secret, at: field) }
                    }
                }, purge: nil)
        case .update(let name, let values, let removed, let revision):
            return .changed(
                try edit { edit throws(VaultError) in
                    try edit.update(name, set: values, remove: removed, ifRevision: revision)
                }, purge: nil)
        }
    }
}
