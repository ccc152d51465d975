#if Server
// Checks of a pack.

internal import OMParcels
internal import OMServerStore

struct PackUpload: SyncUpload {
    private let pack: Pack
    private let body: [UInt8]

    init(_ body: [UInt8], as file: RemoteFile, to remote: RemoteName) throws(ServerProblem) {
        guard case .pack(let device, let number) = file, let pack = try? Pack(decoding: body),
            pack.vault == remote.vault, pack.device == device, pack.number == number
        else { throw ServerProblem.refused }
        (self.pack, self.body) = (pack, body)
    }

    func store(
        in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Bool {
        // A pack never changes: a head has its digest.
        let answers = try transaction.answers([
            PackTable.packStatement(pack.number, of: pack.device, in: remote.id),
            EntryTable.lastOnes(of: remote.id), PackTable.inListCount(of: pack.device, in: remote.id),
        ])
        if let stored = try PackTable.row(answers[0]) {
            guard stored.digest == Pack.digest(of: body) else { throw ServerProblem.conflict }
            return false
        }
        guard try EntryTable.isPresent(pack.device, answers[1]) else { throw ServerProblem.refused }
        guard let counted = answers[2].first else { throw StoreError.damaged }
        guard try counted.number(2) + Int64(pack.parcels.count) <= limits.parcels,
            try counted.number(3) + Int64(body.count) <= limits.bytes, try counted.number(1) < limits.packs,
            try counted.number(0) < limits.packsOfRemote
        else { throw ServerProblem.quota }
        try PackTable.add(pack, body, to: remote.id, now: now, transaction)
        // No device reads a pack before a head lists it.
        return false
    }
}
#endif
