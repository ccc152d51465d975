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
        _ remote: RemoteRow, from files: Files, now: Int64
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
                try PushNotes.drop(on: nil, of: nil, &access)
            }
            try RollQuestion.keep(news.roll, &access)
            if let own = access.own {
                let scope = MemberKeys.Scope(vault: access.vault, salt: own.salt)
                try takeLanes(of: news.roll.roll, scope, own.device, &access)
            }
            try VouchedCounts(contents, news.roll.roll).keep(&access)
            for head in accepted { try note(head, packs.packs(of: head), on: remote.id, &access) }
        }
        return report
    }

    /// Notes a head of another device, and keeps the parcels that it lists and this device has not merged.
    func note(
        _ head: Head, _ packs: [Pack], on remote: UInt8, _ access: inout SyncAccess
    ) throws(VaultError) {
        let signer = head.statement.device
        for row in try access.rows(.head) where row.key.first == remote {
            guard let old = try? Head(decoding: row.body), old.statement.device == signer else { continue }
            // Another process has read more meanwhile.
            guard old.statement.number < head.statement.number else { return }
            try access.set(.head, row.key, nil)
        }
        try access.set(.head, RemoteView.headKey(remote, head), head.encoded)
        let listed = Set(head.statement.packs.map(\.number))
        var newest: [[UInt8]: (pack: UInt64, parcel: Parcel)] = [:]
        for pack in packs.sorted(by: { $0.number < $1.number }) {
            for parcel in pack.parcels { newest[parcel.header.id] = (pack.number, parcel) }
        }
        var changed = Set(newest.keys)
        for (key, old) in try ArrivedParcel.all(access) where key.remote == remote && key.signer == signer {
            guard let new = newest[key.id] else {
                // The signer lists it no more: another device has a version that includes it.
                if !listed.contains(old.pack) {
                    try access.set(.arrived, key.encoded, nil)
                    changed.insert(key.id)
                }
                continue
            }
            if new.pack <= old.pack && listed.contains(old.pack) {
                newest[key.id] = nil
            } else if new.parcel.digest == old.digest {
                var moved = old
                moved.pack = new.pack
                try access.set(.arrived, key.encoded, moved.encoded)
                newest[key.id] = nil
            }
        }
        for (id, new) in newest {
            let key = ArrivedParcel.Key(remote: remote, signer: signer, id: id)
            try access.set(.arrived, key.encoded, ArrivedParcel(new.parcel, pack: new.pack).encoded)
        }
        try PushNotes.drop(on: remote, of: changed, &access)
    }
}
