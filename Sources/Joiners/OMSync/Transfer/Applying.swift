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
    package func applyArrived(now: Int64) throws(VaultError) -> PullReport {
        var report = PullReport()
        let reading = try readSync { access throws(VaultError) in try Arrivals(self, access) }
        guard !reading.arrived.isEmpty else {
            report.waiting = reading.unread
            return report
        }
        var plan = MergePlan(reading.items, link: reading.link ?? .random())
        let decisions = plan.take(reading.arrived.map(\.version), by: reading.rules)
        if reading.rules.isAllOpen {
            // The dots are given out before they are used: a crash between costs counts, and gives none twice.
            plan = try settle(plan, reading.own, now: now)
        }
        for decision in decisions {
            switch decision {
            case .applies: break
            case .isHeld: report.held += 1
            default: report.waiting += 1
            }
        }
        report.waiting += reading.unread
        var written: Set<[UInt8]> = []
        for group in plan.groups(of: Self.groupCount) {
            let isWritten = try editSync(now: now) { access throws(VaultError) in
                try reading.write(group, of: plan, self, &access)
            }
            guard isWritten else { continue }
            written.formUnion(group)
            report.written += group.count
        }
        let done = written
        try editSync(now: now) { access throws(VaultError) in
            for (arrival, decision) in zip(reading.arrived, decisions) where decision == .applies {
                guard plan.isUsedUp(arrival.version, by: done) else { continue }
                guard let body = try access.row(.arrived, arrival.key.encoded), body == arrival.parcel.encoded else { continue }
                var parcel = arrival.parcel
                parcel.state = .isApplied(ListedVersion(arrival.version.version))
                try access.set(.arrived, arrival.key.encoded, parcel.encoded)
                // Other members may list the same chunks: theirs wait until they list them no more.
                for id in arrival.chunks {
                    let key = ArrivedParcel.Key(remote: arrival.key.remote, signer: arrival.key.signer, id: id)
                    guard var chunk = try ArrivedParcel(key, access) else { continue }
                    chunk.state = .isApplied(nil)
                    try access.set(.arrived, key.encoded, chunk.encoded)
                }
            }
        }
        return report
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
