// Names that mean another item than before, because of a merge. Format: docs/formats/sync.md, "Applying".

internal import OMItems
internal import OMVault

/// The names that a group of a plan takes from items and gives to items.
struct NameChanges {
    private let group: [[UInt8]]
    private let plan: MergePlan<LocalItems>

    init(_ group: [[UInt8]], of plan: MergePlan<LocalItems>) { (self.group, self.plan) = (group, plan) }

    /// Notes each name that means another item now, unless the two items are equal.
    ///
    /// Attack: a member renames an item, and gives its name to another one. A script then sends the wrong secret. He may do it
    /// in two steps, so that no item has the name between them: so the item that had it last is noted too.
    func note(at now: Int64, _ access: inout SyncAccess) throws(VaultError) {
        for id in group where name(of: plan.items.version(of: id)) != name(of: plan.version(of: id)) {
            try access.dropChangedMeaning(of: id)
        }
        let names = Set(
            group.flatMap { [name(of: plan.items.version(of: $0)), name(of: plan.version(of: $0))] }.compactMap(\.self))
        for name in names.sorted(by: { $0.precedes($1) }) { try note(name, at: now, &access) }
    }

    private func note(_ name: ItemName, at now: Int64, _ access: inout SyncAccess) throws(VaultError) {
        let before = plan.items.liveItems(named: name)
        let after = Set(before + group).filter { self.name(of: plan.version(of: $0)) == name }
        guard let owner = after.first else {
            if let last = before.first, let level = plan.items.version(of: last)?.level {
                try access.noteFreed(name, at: level, of: last)
            }
            return
        }
        let freed = try access.takeFreed(name)
        guard after.count == 1, !before.contains(owner), let last = before.first ?? freed, last != owner else { return }
        if let old = plan.items.version(of: last), let new = plan.version(of: owner), new.hasContent(of: old) { return }
        try access.noteChangedMeaning(of: owner, before: last, time: now)
    }

    /// The name of a live item.
    private func name(of version: SyncedVersion?) -> ItemName? { version?.state == .live ? version?.name : nil }
}
