// The roll of the model's devices: real entries, between which the real choice decides. Format: docs/formats/sync.md, "Roll".

import OMParcels
import OMSync

/// The inputs of a choice. It is pure, so it is made once for the same ones.
struct ModelQuestion: Hashable {
    let entries: Set<[UInt8]>
    let accepted: [UInt8]?
    let kept: Set<[UInt8]>
}

extension SyncModel {
    /// Whether others know the entry that gave a device its newest number, and a file of it does not.
    func isFormerMember(_ file: ModelDevice, of device: ModelDevice) -> Bool {
        guard file.number != device.number, let roll = device.roll,
            let place = roll.entries.firstIndex(where: { $0.contents.added.contains { $0.number == device.number } })
        else { return false }
        let others = devices.filter { $0.number != device.number }.compactMap(\.roll)
        return others.contains { $0.digests.contains(roll.digests[place]) }
            || remotes.contains { $0.entries[roll.digests[place]] != nil }
    }

    /// The longest roll of the devices.
    ///
    /// An honest user changes the roll at one device at a time, when no other device has entries that this one lacks. Known gap:
    /// of two honest devices that sign entries of one number, each keeps its own for ever once a further entry continues one of
    /// them.
    private var line: Roll? {
        let rolls = devices.compactMap(\.roll)
        guard let longest = rolls.max(by: { $0.entries.count < $1.entries.count }) else { return nil }
        return rolls.allSatisfy({ longest.digests.starts(with: $0.digests) }) ? longest : nil
    }

    /// Whether the user of a device changes the roll there now.
    func canSign(_ index: Int) -> Bool {
        guard let roll = devices[index].roll else { return true }
        return roll.digests == line?.digests && roll.members[devices[index].number] != nil && !devices[index].wasPutBack
    }

    /// A device signs the next entry of its roll.
    mutating func sign(
        _ kind: RollEntry.Kind, on index: Int, by signer: UInt32? = nil, adding added: [RollMember] = [],
        removing removed: [UInt32] = []
    ) {
        guard var roll = devices[index].roll else { return }
        let entry = ModelMembers.entry(
            kind, by: signer ?? devices[index].number, adding: added, removing: removed, after: roll)
        ModelMembers.append(entry, to: &roll)
        devices[index].roll = roll
        devices[index].removed = roll.removed
        devices[index].signedEntries.insert(entry.digest)
        honest.insert(entry.digest)
    }

    /// A device takes the entries that its remote shows, and signs what lost again.
    ///
    /// - Returns: false if its user has to choose, or it is no member any more.
    mutating func takeRoll(_ index: Int) -> Bool {
        guard let accepted = devices[index].roll else { return true }
        let number = devices[index].number
        var shown = remotes[devices[index].remote].entries(for: number)
        var known: Roll? = accepted
        if !rules.contains(.acceptedRoll) {
            // The control: of the accepted roll it keeps what it signed alone.
            shown += accepted.entries.filter { devices[index].signedEntries.contains(digest(of: $0)) }
            known = nil
        }
        if !rules.contains(.ownVault), let foreign = shown.first(where: { $0.contents.vault != accepted.vault }) {
            // The control: an entry of another vault takes the place of the one with its number.
            shown = (shown + accepted.entries.dropFirst()).filter { $0.contents.number < foreign.contents.number }
            known = nil
        }
        var choice = choice(shown, known, devices[index])
        defer { devices[index].removed = devices[index].roll?.removed ?? [] }
        devices[index].roll = choice.roll
        if let undecided = choice.undecided.first {
            guard remotes[devices[index].remote].isHonest || random.chance(50) else { return false }
            // The user knows which entry is his. The control: the smallest digest counts, and no one is asked.
            let own = choice.undecided.first { honest.contains($0.digest) }
            devices[index].chosenEntries.insert((rules.contains(.asksUser) ? own ?? undecided : undecided).digest)
            choice = self.choice(shown, known, devices[index])
            devices[index].roll = choice.roll
            guard choice.undecided.isEmpty else { return false }
        }
        for entry in choice.lost where devices[index].signedEntries.contains(entry.digest) {
            signAgain(entry, on: index)
        }
        return devices[index].roll?.members[number] != nil
    }

    private mutating func choice(_ shown: [RollEntry], _ accepted: Roll?, _ device: ModelDevice) -> RollChoice {
        let kept = device.signedEntries.union(device.chosenEntries)
        let entries = Set(shown.map { digest(of: $0) })
        let question = ModelQuestion(entries: entries, accepted: accepted?.digests.last, kept: kept)
        if let known = choices[question] { return known }
        guard
            let choice = try? RollChoice(
                founding: ModelMembers.founded[0].entries[0], shown, accepted: accepted, keeping: kept)
        else { preconditionFailure("a first entry") }
        choices[question] = choice
        return choice
    }

    private mutating func digest(of entry: RollEntry) -> [UInt8] {
        if let known = digests[entry.signature] { return known }
        let digest = entry.digest
        digests[entry.signature] = digest
        return digest
    }

    /// Makes the change of an own entry that lost again, behind the roll of now.
    private mutating func signAgain(_ entry: RollEntry, on index: Int) {
        guard let roll = devices[index].roll else { return }
        let (lost, own) = (entry.contents, devices[index].number)
        switch lost.kind {
        case .found, .recovery: break
        case .add:
            guard roll.formerOrPresent(lost.added[0].number) == nil, roll.members[own] != nil else { return }
            sign(.add, on: index, adding: lost.added)
        case .remove:
            let numbers = lost.removed.filter { roll.members[$0] != nil && $0 != own }
            if !numbers.isEmpty, roll.members[own] != nil { sign(.remove, on: index, removing: numbers) }
        case .replace:
            guard lost.added[0].number == own, roll.members[lost.signer] != nil, roll.formerOrPresent(own) == nil else { return }
            sign(.replace, on: index, by: lost.signer, adding: lost.added, removing: [lost.signer])
        }
    }

    /// A device writes the entries that its remote does not show.
    mutating func writeRoll(_ index: Int) {
        guard let roll = devices[index].roll else { return }
        let (place, number) = (devices[index].remote, devices[index].number)
        let there = Set(remotes[place].entries(for: number).map { digest(of: $0) })
        for (entry, digest) in zip(roll.entries, roll.digests).dropFirst() where !there.contains(digest) {
            // The control: each entry is written once.
            guard rules.contains(.entriesAgain) || devices[index].sentEntries.insert(digest).inserted else { continue }
            if remotes[place].forgetsEntry.remove(number) == nil { remotes[place].entries[digest] = entry }
        }
    }
}
