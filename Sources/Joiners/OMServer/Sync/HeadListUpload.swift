#if Server
// Checks of a list of heads: the file `heads`.

internal import OMParcels
internal import OMSecrets
internal import OMServerStore

struct HeadListUpload: SyncUpload {
    private let device: UInt32
    private let body: [UInt8]
    private let list: HeadList
    private let digest: [UInt8]

    static let isCostly = true

    init(_ body: [UInt8], as file: RemoteFile, to remote: RemoteName) throws(ServerProblem) {
        guard case .heads(let device) = file, let list = try? HeadList(decoding: body), list.vault == remote.vault else {
            throw .refused
        }
        (self.device, self.body, self.list, digest) = (device, body, list, PublicHash.hash(body))
    }

    func check(in remote: Remote, _ transaction: any StoreTransaction) throws {
        guard try RemoteTable.member(device, of: remote.id, transaction)?.isDevice == true else { throw ServerProblem.refused }
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
    }

    func store(
        in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Bool {
        guard try HeadTable.list(of: device, in: remote.id, transaction) != body else { return false }
        let raised = SignerTable.raised(.lists, of: device, in: remote.id, now: now)
        let rows = try transaction.rows(raised.sql, raised.values)
        try SignerTable.count(.lists, rows, of: device, in: remote.id, within: limits, now: now, transaction)
        try HeadTable.setList(body, digest: digest, of: device, in: remote.id, transaction)
        return true
    }
}
#endif
