#if Server
// Checks of a message of a pairing.

internal import OMParcels
internal import OMRecords
internal import OMServerStore

struct MessageUpload: SyncUpload {
    private let message: MessageTable.Row
    private let body: [UInt8]

    init(_ body: [UInt8], as file: RemoteFile, to remote: RemoteName) throws(ServerProblem) {
        let sealed = body.count - Record.boxOverhead
        guard case .message(let mailbox, let number) = file, sealed > 0, sealed % Record.step == 0 else {
            throw ServerProblem.refused
        }
        message = MessageTable.Row(mailbox: mailbox, number: number)
        self.body = body
    }

    func store(
        in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Bool {
        if let stored = try MessageTable.body(message, of: remote.id, transaction) {
            guard stored == body else { throw ServerProblem.conflict }
            return false
        }
        guard try MessageTable.all(of: remote.id, transaction).count < limits.messages else { throw ServerProblem.quota }
        try MessageTable.add(message, body, to: remote.id, now: now, transaction)
        return true
    }
}
#endif
