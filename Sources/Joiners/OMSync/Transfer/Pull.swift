// Reading a remote: the steps D1 to D5. Format: docs/formats/sync.md, "Push and pull".

package import OMItems
package import OMParcels
package import OMRecords
internal import OMSyncKeys
package import OMVault

extension Vault {
    /// Reads what other devices wrote to a remote, and notes it: D1 and D2. Nothing of it is merged yet.
    ///
    /// - Throws: ``VaultError``, ``RemoteNews/Problem``, and the errors of the files.
    package func fetch<Files: RemoteFiles>(
        _ remote: RemoteRow, from files: Files, within limit: WaitingLimit = .standard, now: Int64
    ) throws -> PullReport {
        let (view, roll) = try readSync { access throws(VaultError) in
            try access.checkRows()
            return (try RemoteView(remote, access), try DeviceRoll(access))
        }
        let contents = try RemoteContents(reading: files, vault: roll.roll.vault)
        var packs = ReadPacks()
        let news = try RemoteNews(contents, view.known, accepted: roll.roll, keeping: roll.kept) { head, known in
            try packs.read(head, since: known, files)
        }
        var report = PullReport()
        (report.notAccepted, report.isStopped) = (news.notAccepted, news.isStopped)
        report.needsLaterVersion = news.needsLaterVersion
        let lost = news.roll.lost.filter { roll.signed.contains($0.digest) }
        report.lostEntries = lost.map(\.contents.number)
        // A stopped remote still brings entries of the roll.
        let accepted = news.isStopped ? [] : news.newHeads
        report.isRemoved = news.roll.roll.members[view.known.device] == nil
        try editSync(now: now) { access throws(VaultError) in
            let current = try DeviceRoll(access)
            if current.roll != news.roll.roll, current.roll == roll.roll {
                try current.replace(by: news.roll.roll, &access)
                try noteLost(lost, &access)
                // What a removed member lists does not count any more.
                try ArrivedParcel.dropApplied(except: news.roll.roll, &access)
                try PushNotes.drop(on: nil, of: nil, &access)
            }
            try RollQuestion.keep(news.roll, &access)
            if let own = access.own {
                let scope = MemberKeys.Scope(vault: access.vault, salt: own.salt)
                try takeLanes(of: news.roll.roll, scope, own.device, &access)
            }
            try VouchedCounts(contents, news.roll.roll).keep(&access)
            for head in accepted { try note(head, packs.packs(of: head), on: remote.id, within: limit, &access) }
        }
        return report
    }

    /// Notes a head of another device, and keeps the parcels that it lists and this device has not merged.
    func note(
        _ head: Head, _ packs: [UInt64: Pack], on remote: UInt8, within limit: WaitingLimit, _ access: inout SyncAccess
    ) throws(VaultError) {
        let signer = head.statement.device
        var known: Head?
        for row in try access.rows(.head) where row.key.first == remote {
            guard let old = try? Head(decoding: row.body), old.statement.device == signer else { continue }
            // Another process has read more meanwhile.
            guard old.statement.number < head.statement.number else { return }
            known = old
            try access.set(.head, row.key, nil)
        }
        try access.set(.head, RemoteView.headKey(remote, head), head.encoded)
        var intake = try PackIntake(of: signer, on: remote, listing: head.statement.packs, access)
        try intake.expect(head.statement.packs, since: known, &access)
        while intake.hasRoom(limit), let next = intake.unread.first, let pack = packs[next.reference.number] {
            try intake.take(pack, &access)
        }
        try intake.dropUnlisted(&access)
        try PushNotes.drop(on: remote, of: intake.changed, &access)
    }

    /// Takes more of the packs that are not read yet, as far as the limit of each member allows.
    ///
    /// - Returns: Whether it took any.
    func takeUnread<Files: RemoteFiles>(
        _ remote: RemoteRow, from files: Files, within limit: WaitingLimit, now: Int64
    ) throws -> Bool {
        let heads = try readSync { access throws(VaultError) in
            let signers = Set(try UnreadPack.all(access).filter { $0.remote == remote.id }.map(\.signer))
            return try signers.isEmpty ? [:] : RemoteView(remote, access).known.newest.filter { signers.contains($0.key) }
        }
        var isAny = false
        for (signer, head) in heads.sorted(by: { $0.key < $1.key }) {
            while let pack = try nextUnread(of: signer, head, remote, from: files, limit) {
                let isTaken = try editSync(now: now) { access throws(VaultError) in
                    var intake = try PackIntake(of: signer, on: remote.id, listing: head.statement.packs, access)
                    guard intake.unread.first?.reference.number == pack.number else { return false }
                    try intake.take(pack, &access)
                    try intake.dropUnlisted(&access)
                    try PushNotes.drop(on: remote.id, of: intake.changed, &access)
                    return true
                }
                guard isTaken else { break }
                isAny = true
            }
        }
        return isAny
    }

    private func nextUnread<Files: RemoteFiles>(
        of signer: UInt32, _ head: Head, _ remote: RemoteRow, from files: Files, _ limit: WaitingLimit
    ) throws -> Pack? {
        let next = try readSync { access throws(VaultError) in
            let intake = try PackIntake(of: signer, on: remote.id, listing: head.statement.packs, access)
            return intake.hasRoom(limit) ? intake.unread.first : nil
        }
        guard let next else { return nil }
        return try ReadPacks.pack(next.reference, of: signer, head.statement.vault, files)?.pack
    }
}
