// An unlocked vault answers requests.

public import OMItems
internal import OMRecords

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
        case .secret(let path, let revision): return try answer(path, revision: revision)
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
