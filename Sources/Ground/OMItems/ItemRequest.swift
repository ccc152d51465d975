// Requests to an unlocked vault, as values. The process that holds the keys and a process that asks it
// over a socket use the same ones.

public import OMRecords

/// One question or one atomic change. With `ifRevision` the change needs the item to have that revision. `revision`
/// asks for an earlier version; nil asks for the newest.
public enum ItemRequest: ~Copyable, Sendable {
    /// The items, or those in the trash, without their secrets: ``ItemReply/items(_:)``.
    case items(trashed: Bool)
    /// Those of them that the search finds: ``ItemReply/found(_:unsearched:)``.
    case find(ItemSearch, trashed: Bool)
    /// The names alone of ``items(trashed:)``: ``ItemReply/names(_:unsearched:)``.
    case names(trashed: Bool)
    /// The names alone of ``find(_:trashed:)``: ``ItemReply/names(_:unsearched:)``.
    case findNames(ItemSearch, trashed: Bool)
    /// ``ItemReply/item(_:)``
    case item(ItemName)
    /// ``ItemReply/secret(_:)``, or ``ItemReply/large(count:revision:digest:)``. Without a revision,
    /// ``ItemReply/hasCopies(_:revision:)`` if live conflict copies of the item differ in the field.
    case secret(FieldPath, revision: UInt64?)
    /// A chunk of a value of any length: ``ItemReply/secret(_:)``; see ``Vault/chunk(_:of:revision:digest:)``.
    case chunk(Int, of: FieldPath, revision: UInt64?, digest: [UInt8])
    /// An item with its secrets, without its large values: ``ItemReply/secrets(_:_:)``.
    case secrets(ItemName, revision: UInt64?)
    /// ``ItemReply/versions(_:)``, the newest first.
    case history(ItemName)
    /// Two versions of an item, live or in the trash: ``ItemReply/compared(_:_:changed:)``.
    case compare(ItemName, old: UInt64, new: UInt64)
    /// Adds an item. A nil level is the vault's default: ``ItemReply/changed(_:purge:)``.
    case add(ItemName, level: ProtectionLevel?, ItemChange)
    /// Adds all of them, or none: ``ItemReply/items(_:)``, in this order.
    case addAll([NewItem])
    /// Changes fields, type, tags and expiry: ``ItemReply/changed(_:purge:)``.
    case update(ItemName, ItemChange, ifRevision: UInt64?)
    /// ``ItemReply/changed(_:purge:)``
    case setLevel(ItemName, ProtectionLevel, ifRevision: UInt64?)
    /// Moves all of them to the trash, or none: ``ItemReply/removed(_:purge:)``.
    case trash([ItemName], ifRevision: UInt64?)
    /// Purges all of them with all versions, or none: ``ItemReply/removed(_:purge:)``.
    case purge([ItemName], ifRevision: UInt64?)
    /// Purges the items with these names from the trash, or all: ``ItemReply/removed(_:purge:)``.
    case purgeTrash([ItemName]?)
    /// The entries that ``purgeID(_:level:)`` would purge: ``ItemReply/entries(_:)``.
    case entries(id: [UInt8], level: ProtectionLevel?)
    /// Purges one item with all versions: see ``VaultEdit/purge(id:level:)``. The answer is
    /// ``ItemReply/removed(_:purge:)``, without the item if it could not be read.
    case purgeID([UInt8], level: ProtectionLevel?)
    /// ``ItemReply/changed(_:purge:)``; see ``VaultEdit/restore(_:id:revision:)``.
    case restore(ItemName, id: [UInt8]?, revision: UInt64?)
    /// Gives all of them their new names, or none: ``ItemReply/items(_:)``, in this order. One change after the other, so
    /// a later item can get the name that an earlier one had.
    case rename([NewName], ifRevision: UInt64?)
    /// Copies all of them with their histories, or none: ``ItemReply/items(_:)``, the copies in this order. A nil level
    /// is that of each item; see ``VaultEdit/copy(_:to:level:ifRevision:)``.
    case copy([NewName], level: ProtectionLevel?, ifRevision: UInt64?)

    /// Whether it changes the vault.
    package var isChange: Bool {
        switch self {
        case .items: false
        case .find: false
        case .names: false
        case .findNames: false
        case .item: false
        case .secret: false
        case .chunk: false
        case .secrets: false
        case .history: false
        case .compare: false
        case .entries: false
        default: true
        }
    }
}
