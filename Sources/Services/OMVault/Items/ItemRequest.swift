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
    /// ``ItemReply/secret(_:)``, or ``ItemReply/large(count:revision:digest:)``.
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
}

extension Vault {
    /// Answers a question, or makes a change completely or not at all.
    public func perform(_ request: consuming ItemRequest) throws(VaultError) -> ItemReply {
        switch consume request {
        case .items(let isTrashed): return .items(try items(trashed: isTrashed))
        case .find(let search, let isTrashed):
            let (found, unsearched) = try items(matching: search, trashed: isTrashed)
            return .found(found, unsearched: unsearched)
        case .names(let isTrashed): return .names(try names(trashed: isTrashed), unsearched: 0)
        case .findNames(let search, let isTrashed):
            let (found, unsearched) = try names(matching: search, trashed: isTrashed)
            return .names(found, unsearched: unsearched)
        case .item(let name): return .item(try item(name))
        case .secret(let path, let revision):
            do throws(VaultError) { return .secret(try secret(path, revision: revision)) } catch {
                guard case .largeValue(let count, let revision, let digest) = error else { throw error }
                return .large(count: count, revision: revision, digest: digest)
            }
        case .chunk(let index, let path, let revision, let digest):
            return .secret(try chunk(index, of: path, revision: revision, digest: digest))
        case .secrets(let name, let revision): return try secrets(name, revision: revision)
        case .history(let name): return .versions(try history(name))
        case .compare(let name, let old, let new): return try compare(name, old, with: new)
        case .add(let name, let level, let change):
            return try changed { edit throws(VaultError) in try edit.add(name, level: level, change) }
        case .addAll(let items):
            return .items(
                try edit { edit throws(VaultError) in
                    try items.map { item throws(VaultError) in
                        // Thousands of items take seconds, and locking the vault never waits for them.
                        try state.checkInterruption()
                        return try edit.add(item.name, level: item.level, item.change)
                    }
                })
        case .update(let name, let change, let revision):
            return try changed { edit throws(VaultError) in try edit.update(name, change, ifRevision: revision) }
        case .setLevel(let name, let level, let revision):
            return try changed { edit throws(VaultError) in
                try edit.setLevel(name, level, ifRevision: revision)
            }
        case .trash(let names, let revision):
            return try removed { edit throws(VaultError) in
                try names.map { name throws(VaultError) in try edit.trash(name, ifRevision: revision) }
            }
        case .purge(let names, let revision):
            return try removed { edit throws(VaultError) in
                try names.map { name throws(VaultError) in try edit.purge(name, ifRevision: revision) }
            }
        case .purgeTrash(let names):
            return try removed { edit throws(VaultError) in try edit.purgeTrash(names) }
        case .entries(let id, let level): return .entries(try entries(id: id, level: level))
        case .purgeID(let id, let level):
            return try removed { edit throws(VaultError) in
                let gone = try edit.purge(id: id, level: level)
                return gone.map { [$0] } ?? []
            }
        case .restore(let name, let id, let revision):
            return try changed { edit throws(VaultError) in
                try edit.restore(name, id: id, revision: revision)
            }
        case .rename(let names, let revision):
            return .items(
                try edit { edit throws(VaultError) in
                    try names.map { each throws(VaultError) in
                        try edit.rename(each.item, to: each.name, ifRevision: revision)
                    }
                })
        case .copy(let names, let level, let revision):
            return .items(
                try edit { edit throws(VaultError) in
                    try names.map { each throws(VaultError) in
                        try edit.copy(each.item, to: each.name, level: level, ifRevision: revision)
                    }
                })
        }
    }

    private func changed(_ body: (inout VaultEdit) throws(VaultError) -> Item) throws(VaultError) -> ItemReply {
        let (item, purge) = try change(body)
        return .changed(item, purge: purge)
    }

    private func removed(_ body: (inout VaultEdit) throws(VaultError) -> [Item]) throws(VaultError) -> ItemReply {
        let (items, purge) = try change(body)
        return .removed(items, purge: purge)
    }
}
