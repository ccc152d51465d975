// Merging what arrived: the step D5. Format: docs/formats/sync.md, "Applying".

package import OMItems
package import OMParcels
internal import OMRecords
internal import OMSyncKeys
package import OMVault

extension Vault {
    /// A group has at most so many items, unless items that belong together are more.
    private static var groupCount: Int { 64 }

    /// Merges the versions that arrived from all remotes, as far as the rules allow, and writes the result in groups.
    ///
    /// A group whose items were edited meanwhile is left for the next call.
    ///
    /// What the brake holds stays until the user settles it: ``settle(_:_:now:)``.
    package func applyArrived(now: Int64) throws(VaultError) -> PullReport {
        var report = PullReport()
        let reading = try readSync { access throws(VaultError) in try Arrivals(self, access) }
        let refused = reading.refused.values.joined()
        report.waiting = reading.late.count
        report.unreadable = refused.count { $0.reason == .isUnreadable }
        report.malformed = refused.count { $0.reason == .isMalformed }
        guard !reading.isEmpty else { return report }
        let made = BrakedPlan(reading, at: now)
        var plan = made.plan
        let decisions = made.decisions
        report.braked = Set(made.braked.map { reading.arrived[$0].key.id }).count
        let brake = reading.brake.noting(reading, made, at: now)
        if reading.rules.isAllOpen {
            // The dots are given out before they are used: a crash between costs counts, and gives none twice.
            plan = try settle(plan, reading.own, now: now)
        }
        // A removed member stops nothing any more.
        for (arrival, decision) in zip(reading.arrived, decisions) where decision == .isForged {
            if reading.members.contains(arrival.key.signer) {
                report.forgers[arrival.key.remote, default: []].insert(arrival.key.signer)
            }
        }
        report.held = decisions.count { $0 == .isHeld }
        report.malformed += decisions.count { $0 == .isMalformed }
        report.waiting += decisions.count { $0 == .waits } - made.braked.count
        let written = try write(reading, plan, now: now)
        report.written = written.count
        let rest = plan.unwritten(behind: written)
        try editSync(now: now) { access throws(VaultError) in
            for (arrival, decision) in zip(reading.arrived, decisions) where decision == .applies {
                if plan.isUsedUp(arrival.version, beside: rest) { try Self.useUp(arrival, reading.chunks, &access) }
            }
            if reading.rules.isAllOpen { try Self.dropRemoved(reading, decisions, &access) }
            // They wait until the user settles them.
            for index in made.braked {
                try reading.arrived[index].parcel.setMark(.isBraked, at: reading.arrived[index].key, &access)
            }
            try brake.save(&access)
        }
        return report
    }

    /// - Returns: The ids of the items that were written.
    func write(
        _ reading: Arrivals, _ plan: MergePlan<LocalItems>, now: Int64
    ) throws(VaultError) -> Set<[UInt8]> {
        var written: Set<[UInt8]> = []
        var expected = reading.generations
        var groups = plan.groups(of: Self.groupCount)[...]
        while let group = groups.popFirst() {
            do throws(VaultError) {
                let touched: Set<ProtectionLevel>? = try editSync(now: now) { access throws(VaultError) in
                    // The user has changed an item since the plan was made.
                    guard access.generations == expected else { return nil }
                    return try reading.write(group, of: plan, now: now, &access)
                }
                guard let touched else { return written }
                for level in touched { expected[level, default: 0] += 1 }
                written.formUnion(group)
            } catch {
                // Attack: a member lists an item that cannot be written. It must not keep the others back.
                guard error.isDamage else { throw error }
                let items = Set(group)
                let parts = plan.groups(of: 1).filter { items.isSuperset(of: $0) }
                if parts.count > 1 { groups = parts + groups }
            }
        }
        return written
    }

    /// Forgets what removed devices list and no plan takes.
    ///
    /// Attack: a thief fills this device with parcels that never apply. Behind his removal they must go.
    ///
    /// Attack: the user removes the thief because of what the brake shows. His changes must not stay, and be applied later
    /// because the counts begin again.
    private static func dropRemoved(
        _ reading: Arrivals, _ decisions: [ArrivalRules.Decision], _ access: inout SyncAccess
    ) throws(VaultError) {
        let unread = Set(try UnreadPack.all(access).map(\.signer))
        func isGone(_ key: ArrivedParcel.Key) -> Bool { !reading.members.contains(key.signer) && !unread.contains(key.signer) }
        for (arrival, decision) in zip(reading.arrived, decisions) where decision != .applies && isGone(arrival.key) {
            try arrival.parcel.drop(at: arrival.key, &access)
        }
        for (key, parcel) in reading.late where isGone(key) { try parcel.drop(at: key, &access) }
        for (key, parcel, _) in reading.refused.values.joined() where isGone(key) { try parcel.drop(at: key, &access) }
        let used = Set(reading.arrived.flatMap(\.chunks))
        for (key, chunk) in reading.chunks.rows where isGone(key) && !used.contains(key.id) { try chunk.drop(at: key, &access) }
    }

    /// Keeps of a parcel that was merged, and of its chunks, only what a push must know.
    static func useUp(
        _ arrival: Arrivals.Arrival, _ chunks: ArrivedChunks, _ access: inout SyncAccess
    ) throws(VaultError) {
        let version = ListedVersion(arrival.version.version)
        guard try arrival.parcel.useUp(as: version, at: arrival.key, &access) else { return }
        // Other members may list the same chunks: theirs wait until they list them no more.
        for id in arrival.chunks {
            let key = ArrivedParcel.Key(remote: arrival.key.remote, signer: arrival.key.signer, id: id)
            try chunks.rows[key]?.useUp(as: nil, at: key, &access)
        }
    }

    private func settle(
        _ plan: MergePlan<LocalItems>, _ own: SyncSelf, now: Int64
    ) throws(VaultError) -> MergePlan<LocalItems> {
        var trial = plan
        var count: UInt64 = 0
        trial.settle {
            count += 1
            return Dot(device: own.device, count: own.issued + count)
        }
        guard count > 0 else { return trial }
        let dots = try editSync(now: now) { access throws(VaultError) in
            var dots: [Dot] = []
            for _ in 0..<count { dots.append(try access.nextDot()) }
            return dots
        }
        var next = dots.makeIterator()
        var settled = plan
        settled.settle { next.next() ?? dots[dots.count - 1] }
        return settled
    }
}
