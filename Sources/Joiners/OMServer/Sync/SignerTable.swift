#if Server
// How many heads and lists of heads a device wrote in this minute.

internal import OMServerStore

enum SignerTable {
    enum Write: String { case heads, lists }

    /// Counts a write of a device.
    ///
    /// - Throws: ``ServerProblem/tooMany(retryAfter:)``; ``ServerProblem/quota`` if the remote has too many devices.
    static func count(
        _ write: Write, of device: UInt32, in remote: [UInt8], within limits: SyncLimits, now: Int64,
        _ transaction: any StoreTransaction
    ) throws {
        let minute = now / 60
        let row = try transaction.row(
            "SELECT minute, \(write.rawValue) FROM remote_signer WHERE remote = ?1 AND device = ?2",
            .bytes(remote), .number(Int64(device)))
        guard let row else {
            let signers = try transaction.row("SELECT count(*) FROM remote_signer WHERE remote = ?1", .bytes(remote))?.number(0)
            guard signers ?? 0 < limits.signers else { throw ServerProblem.quota }
            try transaction.rows(
                "INSERT INTO remote_signer (remote, device, minute, heads, lists) VALUES (?1, ?2, ?3, ?4, ?5)", .bytes(remote),
                .number(Int64(device)), .number(minute), .number(write == .heads ? 1 : 0), .number(write == .lists ? 1 : 0))
            return
        }
        if try row.number(0) != minute {
            try transaction.rows(
                "UPDATE remote_signer SET minute = ?3, heads = 0, lists = 0 WHERE remote = ?1 AND device = ?2", .bytes(remote),
                .number(Int64(device)), .number(minute))
        } else if try row.number(1) >= limits.headsPerMinute {
            throw ServerProblem.tooMany(retryAfter: Int(60 - now % 60))
        }
        try transaction.rows(
            "UPDATE remote_signer SET \(write.rawValue) = \(write.rawValue) + 1 WHERE remote = ?1 AND device = ?2",
            .bytes(remote), .number(Int64(device)))
    }
}
#endif
