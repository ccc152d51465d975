// The server's adversary: what a malicious or broken server does beyond a folder whose files arrive late.

import OMItems
import OMParcels
import OMRecords
import OMSync

extension SyncModel {
    /// The server does one thing wrong, or comes back.
    mutating func misbehave() {
        guard lies.contains(.heads), lies == .heads || random.chance(50) else { return lieAboutFiles() }
        let place = remotes.count - 1
        let index = random.below(devices.count)
        let number = devices[index].number
        switch random.below(10) {
        case 0...2:
            // Attack: it answers a push wrongly.
            guard isFree(index) else { return }
            remotes[place].answers[number] = ModelRemote.Answer.allCases[random.below(ModelRemote.Answer.allCases.count)]
        case 3, 4:
            // Attack: one device sees older heads than the others.
            hide(from: index)
        case 5:
            // Attack, or accident: all devices see what the server had before, as from a backup.
            for index in devices.indices { hide(from: index) }
        case 6: freeze(index)
        case 7, 8: remotes[place].comesBack()
        case 9 where random.chance(30): loseRemote()
        default: break
        }
    }

    /// Whether the server may lie to this device about its own chain.
    ///
    /// Known gap: if a device's disk was put back, and its remote goes back with it or is lost, the device cannot know that it gave
    /// out its counts before.
    func isFree(_ index: Int) -> Bool { !adversary.hasSnapshots || snapshots[index] == nil && !devices[index].wasPutBack }

    /// Of some chains, a device sees older heads: one of them alone, or all at another place.
    private mutating func hide(from index: Int) {
        let (place, number) = (remotes.count - 1, devices[index].number)
        let isAll = random.chance(50)
        for (signer, chain) in chains.sorted(by: { $0.key < $1.key }) where isAll || random.chance(30) {
            guard signer != number || isFree(index) else { continue }
            remotes[place].views[number, default: [:]][signer] = ModelRemote.View(
                heads: random.below(chain.count + 1), files: random.chance(20) ? 1 : 2)
        }
    }

    /// A device sees nothing that comes later, of others. Its own heads it would miss.
    private mutating func freeze(_ index: Int) {
        let (place, number) = (remotes.count - 1, devices[index].number)
        for (signer, chain) in chains where signer != number {
            remotes[place].views[number, default: [:]][signer] = ModelRemote.View(heads: chain.count)
        }
    }

    // MARK: - A new remote

    /// The remote is lost, or its users give it up. One device makes another one, and the others take it later.
    mutating func loseRemote() {
        guard devices.allSatisfy({ !$0.wasPutBack }), endsOtherLives() else { return }
        snapshots = [:]
        let old = remotes.count - 1
        remotes[old].isLost = true
        remotes.append(ModelRemote(isHonest: remotes[old].isHonest))
        forgive(remotes[old].chains.values.flatMap { $0.last?.parcels.values.map { $0 } ?? [] })
        takeRemote(random.below(devices.count))
    }

    /// A device that found another life of its file gets its new number, also if it cannot read what that life wrote.
    ///
    /// - Returns: false if a user has to wait with the next remote.
    private mutating func endsOtherLives() -> Bool {
        guard rules.contains(.newNumberFirst) else { return true }
        let found = devices.indices.filter { devices[$0].hasOtherLife }
        // Two of them would sign entries of one number.
        guard let index = found.first else { return true }
        return found.count == 1 && rejoin(index, reading: [])
    }

    /// `sync remote accept`: with the password, what has arrived is merged, and then the old remote is forgotten.
    mutating func takeRemote(_ index: Int) {
        guard devices[index].remote < remotes.count - 1 else { return }
        let isLocked = devices[index].isLocked
        devices[index].isLocked = false
        devices[index].apply(rules)
        devices[index].isLocked = isLocked
        let dropped = devices[index].take(remote: remotes.count - 1, rules)
        // The question says how many versions still wait. Those of a present member come again.
        let present = Set(devices.map(\.number))
        forgive(dropped.filter { !present.contains($0.key) }.flatMap { $0.value.values })
    }

    // MARK: - Removed devices

    /// A removed device signs another head, on the branch where it is a member.
    mutating func goOn() {
        guard !ghosts.isEmpty else { return }
        let index = random.below(ghosts.count)
        var ghost = ghosts[index]
        defer { ghosts[index] = ghost }
        if ghost.remote < remotes.count - 1 { _ = ghost.take(remote: remotes.count - 1, rules) }
        let every = devices + snapshots.values
        let isTooLate = every.allSatisfy { $0.removed.contains(ghost.number) }
        let versions = ghost.items.versions.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        guard !versions.isEmpty else { return }
        let (id, known) = versions[random.below(versions.count)]
        // What he changes before his removal is known is an edit of a member.
        if !isTooLate { replaced.formUnion(known.fields.values.map(\.digest)) }
        var version = known
        version.dot = ghost.issue()
        version.seen.insert(version.dot)
        if version.state == .live, random.chance(50) {
            version.fields[Self.fieldNames[0]] = token(nil)
        } else {
            version.state = .purged
            (version.name, version.details, version.fields) = (nil, ItemDetails(), [:])
        }
        ghost.items.versions[id] = version
        let push = draft(&ghost)
        if isTooLate { tooLate.insert(push.head.digest) }
        for pack in push.packs { _ = remotes[ghost.remote].store(pack.bytes, as: pack.file) }
        remotes[ghost.remote].store(push.head)
        ghost.note(push)
        remotes[ghost.remote].lists[ghost.number, default: []].append(ghost.list(rules))
    }
}
