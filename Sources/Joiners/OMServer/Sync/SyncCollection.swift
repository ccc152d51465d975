#if Server
// Removal of what a remote keeps for a time only.

package import OMServerStore

package enum SyncCollection {
    /// Removes messages and packs whose time is over. One transaction for each remote, so no writer waits for long.
    package static func run(_ store: any ServerStore, now: Int64) throws {
        let (message, unlisted, superseded) =
            (now - SyncLimits.messageTime, now - SyncLimits.unlistedTime, now - SyncLimits.supersededTime)
        let remotes = try store.transaction(.read) { transaction in
            var found: Set<[UInt8]> = []
            let rows = try transaction.rows(
                """
                SELECT remote FROM remote_message WHERE since < ?1 \
                UNION SELECT remote FROM remote_pack WHERE state = 0 AND since < ?2 \
                UNION SELECT remote FROM remote_pack WHERE state = 2 AND since < ?3
                """, .number(message), .number(unlisted), .number(superseded))
            for row in rows { found.insert(try row.bytes(0)) }
            return found
        }
        for remote in remotes {
            try store.transaction(.write) { transaction in
                // A head that is written meanwhile must not list a pack that goes.
                guard try transaction.lockedRow("SELECT change FROM remote WHERE id = ?1", .bytes(remote)) != nil else { return }
                let messages = try transaction.rows(
                    "DELETE FROM remote_message WHERE remote = ?1 AND since < ?2 RETURNING number", .bytes(remote),
                    .number(message))
                if !messages.isEmpty { try RemoteTable.raiseChange(remote, transaction) }
                try transaction.rows(
                    """
                    DELETE FROM remote_pack WHERE remote = ?1 \
                    AND (state = 0 AND since < ?2 OR state = 2 AND since < ?3)
                    """, .bytes(remote), .number(unlisted), .number(superseded))
            }
        }
    }
}
#endif
