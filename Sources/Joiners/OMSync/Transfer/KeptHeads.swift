// Heads of other remotes, which prove counts. Format: docs/formats/sync.md, "Tables".

internal import OMItems
internal import OMParcels
internal import OMVault

/// Of each other device the head with the highest count among those of remotes that are forgotten, and of the lists `heads`.
///
/// Accident: a member was removed, or got another number, and then the remote is replaced. Its newest head never comes there.
/// Without it, every version that includes its edits would wait for ever.
enum KeptHeads {
    /// No remote has this number.
    private static let noRemote: UInt8 = 0

    static func all(_ access: borrowing SyncAccess) throws(VaultError) -> [UInt32: Head] {
        var heads: [UInt32: Head] = [:]
        for row in try access.rows(.head) where row.key.first == noRemote {
            guard let head = try? Head(decoding: row.body) else { throw .corrupt(.sync) }
            heads[head.statement.device] = head
        }
        return heads
    }

    /// Keeps verified heads, each if its count is above that of the head of its device that is kept already.
    static func keep(_ heads: some Sequence<Head>, _ access: inout SyncAccess) throws(VaultError) {
        var kept = try all(access)
        for head in heads {
            let old = kept[head.statement.device]
            guard head.statement.count > old?.statement.count ?? 0 else { continue }
            if let old { try access.set(.head, RemoteView.headKey(noRemote, old), nil) }
            try access.set(.head, RemoteView.headKey(noRemote, head), head.encoded)
            kept[head.statement.device] = head
        }
    }
}
