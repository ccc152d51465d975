// Random lives of several devices that share one folder. Format: docs/formats/sync.md.

import OMItems
import OMParcels
import OMRecords
import OMSync

/// Random numbers that a seed decides (SplitMix64).
struct ModelRandom: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}

struct SyncModel {
    enum Adversary: CaseIterable {
        case none
        /// The thief of a locked laptop: its head key, and the lane of `always`.
        case thief
        /// A member that claims edits which other devices have not made.
        case liar
        /// Disks that are put back from a copy.
        case snapshot
    }

    var random: ModelRandom
    let rules: ModelRules
    let adversary: Adversary
    var devices: [ModelDevice] = []
    /// All heads of each chain, oldest first.
    var chains: [UInt32: [ModelHead]] = [:]
    var now: Int64 = 1000
    var nextToken: UInt64 = 1
    var nextNumber: UInt32 = 100
    var nextItem: UInt64 = 1
    /// The values that a user replaced or removed, and saw.
    var replaced: Set<[UInt8]> = []
    /// The values that users stored, each with the least strict level at which its owner lets it be read.
    var allowed: [[UInt8]: ProtectionLevel.Availability] = [:]
    /// The values that a user moved to the trash.
    var trashed: Set<[UInt8]> = []
    var problems: [String] = []
    var snapshots: [Int: ModelDevice] = [:]

    init(seed: UInt64, rules: ModelRules = .all, adversary: Adversary = .none) {
        random = ModelRandom(state: seed)
        (self.rules, self.adversary) = (rules, adversary)
        for _ in 0..<(2 + random.below(4)) {
            var device = ModelDevice(number: nextNumber)
            nextNumber += 1
            device.skew = random.chance(20) ? Int64(random.below(2_000_000)) - 1_000_000 : 0
            devices.append(device)
        }
    }

    static let names = ["mail", "db", "bank"].map { ItemName(checked: $0) }
    static let fieldNames = ["password", "note"].map { FieldName(checked: $0) }

    /// A new value, of a user or of the adversary (nil).
    mutating func token(_ level: ProtectionLevel.Availability?) -> SyncedVersion.Field {
        var bytes: [UInt8] = []
        bytes.append(number: nextToken)
        bytes += [UInt8](repeating: 0, count: 24)
        nextToken += 1
        if let level { allowed[bytes] = level }
        return SyncedVersion.Field(digest: bytes, isShown: false)
    }

    // MARK: - Users

    mutating func act(_ index: Int) {
        now += Int64(random.below(3))
        var device = devices[index]
        defer { devices[index] = device }
        let time = now + device.skew
        let mine = device.items.versions.filter { device.isOpen($0.value.level) && $0.value.state != .purged }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        if mine.isEmpty || random.chance(15) {
            let level = device.isLocked ? .always : ProtectionLevel.Availability.allCases[random.below(3)]
            let name = Self.names[random.below(Self.names.count)]
            guard device.items.liveItems(named: name).isEmpty else { return }
            var id: [UInt8] = []
            id.append(number: random.next())
            id.append(number: nextItem)
            nextItem += 1
            let dot = device.issue()
            var seen = Seen()
            seen.insert(dot)
            device.items.versions[id] = SyncedVersion(
                seen: seen, dot: dot, time: time, created: time, level: level, name: name,
                fields: [Self.fieldNames[0]: token(level)])
            return
        }
        var (id, version) = mine[random.below(mine.count)]
        var newLevel: ProtectionLevel.Availability?
        switch random.below(10) {
        case 0 where version.state == .live:
            for field in version.fields.values { trashed.insert(field.digest) }
            version.state = .trashed
        case 0, 1:
            guard version.state == .trashed else { fallthrough }
            guard let name = version.name, device.items.liveItems(named: name).isEmpty else { return }
            version.state = .live
        case 2:
            for field in version.fields.values { replaced.insert(field.digest) }
            version.state = .purged
            version.name = nil
            version.details = ItemDetails()
            version.fields = [:]
        case 3 where !device.isLocked:
            let level = ProtectionLevel.Availability.allCases[random.below(3)]
            guard level != version.level else { return }
            for value in version.fields.values { allowed[value.digest] = allowed[value.digest].map { min($0, level) } }
            newLevel = level
        case 4 where version.state == .live:
            let name = Self.names[random.below(Self.names.count)]
            guard device.items.liveItems(named: name).isEmpty else { return }
            version.name = name
        case 5 where version.state == .live:
            guard let old = version.fields.removeValue(forKey: Self.fieldNames[1]) else { return }
            replaced.insert(old.digest)
        default:
            guard version.state == .live else { return }
            let name = Self.fieldNames[random.below(2)]
            if let old = version.fields[name] { replaced.insert(old.digest) }
            version.fields[name] = token(version.level)
        }
        version.time = time
        version.dot = device.issue()
        version.seen.insert(version.dot)
        if let newLevel { version.setLevel(newLevel) }
        device.items.versions[id] = version
    }

    // MARK: - The folder

    /// A device writes its parcels and a new head.
    mutating func push(_ index: Int) {
        lookForClone(index)
        let others = devices[index].read.filter { $0.key != devices[index].number && $0.value > 0 }
        devices[index].write(beside: others.map { chains[$0.key, default: []][$0.value - 1].parcels })
        for version in devices[index].written.values {
            for value in version.fields.values where version.level < allowed[value.digest] ?? .always {
                problems.append("a value was written at a level that its owner did not choose")
            }
        }
        let head = ModelHead(count: devices[index].issued, parcels: devices[index].written)
        chains[devices[index].number, default: []].append(head)
    }

    /// Some of what the others wrote arrives: of each chain, any later head.
    mutating func pull(_ index: Int, isWhole: Bool = false) {
        lookForClone(index)
        let number = devices[index].number
        for (signer, chain) in chains.sorted(by: { $0.key < $1.key }) where signer != number {
            let from = devices[index].read[signer] ?? 0
            let to = isWhole ? chain.count : from + random.below(chain.count - from + 1)
            guard to > from else { continue }
            devices[index].read[signer] = to
            devices[index].counts[signer] = max(devices[index].counts[signer] ?? 0, chain[to - 1].count)
            let known = from == 0 ? [:] : chain[from - 1].parcels
            take(index, chain[to - 1].parcels.filter { known[$0.key] != $0.value }, from: signer)
        }
        // Until nothing of what waits or is held changes an item any more.
        var before: [[UInt8]: SyncedVersion] = [:]
        repeat {
            before = devices[index].items.versions
            for kept in [devices[index].waiting, devices[index].held] {
                for (signer, versions) in kept.sorted(by: { $0.key < $1.key }) { take(index, versions, from: signer) }
            }
        } while before != devices[index].items.versions
    }

    private mutating func take(_ index: Int, _ versions: [[UInt8]: SyncedVersion], from signer: UInt32) {
        for (id, version) in versions.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            devices[index].take(version, of: id, from: signer, rules: rules)
        }
    }

    /// A device that finds a later head of its own than it remembers was put back.
    private mutating func lookForClone(_ index: Int) {
        guard rules.contains(.ownChain), chains[devices[index].number, default: []].count > devices[index].signed else { return }
        devices[index].rejoin(as: nextNumber)
        nextNumber += 1
    }
}
