// Writing to a remote: the steps U1 to U3. Format: docs/formats/sync.md, "Push and pull".

package import OMItems
package import OMParcels
package import OMRecords
internal import OMSecrets
internal import OMSyncKeys
package import OMVault

extension Vault {
    /// At most so many versions and bytes in one push.
    private static var maximumParcels: Int { 256 }
    private static var maximumBytes: Int { 3 << 20 }

    /// Writes what this device changed to a remote, up to 256 versions. First it writes the entries of the roll that the remote
    /// lacks, and finishes a push that was interrupted.
    ///
    /// - Parameter now: In seconds since 1970.
    /// - Throws: ``VaultError``, and the errors of the files.
    package func push<Store: RemoteStore>(_ remote: UInt8, to store: Store, now: Int64) throws -> PushReport {
        // Accident: a server forgot an entry, and then refuses the head of an interrupted push, which names it.
        try writeRoll(to: store)
        try finishPush(remote, to: store, now: now)
        let prepared = try preparePush(remote, store, now: now)
        guard prepared.isPending else { return prepared.report }
        var report = prepared.report
        report.bytes = try finishPush(remote, to: store, now: now)
        return report
    }

    /// Writes the entries of the roll that the remote lacks. Each has a name of its own, so nothing is replaced.
    private func writeRoll<Store: RemoteStore>(to store: Store) throws {
        let roll = try roll()
        let there = Set(try store.files())
        for (entry, digest) in zip(roll.entries, roll.digests) where entry.contents.number > 0 {
            let file = RemoteFile.entry(number: entry.contents.number, digest: digest)
            if !there.contains(file) { try store.write(entry.encoded, to: file) }
        }
    }

    // MARK: - U1

    private func preparePush<Store: RemoteStore>(
        _ remote: UInt8, _ store: Store, now: Int64
    ) throws -> (report: PushReport, isPending: Bool) {
        // Own packs that are joined are read before the transaction, which must not wait for a share.
        let (joins, listed, device, vault): (PackPlan, [Head.PackReference], UInt32, [UInt8]) = try readSync {
            access throws(VaultError) in
            let row = try RemoteRow.all(access).first { $0.id == remote }
            return (try OwnPacks(remote, access).plan, row?.packs ?? [], access.own?.device ?? 0, access.vault)
        }
        var old: [UInt64: Pack] = [:]
        for number in joins.joins.joined() {
            // Attack: someone who can write the folder puts other parcels into a pack of this device, which would sign them.
            guard let reference = listed.first(where: { $0.number == number }),
                let pack = try ReadPacks.pack(reference, of: device, vault, store)?.pack
            else { continue }
            old[number] = pack
        }
        let lost = PushRule.lost(listed, of: device, on: Set(try store.files()))
        return try editSync(now: now) { access throws(VaultError) in
            guard var row = try RemoteRow.all(access).first(where: { $0.id == remote }), let own = access.own else {
                throw .corrupt(.sync)
            }
            // Attack, or accident: two processes push at the same time. A device signs one head of each number.
            guard try access.row(.push, RemoteView.pendingKey(remote)) == nil else {
                var report = PushReport()
                report.hasMore = true
                return (report, true)
            }
            try access.checkRows()
            // Accident: a file of this device was deleted. A new device would wait for it for ever. Its parcels are sealed again.
            try OwnPacks.drop(lost, of: &row, &access)
            var push = try PushDraft(to: row, of: own, self, access)
            try push.chooseParcels(&access, most: (Self.maximumParcels, Self.maximumBytes))
            try push.join(joins, old, &access)
            guard push.needsHead(at: now) else { return (push.report, false) }
            try push.finish(self, &access, now: now)
            return (push.report, true)
        }
    }

    // MARK: - U2 and U3

    /// Writes the files that are committed here, and notes the head. Twice changes nothing: they are the same bytes.
    ///
    /// - Returns: The number of bytes written.
    @discardableResult
    private func finishPush<Store: RemoteStore>(_ remote: UInt8, to store: Store, now: Int64) throws -> Int {
        let pending = try readSync { access throws(VaultError) in
            (try access.rows(.push).filter { $0.key.first == remote }, try access.row(.push, RemoteView.pendingKey(remote)))
        }
        guard let body = pending.1, let head = try? Head(decoding: body) else { return 0 }
        let said = head.statement
        var bytes = 0
        for row in pending.0 where row.key != RemoteView.pendingKey(remote) {
            let number = row.key.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            try store.write(row.body, to: .pack(device: said.device, number: number))
            bytes += row.body.count
        }
        // The two files are written in turn: a torn one leaves the other.
        try store.write(body, to: .head(device: said.device, isSecond: said.number % 2 == 0))
        bytes += body.count
        try editSync(now: now) { access throws(VaultError) in
            guard var row = try RemoteRow.all(access).first(where: { $0.id == remote }),
                try access.row(.push, RemoteView.pendingKey(remote)) == body,
                var chain = OwnHeads(of: said.device, row.ownHeads)
            else { return }
            chain.append(head)
            row.ownHeads = chain.references
            row.packs = said.packs
            row.lastPack = max(row.lastPack, said.packs.map(\.number).max() ?? 0)
            try row.save(&access)
            try access.set(.head, RemoteView.headKey(remote, head), body)
            for pending in pending.0 { try access.set(.push, pending.key, nil) }
        }
        try writeWalks(remote, to: store, now: now)
        let listed = Set(said.packs.map(\.number))
        // No other push of this device is under way: one exchange holds the lock.
        for file in try store.files() {
            guard case .pack(said.device, let number) = file, !listed.contains(number) else { continue }
            try store.remove(file)
        }
        return bytes
    }

    /// The newest heads of devices that have older ones or none on a remote, and those of former members: a device that reads it
    /// only would wait for them for ever.
    ///
    /// Attack: a removed device writes further heads. They do not count, but the last one that does is not on the remote any more.
    ///
    /// Accident: the server forgot the last head of a device, which then got another number.
    private static func headsOfOthers(
        than view: RemoteView, _ access: borrowing SyncAccess
    ) throws(VaultError) -> [Head] {
        let roll = try DeviceRoll(access).roll
        let kept = try KeptHeads.all(access).filter { $0.key != view.known.device && roll.formerOrPresent($0.key) != nil }
        var newest = kept.filter { $0.value.statement.count > view.known.newest[$0.key]?.statement.count ?? 0 }
        for (device, head) in view.known.newest
        where device != view.known.device && roll.members[device] == nil && roll.formerOrPresent(device) != nil {
            if newest[device] == nil { newest[device] = head }
        }
        for remote in try RemoteRow.all(access) where remote.id != view.remote.id {
            for (device, head) in try RemoteView(remote, access).known.newest
            where device != view.known.device && roll.formerOrPresent(device) != nil {
                let there = view.known.newest[device]?.statement.count ?? 0
                if head.statement.count > max(there, newest[device]?.statement.count ?? 0) { newest[device] = head }
            }
        }
        return Array(newest.values)
    }

    /// Writes the own heads that others need for their walks, those of members that have none here, and forgets own ones that no
    /// one needs.
    private func writeWalks<Store: RemoteStore>(_ remote: UInt8, to store: Store, now: Int64) throws {
        let (list, device): (HeadList, UInt32) = try editSync(now: now) { access throws(VaultError) in
            guard let row = try RemoteRow.all(access).first(where: { $0.id == remote }), let own = access.own else {
                throw .corrupt(.sync)
            }
            let view = try RemoteView(row, access)
            let numbers = Set(view.known.numbersForWalks(try DeviceRoll(access).roll))
            let newest = view.known.newest[own.device]?.statement.number ?? 0
            var needed: [Head] = []
            for row in try access.rows(.head) where row.key.first == remote {
                guard let head = try? Head(decoding: row.body), head.statement.device == own.device else { continue }
                let number = head.statement.number
                if numbers.contains(number) {
                    needed.append(head)
                } else if number + 1 < newest {
                    try access.set(.head, row.key, nil)
                }
            }
            let others = try Self.headsOfOthers(than: view, access)
            return (HeadList(vault: access.vault, own: needed, others: others), own.device)
        }
        guard !list.heads.isEmpty else { return }
        try store.write(list.encoded, to: .heads(device: device))
    }
}
