// What the server of the model lies about beside heads: entries of the roll, packs, and the lists `heads`.

import OMParcels
import OMSync

/// What the server lies about.
struct ModelLies: OptionSet {
    let rawValue: Int
    /// Heads, and answers to them; the remote is lost.
    static let heads = ModelLies(rawValue: 1)
    /// One entry of the roll is not shown.
    static let withheldEntry = ModelLies(rawValue: 2)
    /// The roll is shown as it was before.
    static let olderRoll = ModelLies(rawValue: 4)
    /// Of two entries of one number, which a removed device signed, each device is shown one.
    static let twoEntries = ModelLies(rawValue: 8)
    /// An entry of another vault is shown.
    static let foreignEntry = ModelLies(rawValue: 16)
    /// 204 to an entry, which is forgotten.
    static let forgottenEntry = ModelLies(rawValue: 32)
    /// A pack that a head lists is not shown.
    static let withheldPack = ModelLies(rawValue: 64)
    /// Another pack is shown under its name.
    static let otherPack = ModelLies(rawValue: 128)
    /// The first bytes of a pack are shown.
    static let tornPack = ModelLies(rawValue: 256)
    /// An older pack of the same device is shown under its name.
    static let olderPack = ModelLies(rawValue: 512)
    /// 204 to a pack, which is forgotten.
    static let forgottenPack = ModelLies(rawValue: 1024)
    /// Superseded packs are deleted at once, and a pack that the newest head still lists.
    static let earlyDeletion = ModelLies(rawValue: 2048)
    /// A list `heads` is not shown.
    static let withheldList = ModelLies(rawValue: 4096)
    /// A list `heads` is shown as it was before.
    static let olderList = ModelLies(rawValue: 8192)
    /// The list `heads` of another device is shown.
    static let otherList = ModelLies(rawValue: 16384)
    static let all = ModelLies(rawValue: 32767)

    fileprivate static let aboutFiles: [ModelLies] = (1..<15).map { ModelLies(rawValue: 1 << $0) }
}

extension SyncModel {
    /// The server tells one device a lie about a file, or shows all again.
    mutating func lieAboutFiles() {
        let (place, index) = (remotes.count - 1, random.below(devices.count))
        let number = devices[index].number
        if random.chance(15) { return remotes[place].comesBack() }
        let possible = ModelLies.aboutFiles.filter { lies.contains($0) }
        guard !possible.isEmpty else { return }
        switch possible[random.below(possible.count)] {
        case .withheldEntry: hideEntries(from: number) { entry, chosen in entry == chosen }
        case .olderRoll: hideEntries(from: number) { entry, chosen in entry.contents.number >= chosen.contents.number }
        case .twoEntries: signTwice()
        case .foreignEntry: remotes[place].foreignEntries[number] = ModelMembers.ofOtherVault
        case .forgottenEntry: remotes[place].forgetsEntry.insert(number)
        case .withheldPack:
            let isListed = random.chance(70)
            show(to: index) { _, _ in .missing(isListed: isListed) }
        case .otherPack: show(to: index) { _, others in others.isEmpty ? nil : .bytes(others) }
        case .tornPack: show(to: index) { bytes, _ in .bytes(Array(bytes.prefix(bytes.count / 2))) }
        case .olderPack: showOlderPack(to: index)
        case .forgottenPack: if isFree(index) { remotes[place].forgetsPack.insert(number) }
        case .earlyDeletion:
            for file in remotes[place].superseded { remotes[place].packs[file] = nil }
            // It counts one too many.
            if isFree(index), let oldest = chains[number]?.last?.packs.first {
                remotes[place].packs[.pack(device: number, number: oldest.number)] = nil
            }
        case .withheldList: showList(to: number) { _ in .missing }
        case .olderList:
            let count = 1 + random.below(4)
            showList(to: number) { _ in .older(count) }
        case .otherList: showList(to: number) { $0.map { .ofDevice($0) } }
        default: break
        }
    }

    // MARK: - Entries

    private mutating func hideEntries(from number: UInt32, _ isHidden: (RollEntry, _ chosen: RollEntry) -> Bool) {
        let place = remotes.count - 1
        let entries = remotes[place].entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        guard !entries.isEmpty else { return }
        let chosen = entries[random.below(entries.count)].value
        remotes[place].hiddenEntries[number, default: []].formUnion(entries.filter { isHidden($0.value, chosen) }.map(\.key))
    }

    /// A removed device signs two entries of one number, for which it was a member. Each device sees one of them.
    ///
    /// Known gap: if the entry that counts there replaces a number, the device that signed it loses it to one of these, signs it
    /// again behind that one, and then takes its first entry for that of a former member: it never comes back.
    private mutating func signTwice() {
        guard !ghosts.isEmpty else { return }
        let (place, ghost) = (remotes.count - 1, ghosts[random.below(ghosts.count)])
        guard let roll = ghost.roll, roll.members[ghost.number] != nil, nextAdded + 2 <= ModelMembers.all.count else { return }
        let next = roll.entries.count
        let isReplaced = devices.compactMap(\.roll).contains { roll in
            roll.entries.count > next && roll.entries[next].contents.kind == .replace && honest.contains(roll.digests[next])
        }
        guard !isReplaced else { return }
        let added = [ModelMembers.all[nextAdded], ModelMembers.all[nextAdded + 1]]
        nextAdded += 2
        let two = added.map { ModelMembers.entry(.add, by: ghost.number, adding: [$0], after: roll) }
        for entry in two { remotes[place].entries[entry.digest] = entry }
        for device in devices {
            remotes[place].hiddenEntries[device.number, default: []].insert(two[random.below(2)].digest)
        }
    }

    // MARK: - Packs

    /// In the place of a pack, a device is shown what `view` makes of its bytes and those of another pack. Nil changes nothing.
    private mutating func show(to index: Int, _ view: (_ bytes: [UInt8], _ other: [UInt8]) -> ModelRemote.PackView?) {
        let (place, number) = (remotes.count - 1, devices[index].number)
        guard let file = newPack(), let other = newPack(), mayLie(about: file, to: index),
            let bytes = remotes[place].packs[file]?.bytes
        else { return }
        let others = other == file ? [] : remotes[place].packs[other]?.bytes ?? []
        remotes[place].packViews[number, default: [:]][file] = view(bytes, others)
    }

    /// One of the newest packs of a device.
    private mutating func newPack() -> RemoteFile? {
        let writers = chains.filter { $0.value.last?.packs.isEmpty == false }.keys.sorted()
        guard !writers.isEmpty else { return nil }
        let writer = writers[random.below(writers.count)]
        let packs = (chains[writer]?.last?.packs ?? []).suffix(2)
        return .pack(device: writer, number: packs[packs.startIndex + random.below(packs.count)].number)
    }

    private mutating func showOlderPack(to index: Int) {
        let (place, number) = (remotes.count - 1, devices[index].number)
        guard case .pack(let signer, let newer)? = newPack(), newer > 1 else { return }
        let older = RemoteFile.pack(device: signer, number: 1 + UInt64(random.below(Int(newer) - 1)))
        let file = RemoteFile.pack(device: signer, number: newer)
        guard mayLie(about: file, to: index), let bytes = remotes[place].packs[older]?.bytes else { return }
        remotes[place].packViews[number, default: [:]][file] = .bytes(bytes)
    }

    /// Known gap: what a disk that was put back wrote before is read from the remote.
    private func mayLie(about file: RemoteFile, to index: Int) -> Bool {
        guard case .pack(let signer, _) = file, signer == devices[index].number else { return true }
        return isFree(index)
    }

    // MARK: - Lists

    private mutating func showList(to number: UInt32, _ view: (_ other: UInt32?) -> ModelRemote.ListView?) {
        let place = remotes.count - 1
        let writers = remotes[place].lists.keys.sorted()
        guard !writers.isEmpty else { return }
        let (writer, other) = (writers[random.below(writers.count)], writers[random.below(writers.count)])
        remotes[place].listViews[number, default: [:]][writer] = view(other == writer ? nil : other)
    }
}
