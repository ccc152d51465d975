// The plan for what arrived, without what the brake holds. Format: docs/formats/sync.md, "Brake".

internal import OMParcels
internal import OMSyncKeys

/// A plan that is not settled yet.
struct BrakedPlan {
    private(set) var plan: MergePlan<LocalItems>
    /// What becomes of each version that arrived.
    private(set) var decisions: [ArrivalRules.Decision]
    /// The positions of those that wait for the user.
    let braked: Set<Int>

    init(_ reading: Arrivals, at now: Int64) {
        let link = reading.link ?? .random()
        let versions = reading.arrived.map(\.version)
        plan = MergePlan(reading.items, link: link)
        decisions = plan.take(versions, by: reading.rules)
        let held = reading.brake.held(reading, decisions, in: plan, at: now)
        var braked: Set<Int> = []
        for (index, arrival) in reading.arrived.enumerated() where decisions[index] == .applies {
            let version = arrival.version
            // The item here includes it: nothing changes, and the user has settled it.
            if let here = reading.items.version(of: version.id), here.seen.includes(version.version.seen) { continue }
            switch arrival.parcel.mark {
            case .isAgreed: break
            // What was held once stays held, whatever the counts are now: the user has not seen it.
            case .isBraked: braked.insert(index)
            case .none: if held.contains(version.id) { braked.insert(index) }
            }
        }
        self.braked = braked
        guard !braked.isEmpty else { return }
        plan = MergePlan(reading.items, link: link)
        let rest = versions.indices.filter { !braked.contains($0) }
        let found = plan.take(rest.map { versions[$0] }, by: reading.rules)
        for index in braked { decisions[index] = .waits }
        for (index, decision) in zip(rest, found) { decisions[index] = decision }
    }
}
