#if Server
// Checks of a list of heads: the file `heads`.

internal import OMParcels
internal import OMSecrets
internal import OMServerStore

struct HeadListUpload: SyncUpload {
    private let device: UInt32
    private let body: [UInt8]
    private let digest: [UInt8]

    init(_ body: [UInt8], as file: RemoteFile, to remote: Remote, _ transaction: any StoreTransaction) throws {
        guard case .heads(let device) = file, let list = try? HeadList(decoding: body), list.vault == remote.name.vault,
            try RemoteTable.member(device, of: remote.id, transaction)?.isDevice == true
        else { throw ServerProblem.refused }
        var keys: [UInt32: [UInt8]] = [:]
        for head in list.heads {
            let signer = head.statement.device
            if keys[signer] == nil {
                guard let member = try RemoteTable.member(signer, of: remote.id, transaction), member.isDevice else {
                    throw ServerProblem.refused
                }
                keys[signer] = member.headKey
            }
            guard let key = keys[signer], head.isSigned(by: key) else { throw ServerProblem.refused }
        }
        (self.device, self.body, digest) = (device, body, PublicHash.hash(body))
    }

    func store(
        in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Bool {
        guard try HeadTable.list(of: device, in: remote.id, transaction) != body else { return false }
        try SignerTable.count(.lists, of: device, in: remote.id, within: limits, now: now, transaction)
        try HeadTable.setList(body, digest: digest, of: device, in: remote.id, transaction)
        return true
    }
}
#endif
