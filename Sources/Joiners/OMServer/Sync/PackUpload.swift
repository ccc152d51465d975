#if Server
// Checks of a pack.

internal import OMParcels
internal import OMServerStore

struct PackUpload: SyncUpload {
    private let pack: Pack
    private let body: [UInt8]

    init(_ body: [UInt8], as file: RemoteFile, to remote: Remote, _ transaction: any StoreTransaction) throws {
        guard case .pack(let device, let number) = file, let pack = try? Pack(decoding: body),
            pack.vault == remote.name.vault, pack.device == device, pack.number == number
        else { throw ServerProblem.refused }
        (self.pack, self.body) = (pack, body)
    }

    func store(
        in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Bool {
        // A pack never changes: a head has its digest.
        if let stored = try PackTable.find(pack.number, of: pack.device, in: remote.id, transaction) {
            guard stored.digest == Pack.digest(of: body) else { throw ServerProblem.conflict }
            return false
        }
        guard try EntryTable.isPresent(pack.device, in: remote.id, transaction) else { throw ServerProblem.refused }
        let counted = try PackTable.unsuperseded(of: pack.device, in: remote.id, transaction)
        guard counted.reduce(0, { $0 + $1.parcels }) + Int64(pack.parcels.count) <= limits.parcels,
            counted.reduce(0, { $0 + $1.size }) + Int64(body.count) <= limits.bytes, Int64(counted.count) < limits.packs,
            try PackTable.count(inListOf: remote.id, transaction) < limits.packsOfRemote
        else { throw ServerProblem.quota }
        try PackTable.add(pack, body, to: remote.id, now: now, transaction)
        // No device reads a pack before a head lists it.
        return false
    }
}
#endif
