// What a set of arriving versions changes on this device. Format: docs/formats/sync.md, "Applying".

package import OMItems

/// The items of this device, as a plan asks for them.
package protocol SyncedItems {
    func version(of id: [UInt8]) -> SyncedVersion?
    /// The ids of the live items with this name.
    func liveItems(named name: ItemName) -> [[UInt8]]
    /// The ids of the live conflict copies of this item.
    func liveCopies(of origin: [UInt8]) -> [[UInt8]]
}

/// The changes that arriving versions make here. It reads items, and changes none.
package struct MergePlan<Items: SyncedItems> {
    /// The largest number of live conflict copies of one item. The oldest further ones go to the trash.
    package static var maximumCopies: Int { 8 }

    private let items: Items
    private let link: LinkKey
    /// The versions that this device will have, for each item that changes.
    package private(set) var changes: [[UInt8]: SyncedVersion] = [:]

    package init(_ items: Items, link: LinkKey) { (self.items, self.link) = (items, link) }

    package func version(of id: [UInt8]) -> SyncedVersion? { changes[id] ?? items.version(of: id) }

    /// Merges an arriving version with the one here, and then each copy that this makes.
    ///
    /// - Parameter isAuthentic: Whether a proof's MAC is right.
    package mutating func take(_ version: SyncedVersion, of id: [UInt8], isAuthentic: (LevelProof) -> Bool) {
        var arriving: [(id: [UInt8], version: SyncedVersion)] = [(id, version)]
        while let next = arriving.popLast() {
            guard let here = self.version(of: next.id) else {
                changes[next.id] = next.version
                continue
            }
            let merge = Merge(of: next.id, here, next.version, isAuthentic: isAuthentic)
            if merge.version != here { changes[next.id] = merge.version }
            if var copy = merge.copy, let name = copy.name {
                let id = link.copyID(of: next.id, causes: copy.causes)
                copy.name = name.withConflictPrefix(id)
                arriving.append((id, copy))
            }
        }
    }

    /// Makes the names of live items unique again, drops equal copies, and bounds their number, by ordinary edits of this
    /// device. Call it once, last.
    ///
    /// - Parameters:
    ///   - time: The time of the edits, in seconds since 1970.
    ///   - issue: Gives the next dot of this device.
    package mutating func settle(at time: Int64, issue: () -> Dot) {
        let changed = changes.filter { $0.value.state == .live }.keys.sorted { $0.lexicographicallyPrecedes($1) }
        for id in changed { dropCopies(of: version(of: id)?.origin ?? id, at: time, issue: issue) }
        for id in changed {
            guard let version = version(of: id), version.state == .live, let name = version.name else { continue }
            rename(allNamed: name, at: time, issue: issue)
        }
    }

    private mutating func dropCopies(of origin: [UInt8], at time: Int64, issue: () -> Dot) {
        var copies = live(items.liveCopies(of: origin)) { $0.origin == origin }
        guard !copies.isEmpty else { return }
        var kept: [SyncedVersion] = []
        for (id, copy) in copies {
            if kept.contains(where: { copy.hasContent(of: $0) }) {
                trash(id, at: time, issue: issue)
            } else {
                kept.append(copy)
            }
        }
        copies = live(items.liveCopies(of: origin)) { $0.origin == origin }
        copies.sort { ($0.version.time, $0.version.dot) < ($1.version.time, $1.version.dot) }
        for (id, _) in copies.dropLast(Self.maximumCopies) { trash(id, at: time, issue: issue) }
    }

    /// Attack: a copy of a secret's name decides what a script reads. So the oldest item keeps a name, and the others get one
    /// that nothing asks for.
    private mutating func rename(allNamed name: ItemName, at time: Int64, issue: () -> Dot) {
        let owners = live(items.liveItems(named: name)) { $0.name == name }
            .sorted { one, other in
                one.version.created != other.version.created
                    ? one.version.created < other.version.created : one.id.lexicographicallyPrecedes(other.id)
            }
        for (id, version) in owners.dropFirst() {
            let free = [8, 16, 32].map { name.withConflictPrefix(id, digits: $0) }
                .first { free in live(items.liveItems(named: free)) { $0.name == free }.isEmpty }
            guard let free else { continue }
            var renamed = version
            renamed.name = free
            edit(&renamed, at: time, issue: issue)
            changes[id] = renamed
        }
    }

    private mutating func trash(_ id: [UInt8], at time: Int64, issue: () -> Dot) {
        guard var version = version(of: id) else { return }
        version.state = .trashed
        edit(&version, at: time, issue: issue)
        changes[id] = version
    }

    private func edit(_ version: inout SyncedVersion, at time: Int64, issue: () -> Dot) {
        let dot = issue()
        version.seen.insert(dot)
        version.dot = dot
        version.time = time
    }

    /// Of these ids and those of the plan, the live versions for which `holds` is true, by rising id.
    private func live(_ stored: [[UInt8]], where holds: (SyncedVersion) -> Bool) -> [(id: [UInt8], version: SyncedVersion)] {
        Set(stored).union(changes.keys).sorted { $0.lexicographicallyPrecedes($1) }.compactMap { id in
            version(of: id).flatMap { $0.state == .live && holds($0) ? (id, $0) : nil }
        }
    }
}
