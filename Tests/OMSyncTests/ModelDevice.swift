// One device of the model: its items, its count of edits, and how far it has read the chains of the others.

import OMItems
import OMParcels
import OMRecords
import OMSync
import OMSyncKeys

/// The rules of sync. A control switches one of them off, and must then fail.
struct ModelRules: OptionSet {
    let rawValue: Int
    /// A version that does not show is kept as a copy.
    static let copies = ModelRules(rawValue: 1)
    /// `seen` decides. Without it the newest clock does.
    static let causes = ModelRules(rawValue: 2)
    /// A level has no power over a stricter one.
    static let levels = ModelRules(rawValue: 4)
    /// No version names edits that its devices have not made.
    static let counts = ModelRules(rawValue: 8)
    /// A device that finds a later head of its own gets a new number.
    static let ownChain = ModelRules(rawValue: 16)
    static let all: ModelRules = [.copies, .causes, .levels, .counts, .ownChain]
}

/// A statement of one device: all parcels that it lists, its count, the heads of others that it read, and the members that it
/// knows to be removed.
struct ModelHead: Hashable {
    /// 1, and 1 more with each head of the device.
    let number: Int
    let count: UInt64
    let parcels: [[UInt8]: SyncedVersion]
    var others: [UInt32: Int] = [:]
    var removed: Set<UInt32> = []
}

struct ModelItems: SyncedItems {
    var versions: [[UInt8]: SyncedVersion] = [:]

    func version(of id: [UInt8]) -> SyncedVersion? { versions[id] }

    func liveItems(named name: ItemName) -> [[UInt8]] {
        versions.filter { $0.value.state == .live && $0.value.name == name }.map(\.key)
    }

    func isTaken(_ name: ItemName) -> Bool { false }

    func liveCopies(of origin: [UInt8]) -> [[UInt8]] {
        versions.filter { $0.value.state == .live && $0.value.origin == origin }.map(\.key)
    }
}

struct ModelDevice {
    static let link = linkKey([UInt8](repeating: 7, count: 32))

    var number: UInt32
    /// How far this device's clock is off, in seconds.
    var skew: Int64 = 0
    var isLocked = false
    var items = ModelItems()
    /// The highest count that it gave out.
    var issued: UInt64 = 0
    /// How many heads of each chain it has read, and the count in the last of them.
    var read: [UInt32: Int] = [:]
    var counts: [UInt32: UInt64] = [:]
    /// The versions that wait, by their signer.
    var waiting: [UInt32: [[UInt8]: SyncedVersion]] = [:]
    /// The versions that have no power over an item here, by their signer.
    var held: [UInt32: [[UInt8]: SyncedVersion]] = [:]
    /// The signers whose versions it does not take any more.
    var refused: Set<UInt32> = []
    /// What its newest head lists, the number of that head, and its count.
    var written: [[UInt8]: SyncedVersion] = [:]
    var signed = 0
    var signedCount: UInt64 = 0
    /// The next head, when it is on this disk and perhaps on the remote.
    var pending: ModelHead?
    /// The members that the roll has no more.
    var removed: Set<UInt32> = []
    /// What must never happen.
    var foundFault: String?

    mutating func issue() -> Dot {
        issued += 1
        return Dot(device: number, count: issued)
    }

    func isOpen(_ level: ProtectionLevel.Availability) -> Bool { !isLocked || level == .always }

    /// Applies what waits and is held, in groups: docs/formats/sync.md, "Applying".
    ///
    /// - Parameter groups: How many groups are written before a crash. Nil for all.
    mutating func apply(_ rules: ModelRules, groups: Int? = nil) {
        let arrived = [waiting, held].flatMap { kept in
            kept.flatMap { signer, versions in versions.map { ArrivedVersion(id: $0.key, signer: signer, $0.value) } }
        }.sorted { ($0.signer, $0.id).0 != ($1.signer, $1.id).0 ? $0.signer < $1.signer : $0.id.lexicographicallyPrecedes($1.id) }
        guard rules.contains(.causes) else { return takeNewest(arrived) }
        var plan = MergePlan(items, link: Self.link)
        let decisions = plan.take(arrived, by: arrivalRules(rules, arrived))
        if !isLocked {
            var next = issued
            plan.settle { [number] in
                next += 1
                return Dot(device: number, count: next)
            }
            issued = next
        }
        var written = Set(plan.changes.keys)
        if let groups { written = Set(plan.groups(of: 4).prefix(groups).joined()) }
        for (id, version) in plan.changes where written.contains(id) {
            // The control: without copies, nothing new comes beside an item that is here.
            guard rules.contains(.copies) || version.origin == nil || items.versions[id] != nil else { continue }
            items.versions[id] = version
            if !version.isSound { foundFault = "a merge makes a malformed version" }
        }
        for (row, decision) in zip(arrived, decisions) {
            switch decision {
            // A row goes in the transaction that writes its item.
            case .applies where !plan.isUsedUp(row, beside: plan.unwritten(behind: written)): break
            case .applies:
                waiting[row.signer]?[row.id] = nil
                held[row.signer]?[row.id] = nil
            case .waits:
                held[row.signer]?[row.id] = nil
                waiting[row.signer, default: [:]][row.id] = row.version
            case .isHeld:
                waiting[row.signer]?[row.id] = nil
                held[row.signer, default: [:]][row.id] = row.version
            case .isForged: refuse(row.signer)
            case .isMalformed: foundFault = "a version is malformed"
            }
        }
    }

    mutating func refuse(_ signer: UInt32) {
        refused.insert(signer)
        waiting[signer] = nil
    }

    private func arrivalRules(_ rules: ModelRules, _ arrived: [ArrivedVersion]) -> ArrivalRules {
        let every = arrived.flatMap { $0.version.seen.dots.map { ($0.device, UInt64.max) } }
        return ArrivalRules(
            device: number, issued: rules.contains(.counts) ? issued : .max,
            counts: rules.contains(.counts) ? counts : Dictionary(every) { first, _ in first },
            openLevels: isLocked ? [.always] : Set(ProtectionLevel.Availability.allCases))
    }

    /// The control: the newest clock decides.
    private mutating func takeNewest(_ arrived: [ArrivedVersion]) {
        for row in arrived {
            waiting[row.signer]?[row.id] = nil
            guard items.versions[row.id].map({ ($0.time, $0.dot) < (row.version.time, row.version.dot) }) ?? true else {
                continue
            }
            items.versions[row.id] = row.version
        }
    }

    /// The next head: what another device has to learn from this one.
    ///
    /// - Parameter others: The parcels of the other members, as far as this device read them.
    func nextHead(beside others: [UInt32: [[UInt8]: SyncedVersion]]) -> ModelHead {
        var parcels = written
        for (id, version) in items.versions where isOpen(version.level) {
            let isListed = others.values.contains { $0[id] == version }
            let own = parcels[id].map { (seen: $0.seen, isSame: $0 == version) }
            if PushRule.mustBeWritten(version.seen, over: own, isListed: isListed) { parcels[id] = version }
        }
        return ModelHead(number: signed + 1, count: issued, parcels: parcels, others: read, removed: removed)
    }

    /// The own head is on the remote, and is noted here.
    mutating func note(_ head: ModelHead) {
        (written, signed, signedCount, pending) = (head.parcels, head.number, head.count, nil)
    }

    /// Goes on under a new number, behind a disk that was put back.
    mutating func rejoin(as new: UInt32) {
        let (old, limit) = (number, signedCount)
        let later = Set(items.versions.values.flatMap { $0.counts(of: old, above: limit) })
        (number, issued) = (new, 0)
        let renamed = Dictionary(uniqueKeysWithValues: later.sorted().map { ($0, issue()) })
        items.versions = items.versions.mapValues { $0.renaming(old, above: limit, to: renamed) }
        counts[old] = max(counts[old] ?? 0, limit)
        removed.insert(old)
        (written, signed, signedCount, pending) = ([:], 0, 0, nil)
    }
}
