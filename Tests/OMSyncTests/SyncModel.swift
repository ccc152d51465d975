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
        /// A server that breaks the rules, and devices that go on behind their removal.
        case server
        /// The same, and disks that are put back.
        case serverAndSnapshot

        var hasServer: Bool { self == .server || self == .serverAndSnapshot }
        var hasSnapshots: Bool { self == .snapshot || self == .serverAndSnapshot }
    }

    var random: ModelRandom
    let rules: ModelRules
    let adversary: Adversary
    let lies: ModelLies
    var devices: [ModelDevice] = []
    /// The remotes, each in the place of the one before.
    var remotes = [ModelRemote()]
    /// The digest of each head that was signed, with that of the head before.
    var signed: [UInt64: UInt64?] = [:]
    /// The content of each version that was sent, by its item and its dot.
    var contents: [[UInt8]: [Dot: SyncedVersion]] = [:]
    /// The heads that a removed device signed when all others knew of its removal.
    var tooLate: Set<UInt64> = []
    /// The removed devices, which go on.
    var ghosts: [ModelDevice] = []
    var now: Int64 = 1000
    var nextToken: UInt64 = 1
    var nextPlace = 0
    /// The place of the next member that a removed device adds.
    var nextAdded = ModelMembers.reserved
    var nextItem: UInt64 = 1
    /// The values that a user replaced or removed, and saw.
    var replaced: Set<[UInt8]> = []
    /// The values that users stored, each with the least strict level at which its owner lets it be read.
    var allowed: [[UInt8]: ProtectionLevel.Availability] = [:]
    /// The values that a user moved to the trash.
    var trashed: Set<[UInt8]> = []
    /// The versions in the parcels, by the salts of these.
    var sealed: [[UInt8]: SyncedVersion] = [:]
    /// The digests of the entries of the roll that the users signed.
    var honest: Set<[UInt8]> = []
    /// What was computed before, and is the same again.
    var choices: [ModelQuestion: RollChoice] = [:]
    /// The digests of entries of the roll, by their signatures.
    var digests: [[UInt8]: [UInt8]] = [:]
    var problems: [String] = []
    var snapshots: [Int: ModelDevice] = [:]

    /// All heads of each chain on the newest remote, oldest first.
    var chains: [UInt32: [ModelHead]] {
        get { remotes[remotes.count - 1].chains }
        set { remotes[remotes.count - 1].chains = newValue }
    }

    init(seed: UInt64, rules: ModelRules = .all, adversary: Adversary = .none, lies: ModelLies = .all) {
        random = ModelRandom(state: seed)
        (self.rules, self.adversary, self.lies) = (rules, adversary, lies)
        for _ in 0..<(2 + random.below(4)) {
            var device = ModelDevice(number: newMember().number)
            device.skew = random.chance(20) ? Int64(random.below(2_000_000)) - 1_000_000 : 0
            devices.append(device)
        }
        guard adversary.hasServer else { return }
        let roll = ModelMembers.founded[devices.count - 1]
        for index in devices.indices { devices[index].roll = roll }
        for (entry, digest) in zip(roll.entries, roll.digests).dropFirst() { remotes[0].entries[digest] = entry }
        devices[0].signedEntries = Set(roll.digests)
        honest = Set(roll.digests)
    }

    /// A number that no device had, and its place among the members.
    mutating func newMember() -> (number: UInt32, place: Int) {
        let place = nextPlace
        nextPlace += 1
        precondition(!adversary.hasServer || place < ModelMembers.reserved, "a life without end")
        return (adversary.hasServer ? ModelMembers.all[place].number : 100 + UInt32(place), place)
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

    // MARK: - Members

    /// A device removes another one. Its values that no other device ever got are gone with it.
    mutating func remove(_ target: Int, by index: Int) {
        guard target != index, devices.count > 1, canSign(index) else { return }
        if devices[index].roll == nil {
            devices[index].removed.insert(devices[target].number)
        } else {
            guard devices[index].roll?.members[devices[target].number] != nil else { return }
            sign(.remove, on: index, removing: [devices[target].number])
        }
        let gone = devices.remove(at: target)
        snapshots = [:]
        if adversary.hasServer { ghosts.append(gone) }
        // Behind a rejoin, its old chain waits here, and only its new head names that chain.
        let waiting = [gone.waiting, gone.held].flatMap { $0.values.flatMap(\.values) }
        let written = remotes.flatMap { $0.chains[gone.number]?.last?.parcels.values.map { $0 } ?? [] }
        forgive(gone.items.versions.values + waiting + written)
    }

    /// All devices are lost. A new one reads the remote with the recovery code.
    mutating func recover() {
        let lost = devices
        var device = ModelDevice(number: newMember().number)
        device.refused = lost[0].refused
        devices = [device]
        for _ in 0..<2 { pull(0, isWhole: true) }
        devices[0].removed.formUnion(lost.map(\.number))
        forgive(lost.flatMap { $0.items.versions.values })
    }

    /// Values that only a lost disk had need not be found: not those of devices and of members' heads.
    mutating func forgive(_ versions: some Sequence<SyncedVersion>) {
        let removed = devices.reduce(into: Set<UInt32>()) { $0.formUnion($1.removed) }
        let heads = remotes.filter { !$0.isLost }.flatMap {
            $0.chains.filter { !removed.contains($0.key) }.compactMap(\.value.last)
        }
        let kept = devices.flatMap { Array($0.items.versions.values) } + heads.flatMap { Array($0.parcels.values) }
        let present = Set(kept.flatMap { $0.fields.values.map(\.digest) })
        for version in versions {
            for field in version.fields.values where !present.contains(field.digest) { replaced.insert(field.digest) }
        }
    }
}
