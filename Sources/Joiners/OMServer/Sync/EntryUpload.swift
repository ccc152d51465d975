#if Server
// Checks of an entry of the roll.

internal import OMParcels
internal import OMSecrets
internal import OMServerStore

struct EntryUpload: SyncUpload {
    private let entry: RollEntry
    /// The devices behind it. Nil if the entry is stored already, or is not checked yet.
    private var devices: [UInt32]?

    static let isCostly = true

    init(_ body: [UInt8], as file: RemoteFile, to remote: RemoteName) throws(ServerProblem) {
        // Entry 0 is `remote`.
        guard case .entry(let number, let digest) = file, number > 0, PublicHash.hash(body) == digest,
            let entry = try? RollEntry(decoding: body), entry.contents.number == number,
            entry.contents.vault == remote.vault
        else { throw ServerProblem.refused }
        self.entry = entry
    }

    mutating func check(in remote: Remote, _ transaction: any StoreTransaction) throws {
        let row = EntryTable.Row(number: entry.contents.number, digest: entry.digest)
        guard try !EntryTable.has(row, in: remote.id, transaction) else { return }
        // Attack: a stolen token sends entries of no member, so that the server checks a long roll for each of them.
        guard let signer = try RemoteTable.member(entry.contents.signer, of: remote.id, transaction),
            entry.isSigned(by: signer.memberKey)
        else { throw ServerProblem.refused }
        let roll = try Self.roll(endingWith: entry, in: remote, transaction)
        devices = roll.members.values.filter { $0.kind == .device }.map(\.number)
    }

    /// The roll from entry 0 to this one, with every rule checked.
    private static func roll(
        endingWith entry: RollEntry, in remote: Remote, _ transaction: any StoreTransaction
    ) throws -> Roll {
        var branch = [entry]
        while let first = branch.last?.contents, first.number > 0 {
            let before = EntryTable.Row(number: first.number - 1, digest: first.previous)
            guard let body = try EntryTable.body(before, of: remote.id, transaction) else { throw ServerProblem.refused }
            guard let entry = try? RollEntry(decoding: body) else { throw StoreError.damaged }
            branch.append(entry)
        }
        do throws(RollProblem) {
            var roll = try Roll(branch.removeLast())
            for entry in branch.reversed() { try roll.append(entry) }
            return roll
        } catch { throw error == .tooLarge ? ServerProblem.quota : ServerProblem.refused }
    }

    func store(
        in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Bool {
        let contents = entry.contents
        let row = EntryTable.Row(number: contents.number, digest: entry.digest)
        // Another request may have stored it since.
        guard let devices, try !EntryTable.has(row, in: remote.id, transaction) else { return false }
        let others = try EntryTable.count(ofNumber: contents.number, from: contents.signer, in: remote.id, transaction)
        guard others < limits.entriesOfNumber else { throw ServerProblem.conflict }
        // Attack: a thief fills the roll, so that he cannot be removed.
        let signer = try RemoteTable.member(contents.signer, of: remote.id, transaction)
        let isUrgent = contents.kind == .remove || signer?.isDevice == false
        let size = try EntryTable.size(of: remote.id, transaction)
        guard size.count < limits.entries - (isUrgent ? 0 : limits.reservedEntries),
            size.bytes + Int64(entry.encoded.count) <= limits.entryBytes - (isUrgent ? 0 : limits.reservedBytes)
        else { throw ServerProblem.quota }
        for member in contents.added {
            guard try RemoteTable.add(member, to: remote.id, transaction) else { throw ServerProblem.refused }
        }
        try EntryTable.add(entry, to: remote.id, devices: devices, transaction)
        return true
    }
}
#endif
