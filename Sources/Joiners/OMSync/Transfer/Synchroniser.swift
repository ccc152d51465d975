// One exchange with a remote. Format: docs/formats/sync.md, "Push and pull".

package import OMItems
package import OMParcels
package import OMVault

extension Vault {
    /// Adds a remote to those of this vault, or notes that its folder is elsewhere now.
    ///
    /// - Parameters:
    ///   - incarnation: 16 bytes.
    ///   - path: The folder in which the remote's folder is.
    /// - Throws: ``VaultError/unchanged`` if the vault has this remote there; ``VaultError/tooLarge`` for a ninth one or a longer path.
    package func addRemote(incarnation: [UInt8], path: String, now: Int64) throws(VaultError) -> RemoteRow {
        try editSync(now: now) { access throws(VaultError) in
            let rows = try RemoteRow.all(access)
            if var known = rows.first(where: { $0.incarnation == incarnation }) {
                guard known.path != path else { throw .unchanged }
                known.path = path
                try known.save(&access)
                return known
            }
            guard let id = (1...RemoteRow.maximumRemotes).first(where: { id in !rows.contains { $0.id == id } }),
                path.utf8.count <= RemoteRow.maximumPath
            else { throw .tooLarge }
            let row = RemoteRow(id: id, incarnation: incarnation, path: path)
            try row.save(&access)
            return row
        }
    }

    /// The remotes of this vault.
    package func remotes() throws(VaultError) -> [RemoteRow] {
        try readSync { access throws(VaultError) in try RemoteRow.all(access) }
    }

    /// Reads what others wrote, merges it, and writes what changed here.
    ///
    /// - Parameter now: In seconds since 1970.
    /// - Throws: ``VaultError``, ``RemoteNews/Problem``, and the errors of the files.
    package func synchronise<Store: RemoteStore>(
        with remote: RemoteRow, _ store: Store, now: Int64
    ) throws -> SyncReport {
        // Two processes would delete each other's packs, and put an older head over a newer one.
        let result = try exchanging {
            Result { try exchange(with: remote, store, now: now) }
        }
        return try result.get()
    }

    /// Whether this device is in the roll.
    private func isMember() throws(VaultError) -> Bool {
        try readSync { access throws(VaultError) in
            guard let own = access.own else { return false }
            return try DeviceRoll(access).roll.members[own.device] != nil
        }
    }

    private func exchange<Store: RemoteStore>(
        with remote: RemoteRow, _ store: Store, now: Int64
    ) throws -> SyncReport {
        var report = SyncReport()
        report.pull = try fetch(remote, from: store, now: now)
        if !report.pull.isStopped, !report.pull.needsLaterVersion {
            report.pull.losesCode = try signLostEntries(now: now)
            report.pull.isRemoved = try !isMember()
        }
        guard !report.pull.isStopped, !report.pull.needsLaterVersion, !report.pull.isRemoved else { return report }
        let applied = try applyArrived(now: now)
        (report.pull.written, report.pull.waiting, report.pull.held) = (applied.written, applied.waiting, applied.held)
        (report.pull.braked, report.pull.forgers) = (applied.braked, applied.forgers)
        // Another copy of this file gives out the same counts. It must not write over it.
        guard applied.forgers[remote.id] == nil else { return report }
        repeat {
            let push = try push(remote.id, to: store, now: now)
            report.push.parcels += push.parcels
            report.push.bytes += push.bytes
            (report.push.hasMore, report.push.skipped) = (push.hasMore, push.skipped)
        } while report.push.hasMore
        return report
    }
}
