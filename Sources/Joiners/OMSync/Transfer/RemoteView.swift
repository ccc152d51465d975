// What a device knows of one remote, read from its rows. Format: docs/formats/sync.md, "Tables".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMVault

/// The row of a remote with the heads that were accepted from it, and the own head that is not noted yet.
package struct RemoteView {
    package var remote: RemoteRow
    package var known: KnownHeads

    package init(_ remote: RemoteRow, _ access: borrowing SyncAccess) throws(VaultError) {
        guard let own = access.own else { throw .corrupt(.sync) }
        self.remote = remote
        known = KnownHeads(of: own.device, incarnation: remote.incarnation)
        for row in try access.rows(.head) where row.key.first == remote.id {
            guard let head = try? Head(decoding: row.body) else { throw .corrupt(.sync) }
            if head.statement.number >= known.newest[head.statement.device]?.statement.number ?? 0 { known.note(head) }
        }
        if let body = try access.row(.push, Self.pendingKey(remote.id)) {
            guard let head = try? Head(decoding: body) else { throw .corrupt(.sync) }
            known.prepare(head)
        }
    }

    /// remote (1) ‖ 0: the head that is written after its packs.
    static func pendingKey(_ remote: UInt8) -> [UInt8] { [remote, 0] }

    /// remote (1) ‖ 1 ‖ number (8): a pack that is written before its head.
    static func pendingKey(_ remote: UInt8, pack number: UInt64) -> [UInt8] {
        var key: [UInt8] = [remote, 1]
        key.append(number: number)
        return key
    }

    /// remote (1) ‖ device (4) ‖ number (8). Of another device only the newest head is kept. Of the own those that others need
    /// for their walks are kept too.
    static func headKey(_ remote: UInt8, _ head: Head) -> [UInt8] {
        var key = [remote]
        key.append(number: head.statement.device)
        key.append(number: head.statement.number)
        return key
    }
}
