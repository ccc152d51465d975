// Changes of other devices that wait for the user. Format: docs/formats/sync.md, "Brake".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMVault

/// Counts what a plan removes, changes and revives.
///
/// Attack: a member, or a thief of one, removes or overwrites everything. Without the brake all devices would follow at once.
struct Brake {
    private static let least = 20
    private static let window: Int64 = 86_400

    /// Removals since the user last agreed.
    private var removed: Int
    /// For each device, its changes of values in the present 24 hours: when they began, and how many.
    private var changed: [UInt32: (since: Int64, count: Int)] = [:]

    init(_ access: borrowing SyncAccess) throws(VaultError) {
        removed = 0
        for row in try access.rows(.brake) {
            var (key, body) = (ByteCursor(), ByteCursor())
            do {
                let device: UInt32 = try key.number(in: row.key.span)
                let since: Int64 = try body.number(in: row.body.span)
                let count = Int(try body.number(UInt32.self, in: row.body.span))
                if device == 0 { removed = count } else { changed[device] = (since, count) }
            } catch { throw .corrupt(.sync) }
        }
    }

    /// The items whose changes wait for the user.
    ///
    /// - Parameters:
    ///   - decisions: What becomes of each arrived version.
    ///   - plan: Made of those that apply.
    func held(
        _ reading: Arrivals, _ decisions: [ArrivalRules.Decision], in plan: MergePlan<LocalItems>, at now: Int64
    ) -> Set<[UInt8]> {
        let limit = max(Self.least, plan.liveCount / 4)
        let agreed = reading.agreed
        let (gone, revived) = (plan.removed.subtracting(agreed), plan.revived.subtracting(agreed))
        var held: Set<[UInt8]> = removed + gone.count > limit ? gone : []
        if revived.count > Self.least { held.formUnion(revived) }
        for (device, ids) in Self.changes(reading, decisions, in: plan) where count(of: device, at: now) + ids.count > limit {
            held.formUnion(ids)
        }
        let refused = Self.refused(reading, decisions)
        for (arrival, decision) in zip(reading.arrived, decisions) where decision == .applies {
            if refused[arrival.key.signer, default: 0] > Self.least { held.insert(arrival.key.id) }
        }
        return held
    }

    /// For each signer the number of its parcels that are held or unreadable.
    ///
    /// Attack: a member, or a thief of one, tries many versions. What he has power over must not slip through beside them.
    private static func refused(_ reading: Arrivals, _ decisions: [ArrivalRules.Decision]) -> [UInt32: Int] {
        // While a level is closed, its parcels are all unreadable.
        guard reading.rules.isAllOpen else { return [:] }
        var refused = reading.refused.mapValues(\.count)
        for (arrival, decision) in zip(reading.arrived, decisions) where decision == .isHeld {
            refused[arrival.key.signer, default: 0] += 1
        }
        return refused
    }

    /// The counts behind a plan. They begin again when the user agreed, and nothing waits for him any more.
    ///
    /// - Parameter plan: Before it is settled: the edits of this device do not count.
    func noting(_ reading: Arrivals, _ made: BrakedPlan, at now: Int64) -> Brake {
        var next = self
        let agreed = reading.agreed
        guard agreed.isEmpty || !made.braked.isEmpty else {
            (next.removed, next.changed) = (0, [:])
            return next
        }
        next.removed += made.plan.removed.subtracting(agreed).count
        for (device, ids) in Self.changes(reading, made.decisions, in: made.plan) {
            let before = count(of: device, at: now)
            next.changed[device] = (before == 0 ? now : changed[device]?.since ?? now, before + ids.count)
        }
        return next
    }

    func save(_ access: inout SyncAccess) throws(VaultError) {
        for row in try access.rows(.brake) { try access.set(.brake, row.key, nil) }
        try access.set(.brake, Self.key(0), Self.body(0, removed))
        for (device, change) in changed { try access.set(.brake, Self.key(device), Self.body(change.since, change.count)) }
    }

    private func count(of device: UInt32, at now: Int64) -> Int {
        guard let change = changed[device], now >= change.since, now - change.since < Self.window else { return 0 }
        return change.count
    }

    /// Of each device the items whose values it changes, and to which the user has not agreed.
    private static func changes(
        _ reading: Arrivals, _ decisions: [ArrivalRules.Decision], in plan: MergePlan<LocalItems>
    ) -> [UInt32: Set<[UInt8]>] {
        let agreed = reading.agreed
        var changes: [UInt32: Set<[UInt8]>] = [:]
        for (arrival, decision) in zip(reading.arrived, decisions) where decision == .applies {
            let id = arrival.key.id
            if !agreed.contains(id), plan.isNewValue(of: id) { changes[arrival.key.signer, default: []].insert(id) }
        }
        return changes
    }

    private static func key(_ device: UInt32) -> [UInt8] {
        var key: [UInt8] = []
        key.append(number: device)
        return key
    }

    private static func body(_ since: Int64, _ count: Int) -> [UInt8] {
        var body: [UInt8] = []
        body.append(number: since)
        body.append(number: UInt32(clamping: count))
        return body
    }
}

extension Arrivals {
    /// The items to whose changes the user agreed.
    fileprivate var agreed: Set<[UInt8]> { Set(arrived.filter { $0.parcel.mark == .isAgreed }.map(\.key.id)) }
}

extension MergePlan<LocalItems> {
    /// The number of live items here.
    var liveCount: Int { items.entries.values.count { $0.version.state == .live } }

    private func changes(_ isWanted: (SyncedVersion, SyncedVersion) -> Bool) -> Set<[UInt8]> {
        Set(changes.filter { id, new in items.version(of: id).map { isWanted($0, new) } ?? false }.keys)
    }

    fileprivate var removed: Set<[UInt8]> { changes { $0.state == .live && $1.state != .live } }
    fileprivate var revived: Set<[UInt8]> { changes { $0.state != .live && $1.state == .live } }

    fileprivate func isNewValue(of id: [UInt8]) -> Bool {
        guard let new = changes[id], let old = items.version(of: id), old.state == .live else { return false }
        return new.fields != old.fields
    }
}
