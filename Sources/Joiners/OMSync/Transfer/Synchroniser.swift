// One exchange with a remote. Format: docs/formats/sync.md, "Push and pull".

package import OMItems
package import OMParcels
package import OMVault

extension Vault {
    /// Adds a remote to those of this vault, or notes that its folder or server is elsewhere now, or that its user logged in again.
    ///
    /// - Parameters:
    ///   - incarnation: 16 bytes.
    ///   - path: The folder in which the remote's folder is, or the address of its server.
    ///   - login: For a server.
    /// - Throws: ``VaultError/unchanged`` if the vault has this remote there; ``VaultError/tooLarge`` for a ninth one or a longer path.
    package func addRemote(
        incarnation: [UInt8], path: String, login: ServerLogin? = nil, now: Int64
    ) throws(VaultError) -> RemoteRow {
        try editSync(now: now) { access throws(VaultError) in
            let rows = try RemoteRow.all(access)
            if var known = rows.first(where: { $0.incarnation == incarnation }) {
                guard known.path != path || login != nil else { throw .unchanged }
                known.path = path
                try known.save(&access)
                try keep(login, of: known.id, &access)
                return known
            }
            guard let id = (1...RemoteRow.maximumRemotes).first(where: { id in !rows.contains { $0.id == id } }),
                path.utf8.count <= RemoteRow.maximumPath
            else { throw .tooLarge }
            let row = RemoteRow(id: id, incarnation: incarnation, path: path)
            try row.save(&access)
            try keep(login, of: id, &access)
            return row
        }
    }

    private func keep(_ login: ServerLogin?, of remote: UInt8, _ access: inout SyncAccess) throws(VaultError) {
        guard let login else { return try access.set(.serverLogin, [remote], nil) }
        try ServerLoginRow.keep(login, of: remote, self, &access)
    }

    /// The remotes of this vault.
    package func remotes() throws(VaultError) -> [RemoteRow] {
        try readSync { access throws(VaultError) in try RemoteRow.all(access) }
    }

    /// Reads what others wrote, merges it, and writes what changed here.
    ///
    /// - Parameters:
    ///   - limit: How much of one member may wait here.
    ///   - now: In seconds since 1970.
    ///   - note: Called at the start of each step.
    /// - Throws: ``VaultError``, ``RemoteNews/Problem``, and the errors of the files.
    package func synchronise<Store: RemoteStore>(
        with remote: RemoteRow, _ store: Store, within limit: WaitingLimit = .standard, now: Int64,
        noting note: (SyncStep) -> Void = { _ in }
    ) throws -> SyncReport {
        // Two processes would delete each other's packs, and put an older head over a newer one.
        let result = try exchanging {
            Result { try exchange(with: remote, store, within: limit, now: now, noting: note) }
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
        with remote: RemoteRow, _ store: Store, within limit: WaitingLimit, now: Int64, noting note: (SyncStep) -> Void
    ) throws -> SyncReport {
        var report = SyncReport()
        report.pull = try take(from: remote, store, within: limit, now: now, noting: note)
        guard report.pull.hasApplied, report.pull.forgers[remote.id] == nil else { return report }
        note(.pushing)
        repeat {
            let push = try push(remote.id, to: store, now: now)
            report.push.parcels += push.parcels
            report.push.bytes += push.bytes
            (report.push.hasMore, report.push.skipped) = (push.hasMore, push.skipped)
        } while report.push.hasMore
        return report
    }

    /// Reads what others wrote and merges it, and writes nothing to the remote.
    package func take<Files: RemoteFiles>(
        from remote: RemoteRow, _ files: Files, within limit: WaitingLimit = .standard, now: Int64,
        noting note: (SyncStep) -> Void = { _ in }
    ) throws -> PullReport {
        note(.pulling)
        var report = try fetch(remote, from: files, within: limit, now: now)
        if !report.isStopped, !report.needsLaterVersion {
            report.losesCode = try signLostEntries(now: now)
            report.isRemoved = try !isMember()
        }
        guard report.hasApplied else { return report }
        _ = try takeUnread(remote, from: files, within: limit, now: now)
        note(.applying)
        var applied = try applyArrived(now: now)
        // A version whose chunks are gone waits until a later one is written that includes it.
        if applied.written > 0, applied.waiting > 0, applied.forgers.isEmpty {
            report.written += applied.written
            applied = try applyArrived(now: now)
        }
        report.add(applied)
        // What was merged makes room for more. Another copy of this file gives out the same counts: it takes no more.
        while try applied.forgers[remote.id] == nil && takeUnread(remote, from: files, within: limit, now: now) {
            applied = try applyArrived(now: now)
            report.add(applied)
        }
        report.unreadPacks = try unreadPacks(on: remote.id)
        return report
    }

    private func unreadPacks(on remote: UInt8) throws(VaultError) -> [UInt32: Int] {
        try readSync { access throws(VaultError) in
            Dictionary(grouping: try UnreadPack.all(access).filter { $0.remote == remote }, by: \.signer).mapValues(\.count)
        }
    }
}

extension PullReport {
    /// Whether what was read was merged.
    fileprivate var hasApplied: Bool { !isStopped && !needsLaterVersion && !isRemoved }

    /// Adds what one plan did. What waits is counted again with each plan.
    fileprivate mutating func add(_ applied: PullReport) {
        written += applied.written
        (waiting, held, braked) = (applied.waiting, applied.held, applied.braked)
        (unreadable, malformed) = (applied.unreadable, applied.malformed)
        forgers = applied.forgers
    }
}
