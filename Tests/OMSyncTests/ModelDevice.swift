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

/// A statement of one device: all parcels that it lists, and its count.
struct ModelHead {
    let count: UInt64
    let parcels: [[UInt8]: SyncedVersion]
}

struct ModelItems: SyncedItems {
    var versions: [[UInt8]: SyncedVersion] = [:]

    func version(of id: [UInt8]) -> SyncedVersion? { versions[id] }

    func liveItems(named name: ItemName) -> [[UInt8]] {
        versions.filter { $0.value.state == .live && $0.value.name == name }.map(\.key)
    }

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
    /// What must never happen.
    var foundFault: String?

    mutating func issue() -> Dot {
        issued += 1
        return Dot(device: number, count: issued)
    }

    func isOpen(_ level: ProtectionLevel.Availability) -> Bool { !isLocked || level == .always }

    /// Takes one version that arrived.
    mutating func take(_ version: SyncedVersion, of id: [UInt8], from signer: UInt32, rules: ModelRules) {
        guard !refused.contains(signer) else { return }
        let here = items.versions[id]
        let arrival = ArrivalRules(
            device: number, issued: rules.contains(.counts) ? issued : .max,
            counts: rules.contains(.counts)
                ? counts : Dictionary(uniqueKeysWithValues: version.seen.dots.map { ($0.device, .max) }),
            openLevels: isLocked ? [.always] : Set(ProtectionLevel.Availability.allCases))
        waiting[signer]?[id] = nil
        held[signer]?[id] = nil
        switch arrival.decision(on: version, of: id, here: here) {
        case .applies: break
        case .waits:
            waiting[signer, default: [:]][id] = version
            return
        case .isHeld:
            held[signer, default: [:]][id] = version
            return
        case .isForged:
            refused.insert(signer)
            waiting[signer] = nil
            return
        case .isMalformed:
            foundFault = "a version is malformed"
            return
        }
        guard rules.contains(.causes) else {
            if here.map({ ($0.time, $0.dot) < (version.time, version.dot) }) ?? true { items.versions[id] = version }
            return
        }
        if let here, Merge(of: id, here, version) != Merge(of: id, version, here) {
            foundFault = "a merge depends on the order of its inputs"
        }
        var plan = MergePlan(items, link: Self.link)
        plan.take(version, of: id)
        if !isLocked {
            var next = issued
            plan.settle { [number] in
                next += 1
                return Dot(device: number, count: next)
            }
            issued = next
        }
        for (changed, version) in plan.changes where rules.contains(.copies) || changed == id || items.versions[changed] != nil {
            items.versions[changed] = version
            if !version.isSound { foundFault = "a merge makes a malformed version" }
        }
    }

    /// Puts into the own parcels what another device has to learn from this one.
    ///
    /// - Parameter others: The parcels of the others, as far as this device read them.
    mutating func write(beside others: [[[UInt8]: SyncedVersion]]) {
        for (id, version) in items.versions where isOpen(version.level) && !waiting.values.contains(where: { $0[id] != nil }) {
            guard version.mustBeWritten(over: written[id], isListed: others.contains { $0[id] == version }) else { continue }
            written[id] = version
        }
        signed += 1
        signedCount = issued
    }

    /// Goes on under a new number, behind a disk that was put back.
    mutating func rejoin(as new: UInt32) {
        let (old, limit) = (number, signedCount)
        let later = Set(items.versions.values.flatMap { $0.counts(of: old, above: limit) })
        (number, issued) = (new, 0)
        let renamed = Dictionary(uniqueKeysWithValues: later.sorted().map { ($0, issue()) })
        items.versions = items.versions.mapValues { $0.renaming(old, above: limit, to: renamed) }
        counts[old] = max(counts[old] ?? 0, limit)
        read[old] = 0
        (written, signed, signedCount) = ([:], 0, 0)
    }
}
