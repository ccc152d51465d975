// What a set of arriving versions changes on this device. Format: docs/formats/sync.md, "Applying".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMSyncKeys

/// The items of this device, as a plan asks for them.
package protocol SyncedItems {
    func version(of id: [UInt8]) -> SyncedVersion?
    /// The ids of the live items with this name.
    func liveItems(named name: ItemName) -> [[UInt8]]
    /// Whether an item that is not synced has this name.
    func isTaken(_ name: ItemName) -> Bool
    /// The ids of the live conflict copies of this item.
    func liveCopies(of origin: [UInt8]) -> [[UInt8]]
}

/// The changes that arriving versions make here. It reads items, and changes none.
package struct MergePlan<Items: SyncedItems> {
    /// The largest number of live conflict copies of one item. The oldest further ones go to the trash.
    package static var maximumCopies: Int { 8 }

    let items: Items
    private let link: LinkKey
    /// The versions that this device will have, for each item that changes.
    package private(set) var changes: [[UInt8]: SyncedVersion] = [:]
    /// Of these the live ones, by their name and by the item of which they are copies. ``settle(issue:)`` fills them.
    private var named: [ItemName: Set<[UInt8]>] = [:]
    private var copies: [[UInt8]: Set<[UInt8]>] = [:]

    package init(_ items: Items, link: LinkKey) { (self.items, self.link) = (items, link) }

    package func version(of id: [UInt8]) -> SyncedVersion? { changes[id] ?? items.version(of: id) }

    /// Merges an arriving version with the one here, and then each copy that this makes.
    package mutating func take(_ version: SyncedVersion, of id: [UInt8]) {
        var arriving: [(id: [UInt8], version: SyncedVersion)] = [(id, version)]
        while let next = arriving.popLast() {
            guard let here = self.version(of: next.id) else {
                changes[next.id] = next.version
                continue
            }
            let merge = Merge(of: next.id, here, next.version)
            if merge.version != here { changes[next.id] = merge.version }
            if let copy = merge.copy.flatMap({ named($0, of: next.id) }) { arriving.append(copy) }
        }
    }

    /// A conflict copy with its id and its name.
    private func named(_ copy: SyncedVersion, of item: [UInt8]) -> (id: [UInt8], version: SyncedVersion)? {
        guard let name = copy.name else { return nil }
        let id = link.copyID(of: item, causes: copy.causes)
        var copy = copy
        copy.name = name.withConflictPrefix(id)
        return (id, copy)
    }

    /// Takes a version that has no power over the item here, as a conflict copy beside it: the user asked for it.
    package mutating func takeBeside(_ version: SyncedVersion, of id: [UInt8]) {
        guard let here = self.version(of: id), let copy = version.asCopy(beside: here, of: id).flatMap({ named($0, of: id) })
        else { return }
        take(copy.version, of: copy.id)
    }

    /// Takes all versions that arrived, waiting and held ones too, until none changes an item any more.
    ///
    /// Accident: one member still lists an item under its old name, which another item has now. Applied one by one, the items
    /// would get new names for nothing. So one plan takes all of them before ``settle(issue:)``.
    ///
    /// - Returns: What becomes of each.
    package mutating func take(_ arrived: [ArrivedVersion], by rules: ArrivalRules) -> [ArrivalRules.Decision] {
        var decisions = [ArrivalRules.Decision?](repeating: nil, count: arrived.count)
        var isChanging = true
        while isChanging {
            isChanging = false
            for (index, next) in arrived.enumerated() where decisions[index] != .applies {
                let here = version(of: next.id)
                let decision = rules.decision(on: next.version, of: next.id, here: here)
                decisions[index] = decision
                guard decision == .applies else { continue }
                take(next.version, of: next.id)
                if version(of: next.id) != here { isChanging = true }
            }
        }
        return decisions.compactMap(\.self)
    }

    /// The items that change, in the groups in which they are written: each group in one transaction. Items of one origin are
    /// in one group, so that a copy is there when its item changes. So are items that have or had one name.
    ///
    /// - Parameter count: A group has no more items than this, unless items that belong together are more.
    package func groups(of count: Int) -> [[[UInt8]]] {
        var groupOf: [[UInt8]: Int] = [:]
        var groups: [[[UInt8]]] = []
        var owners: [[UInt8]: [UInt8]] = [:]
        for id in changes.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let versions = [items.version(of: id), changes[id]].compactMap(\.self)
            // A name has a byte in front, so that it is no id.
            let shared = versions.map { $0.origin ?? id } + versions.compactMap { $0.name.map { [0] + $0.bytes } }
            let joined = Set(shared.compactMap { owners[$0].flatMap { groupOf[$0] } }).sorted()
            var group = [id]
            for index in joined {
                group += groups[index]
                groups[index] = []
            }
            for member in group { groupOf[member] = groups.count }
            for name in shared { owners[name] = id }
            groups.append(group)
        }
        var filled: [[[UInt8]]] = []
        for group in groups where !group.isEmpty {
            if let last = filled.last, last.count + group.count <= count {
                filled[filled.count - 1] += group
            } else {
                filled.append(group)
            }
        }
        return filled
    }

    /// The changes that are not written, for ``isUsedUp(_:beside:)``.
    package struct Unwritten {
        fileprivate var ids: Set<[UInt8]> = []
        fileprivate var origins: Set<[UInt8]> = []
    }

    /// - Parameter written: The ids of the items that were written.
    package func unwritten(behind written: Set<[UInt8]>) -> Unwritten {
        var rest = Unwritten()
        for (id, version) in changes where !written.contains(id) {
            rest.ids.insert(id)
            rest.origins.insert(version.origin ?? id)
        }
        return rest
    }

    /// Whether all that an applied version changes is written, so that it need not be kept any longer.
    ///
    /// Accident: a merge can leave the item as it is, and make a copy only. A crash must not lose that copy.
    package func isUsedUp(_ arrived: ArrivedVersion, beside rest: Unwritten) -> Bool {
        !rest.ids.contains(arrived.id) && !rest.origins.contains(arrived.version.origin ?? arrived.id)
    }

    /// Makes the names of live items unique again, drops equal items and copies, and bounds the number of copies, by
    /// ordinary edits of this device. Call it once, last, and only while all portable levels are open.
    ///
    /// - Parameter issue: Gives the next dot of this device.
    package mutating func settle(issue: () -> Dot) {
        let changed = changes.filter { $0.value.state == .live }.keys.sorted { $0.lexicographicallyPrecedes($1) }
        for id in changed {
            guard let version = changes[id] else { continue }
            if let origin = version.origin { copies[origin, default: []].insert(id) }
            if let name = version.name { named[name, default: []].insert(id) }
        }
        for origin in Set(changed.map { changes[$0]?.origin ?? $0 }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            dropCopies(of: origin, issue: issue)
        }
        for id in changed {
            guard let version = version(of: id), version.state == .live, let name = version.name else { continue }
            rename(allNamed: name, issue: issue)
        }
    }

    /// Attack: the thief of one level plants items that claim to be copies. So the copies of each level are looked at alone.
    private mutating func dropCopies(of origin: [UInt8], issue: () -> Dot) {
        let all = live(copies[origin, default: []].union(items.liveCopies(of: origin))) { $0.origin == origin }
        for level in ProtectionLevel.Availability.allCases {
            var kept: [(id: [UInt8], version: SyncedVersion)] = []
            for copy in all where copy.version.level == level {
                if kept.contains(where: { copy.version.hasContent(of: $0.version) }) {
                    trash(copy.id, issue: issue)
                } else {
                    kept.append(copy)
                }
            }
            kept.sort { ($0.version.time, $0.version.dot) < ($1.version.time, $1.version.dot) }
            for (id, _) in kept.dropLast(Self.maximumCopies) { trash(id, issue: issue) }
        }
    }

    /// Attack: a name decides what a script reads. So the item of the strictest level keeps it, of these the oldest. Of the
    /// others, those that are equal to it go to the trash, and the rest get a name that nothing asks for.
    private mutating func rename(allNamed name: ItemName, issue: () -> Dot) {
        let owners = owners(of: name).sorted { one, other in
            if one.version.level != other.version.level { return one.version.level > other.version.level }
            if one.version.created != other.version.created { return one.version.created < other.version.created }
            return one.id.lexicographicallyPrecedes(other.id)
        }
        // Attack: an arriving item takes the name of a device-only one, so that every reader refuses the name (11).
        let owner = items.isTaken(name) ? nil : owners.first
        for (id, version) in owners where id != owner?.id {
            // The same import on two devices.
            if let owner, version.level == owner.version.level, version.hasContent(of: owner.version) {
                trash(id, issue: issue)
                continue
            }
            let digits = link.nameDigits(of: id, name: name.withoutConflictPrefix.bytes)
            let names = [8, 16, 32].map { name.withConflictPrefix(digits, digits: $0) }
            var renamed = version
            // Of three unpredictable names one is free. If not, the name stays, and a reader refuses it (11).
            guard let free = names.first(where: { self.owners(of: $0).isEmpty && !items.isTaken($0) }) else { continue }
            renamed.name = free
            edit(&renamed, issue: issue)
            changes[id] = renamed
            named[free, default: []].insert(id)
        }
    }

    private func owners(of name: ItemName) -> [(id: [UInt8], version: SyncedVersion)] {
        live(named[name, default: []].union(items.liveItems(named: name))) { $0.name == name }
    }

    private mutating func trash(_ id: [UInt8], issue: () -> Dot) {
        guard var version = version(of: id) else { return }
        version.state = .trashed
        edit(&version, issue: issue)
        changes[id] = version
    }

    /// The edit keeps the version's time. So a user's edit at the same time is the later one, and shows.
    private func edit(_ version: inout SyncedVersion, issue: () -> Dot) {
        version.dot = issue()
        version.seen.insert(version.dot)
    }

    /// Of these ids the live versions for which `holds` is true, by rising id.
    private func live(
        _ ids: Set<[UInt8]>, where holds: (SyncedVersion) -> Bool
    ) -> [(id: [UInt8], version: SyncedVersion)] {
        ids.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { id in
            version(of: id).flatMap { $0.state == .live && holds($0) ? (id, $0) : nil }
        }
    }
}
