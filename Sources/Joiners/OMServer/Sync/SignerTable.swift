#if Server
// How many heads and lists of heads a device wrote in this minute.

internal import OMServerStore

enum SignerTable {
    enum Write { case heads, lists }

    /// Raises the number of a device that wrote before.
    ///
    /// - Parameter head: The number of the head. A stored head is only sent again, so it does not count.
    static func raised(
        _ write: Write, of device: UInt32, in remote: [UInt8], now: Int64, unlessHas head: UInt64? = nil
    ) -> SQLStatement {
        let (own, other) = write == .heads ? (Write.heads, Write.lists) : (.lists, .heads)
        return SQLStatement(
            """
            UPDATE remote_signer SET minute = ?3, \(own) = CASE WHEN minute = ?3 THEN \(own) ELSE 0 END + 1, \
            \(other) = CASE WHEN minute = ?3 THEN \(other) ELSE 0 END WHERE remote = ?1 AND device = ?2 AND NOT EXISTS \
            (SELECT 1 FROM remote_head WHERE remote = ?1 AND device = ?2 AND number = ?4) RETURNING \(own)
            """, .bytes(remote), .number(Int64(device)), .number(now / 60), .number(head.map { Int64(bitPattern: $0) } ?? -1))
    }

    /// Counts a write of a device.
    ///
    /// - Parameter raised: The rows of ``raised(_:of:in:now:unlessHas:)``.
    /// - Throws: ``ServerProblem/tooMany(retryAfter:)``; ``ServerProblem/quota`` if the remote has too many devices.
    static func count(
        _ write: Write, _ raised: [SQLRow], of device: UInt32, in remote: [UInt8], within limits: SyncLimits, now: Int64,
        _ transaction: any StoreTransaction
    ) throws {
        let minute = now / 60
        guard let row = raised.first else {
            let signers = try transaction.row("SELECT count(*) FROM remote_signer WHERE remote = ?1", .bytes(remote))?.number(0)
            guard signers ?? 0 < limits.signers else { throw ServerProblem.quota }
            try transaction.later(
                "INSERT INTO remote_signer (remote, device, minute, heads, lists) VALUES (?1, ?2, ?3, ?4, ?5)", .bytes(remote),
                .number(Int64(device)), .number(minute), .number(write == .heads ? 1 : 0), .number(write == .lists ? 1 : 0))
            return
        }
        // The error undoes the update.
        guard try row.number(0) <= limits.headsPerMinute else {
            throw ServerProblem.tooMany(retryAfter: Int(60 - now % 60))
        }
    }
}
#endif
