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

    /// The value of an item that each device imports from one file.
    private mutating func imported(_ name: ItemName) -> SyncedVersion.Field {
        let digest = [UInt8](repeating: name.bytes[0], count: 32)
        allowed[digest] = min(allowed[digest] ?? .whenUnlocked, .whenUnlocked)
        return SyncedVersion.Field(digest: digest, isShown: false)
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
            let value = level == .whenUnlocked && random.chance(30) ? imported(name) : token(level)
            device.items.versions[id] = SyncedVersion(
                seen: seen, dot: dot, time: time, created: time, level: level, name: name, fields: [Self.fieldNames[0]: value])
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

    /// A device ends what it was writing when it crashed, and then writes its parcels and a new head. It can crash behind each
    /// step: docs/formats/sync.md, "Push and pull".
    mutating func push(_ index: Int, crashes: Bool = true) {
        lookForClone(index)
        guard send(index, crashes: crashes) else { return }
        let number = devices[index].number
        let others = devices[index].read.filter { $0.key != number && $0.value > 0 && !devices[index].removed.contains($0.key) }
        let parcels = others.map { ($0.key, chains[$0.key, default: []][$0.value - 1].parcels) }
        devices[index].pending = devices[index].nextHead(beside: Dictionary(uniqueKeysWithValues: parcels))
        if crashes, random.chance(10) { return }
        _ = send(index, crashes: crashes)
    }

    /// Sends the head that is on the disk, if there is one.
    ///
    /// - Returns: false if the device crashed.
    private mutating func send(_ index: Int, crashes: Bool) -> Bool {
        guard let head = devices[index].pending else { return true }
        for version in head.parcels.values {
            for value in version.fields.values where version.level < allowed[value.digest] ?? .always {
                problems.append("a value was written at a level that its owner did not choose")
            }
        }
        let number = devices[index].number
        if chains[number, default: []].last != head { chains[number, default: []].append(head) }
        if crashes, random.chance(10) { return false }
        devices[index].note(head)
        return true
    }

    /// Some of what the others wrote arrives: of each chain, any later head, and perhaps what is here already.
    mutating func pull(_ index: Int, isWhole: Bool = false) {
        lookForClone(index)
        let number = devices[index].number
        for (signer, chain) in chains.sorted(by: { $0.key < $1.key }) where signer != number {
            let from = devices[index].read[signer] ?? 0
            let last = limit(of: signer, for: index) ?? chain.count
            guard last > from else { continue }
            let to = isWhole ? last : from + random.below(last - from + 1)
            if to > from { receive(index, to, of: signer) }
        }
        devices[index].apply(rules, groups: !isWhole && random.chance(20) ? random.below(3) : nil)
    }

    /// A head of another device is verified and noted, and its parcels are kept.
    private mutating func receive(_ index: Int, _ number: Int, of signer: UInt32) {
        let chain = chains[signer, default: []]
        let (from, head) = (devices[index].read[signer] ?? 0, chain[number - 1])
        devices[index].read[signer] = number
        devices[index].counts[signer] = max(devices[index].counts[signer] ?? 0, head.count)
        devices[index].removed.formUnion(head.removed)
        let known = from == 0 || random.chance(10) ? [:] : chain[from - 1].parcels
        guard !devices[index].refused.contains(signer) else { return }
        // Of each signer the newest parcel of an item is kept, and no older one.
        for (id, version) in head.parcels where known[id] != version {
            devices[index].waiting[signer, default: [:]][id] = version
            devices[index].held[signer]?[id] = nil
        }
    }

    /// Of a removed member only the heads count that a present one has read.
    private func limit(of signer: UInt32, for index: Int) -> Int? {
        guard devices[index].removed.contains(signer) else { return nil }
        let present = devices[index].read.filter { !devices[index].removed.contains($0.key) && $0.value > 0 }
        let named = present.compactMap { chains[$0.key, default: []][$0.value - 1].others[signer] }
        return max(devices[index].read[signer] ?? 0, named.max() ?? 0)
    }

    /// A device that finds a later head of its own than it remembers was put back.
    private mutating func lookForClone(_ index: Int) {
        let chain = chains[devices[index].number, default: []]
        guard rules.contains(.ownChain), chain.count > devices[index].signed else { return }
        // The head that it was writing when it crashed.
        if chain.count == devices[index].signed + 1, let pending = devices[index].pending, chain.last == pending {
            return devices[index].note(pending)
        }
        let old = devices[index].number
        devices[index].rejoin(as: nextNumber)
        nextNumber += 1
        // What only its old chain has must not be lost with the old number. So the device reads that first, and names it.
        receive(index, chain.count, of: old)
    }

    // MARK: - Members

    /// A device removes another one. Its values that no other device ever got are gone with it.
    mutating func remove(_ target: Int, by index: Int) {
        guard target != index, devices.count > 1 else { return }
        devices[index].removed.insert(devices[target].number)
        let gone = devices.remove(at: target)
        snapshots = [:]
        // Behind a rejoin, its old chain waits here, and only its new head names that chain.
        let waiting = [gone.waiting, gone.held].flatMap { $0.values.flatMap(\.values) }
        forgive(gone.items.versions.values + waiting + (chains[gone.number]?.last?.parcels.values.map { $0 } ?? []))
    }

    /// All devices are lost. A new one reads the remote with the recovery code.
    mutating func recover() {
        let lost = devices
        var device = ModelDevice(number: nextNumber)
        nextNumber += 1
        device.refused = lost[0].refused
        devices = [device]
        for _ in 0..<2 { pull(0, isWhole: true) }
        devices[0].removed.formUnion(lost.map(\.number))
        forgive(lost.flatMap { $0.items.versions.values })
    }

    /// Values that only a lost disk had need not be found: not those of devices and of members' heads.
    mutating func forgive(_ versions: some Sequence<SyncedVersion>) {
        let removed = devices.reduce(into: Set<UInt32>()) { $0.formUnion($1.removed) }
        let heads = chains.filter { !removed.contains($0.key) }.compactMap(\.value.last)
        let kept = devices.flatMap { Array($0.items.versions.values) } + heads.flatMap { Array($0.parcels.values) }
        let present = Set(kept.flatMap { $0.fields.values.map(\.digest) })
        for version in versions {
            for field in version.fields.values where !present.contains(field.digest) { replaced.insert(field.digest) }
        }
    }
}
