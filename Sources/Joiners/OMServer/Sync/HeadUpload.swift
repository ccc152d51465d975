#if Server
// Checks of a head.

internal import OMParcels
internal import OMServerStore

struct HeadUpload: SyncUpload {
    private let head: Head

    init(_ body: [UInt8], as file: RemoteFile, to remote: RemoteName) throws(ServerProblem) {
        guard case .head(let device, _) = file, let head = try? Head(decoding: body), head.statement.device == device,
            head.statement.vault == remote.vault, head.statement.incarnation == remote.incarnation
        else { throw .refused }
        self.head = head
    }

    func store(
        in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Bool {
        let said = head.statement
        let answers = try transaction.answers([
            RemoteTable.signerStatement(
                said.device, naming: EntryTable.Row(number: said.rollNumber, digest: said.rollDigest), in: remote.id),
            HeadTable.kept(of: said.device, in: remote.id), PackTable.unsuperseded(of: said.device, in: remote.id),
            SignerTable.raised(.heads, of: said.device, in: remote.id, now: now, unlessHas: said.number),
        ])
        // Also of a member that was removed: devices ignore what does not count.
        guard let row = answers[0].first, case let member = try RemoteTable.member(row), member.isDevice,
            // Attack: a stolen token takes the place of a device.
            head.isSigned(by: member.headKey), try row.number(2) == 1
        else { throw ServerProblem.refused }
        let kept = try HeadTable.kept(answers[1])
        let newest = kept.max { $0.number < $1.number }
        if let newest, newest.number == said.number {
            guard newest.digest == head.digest else { throw ServerProblem.conflict }
            return false
        }
        guard continues(newest, kept) else { throw ServerProblem.conflict }
        try SignerTable.count(.heads, answers[3], of: said.device, in: remote.id, within: limits, now: now, transaction)
        try list(PackTable.all(answers[2]), in: remote, within: limits, now: now, transaction)
        try HeadTable.add(head, behind: kept, to: remote.id, transaction)
        return true
    }

    /// Whether the head is the next one of its device's chain.
    ///
    /// Attack, or accident: a copy of the device's file pushes too. Its heads have numbers that are taken, or other digests.
    private func continues(_ newest: HeadTable.Kept?, _ kept: [HeadTable.Kept]) -> Bool {
        let said = head.statement
        let none = [UInt8](repeating: 0, count: 32)
        guard said.number == (newest?.number ?? 0) + 1, said.previous == newest?.digest ?? none else { return false }
        let skipped = Head.skipped(from: said.number)
        let expected = skipped == 0 ? none : kept.first { $0.number == skipped }?.digest
        return said.skip == expected
    }

    /// Notes which packs are listed now, and which are superseded.
    ///
    /// - Parameter packs: All of its device that are not superseded.
    private func list(
        _ packs: [PackTable.Row], in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws {
        let byNumber = Dictionary(packs.map { ($0.number, $0) }) { one, _ in one }
        var listed: Set<UInt64> = []
        var (parcels, bytes) = (Int64(0), Int64(0))
        var again: [PackTable.Row] = []
        for reference in head.statement.packs {
            var found = byNumber[reference.number]
            if found == nil {
                found = try PackTable.find(reference.number, of: head.statement.device, in: remote.id, transaction)
                if let found { again.append(found) }
            }
            guard let pack = found, pack.digest == reference.digest else { throw ServerProblem.refused }
            listed.insert(pack.number)
            parcels += pack.parcels
            bytes += pack.size
        }
        // Attack: a member lists its superseded packs again, which are outside the quota.
        guard parcels <= limits.parcels, bytes <= limits.bytes else { throw ServerProblem.quota }
        var hasSuperseded = false
        for pack in packs {
            let isListed = listed.contains(pack.number)
            switch pack.state {
            case .listed where !isListed:
                try PackTable.set(.superseded, pack, in: remote.id, now: now, transaction)
                hasSuperseded = true
            case .new where isListed: try PackTable.set(.listed, pack, in: remote.id, now: now, transaction)
            default: break
            }
        }
        for pack in again { try PackTable.set(.listed, pack, in: remote.id, now: now, transaction) }
        if !again.isEmpty, try PackTable.count(inListOf: remote.id, transaction) > limits.packsOfRemote {
            throw ServerProblem.quota
        }
        if hasSuperseded { try removeOldest(in: remote, within: limits, transaction) }
    }

    /// Attack: a member supersedes its packs again and again, and fills the server's disk in 30 days.
    private func removeOldest(
        in remote: Remote, within limits: SyncLimits, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        var (parcels, bytes) = try PackTable.superseded(of: head.statement.device, in: remote.id, transaction)
        guard parcels > limits.parcels || bytes > limits.bytes else { return }
        for pack in try PackTable.eachSuperseded(of: head.statement.device, in: remote.id, transaction)
        where parcels > limits.parcels || bytes > limits.bytes {
            try PackTable.remove(pack, of: remote.id, transaction)
            parcels -= pack.parcels
            bytes -= pack.size
        }
    }
}
#endif
