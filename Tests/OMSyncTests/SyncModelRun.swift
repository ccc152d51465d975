// A whole life of the model, its adversaries, and what must hold at its end.

import OMItems
import OMRecords
import OMSync

extension SyncModel {
    /// Runs some random steps, then lets all devices exchange everything.
    ///
    /// - Returns: What went wrong.
    mutating func run(steps: Int = 40) -> [String] {
        for _ in 0..<steps {
            let index = random.below(devices.count)
            switch random.below(10) {
            case 0...4: act(index)
            case 5, 6: push(index)
            case 7: devices[index].isLocked.toggle()
            default: pull(index)
            }
            now += Int64(random.below(5))
            if adversary == .snapshot, random.chance(5) { putBack(random.below(devices.count)) }
            if adversary == .thief, random.chance(20) { steal() }
            if adversary == .liar, random.chance(10) { lie() }
            if !problems.isEmpty { return problems }
        }
        finish()
        return problems
    }

    /// A virtual machine's snapshot is taken or put back.
    mutating func putBack(_ index: Int) {
        guard let old = snapshots[index], random.chance(50) else {
            snapshots[index] = devices[index]
            return
        }
        snapshots[index] = nil
        // What only this device had is gone with its disk.
        let elsewhere = Set(
            chains.values.flatMap { $0.last.map { Array($0.parcels.values) } ?? [] }
                .flatMap { $0.fields.values.map(\.digest) })
        for version in devices[index].items.versions.values {
            for field in version.fields.values where !elsewhere.contains(field.digest) { replaced.insert(field.digest) }
        }
        devices[index] = old
    }

    static let stolen: UInt32 = 1
    static let lying: UInt32 = 2

    private mutating func append(_ parcels: [[UInt8]: SyncedVersion], by number: UInt32, count: UInt64) {
        let chain = chains[number] ?? []
        let all = (chain.last?.parcels ?? [:]).merging(parcels) { $1 }
        chains[number] = chain + [ModelHead(count: count, parcels: all)]
    }

    private var everyParcel: [(id: [UInt8], version: SyncedVersion)] {
        chains.filter { $0.key >= 100 }.sorted { $0.key < $1.key }.flatMap { entry in
            entry.value.last.map { head in
                head.parcels.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
            } ?? []
        }
    }

    /// The thief of a locked laptop writes with the lane of `always` and with the laptop's head key.
    mutating func steal() {
        let parcels = everyParcel
        guard !parcels.isEmpty else { return }
        let (id, target) = parcels[random.below(parcels.count)]
        let count = UInt64(chains[Self.stolen]?.count ?? 0) + 1
        var seen = Seen()
        for (number, chain) in chains.sorted(by: { $0.key < $1.key }) where number >= 100 {
            if let head = chain.last, head.count > 0, random.chance(90) { seen.insert(Dot(device: number, count: head.count)) }
        }
        let dot = Dot(device: Self.stolen, count: count)
        seen.insert(dot)
        let purges = random.chance(30)
        append(
            [
                id: SyncedVersion(
                    seen: seen, dot: dot, time: random.chance(50) ? 1 << 40 : 0, created: target.created,
                    state: purges ? .purged : .live, level: .always,
                    // Proofs that he can read, those of versions in his lane, and a forged one.
                    proofs: parcels.filter { $0.id == id && $0.version.level == .always }.flatMap(\.version.proofs)
                        + [LevelProof(dot: dot, seen: seen, from: .whenUnlocked, to: .always, epoch: 1, mac: [0])],
                    name: purges ? nil : Self.names[random.below(3)],
                    fields: purges ? [:] : [Self.fieldNames[0]: token(nil)])
            ], by: Self.stolen, count: count)
    }

    /// A member with all lanes claims edits that another device has not made.
    mutating func lie() {
        let parcels = everyParcel
        guard !parcels.isEmpty else { return }
        let (id, target) = parcels[random.below(parcels.count)]
        let count = UInt64(chains[Self.lying]?.count ?? 0) + 1
        var version = target
        version.dot = Dot(device: Self.lying, count: count)
        version.seen.insert(version.dot)
        version.seen.insert(Dot(device: devices[random.below(devices.count)].number, count: 1000 + UInt64(random.below(1000))))
        if version.state == .live { version.fields[Self.fieldNames[0]] = token(nil) }
        for field in target.fields.values { replaced.insert(field.digest) }
        append([id: version], by: Self.lying, count: count)
    }

    mutating func finish() {
        for index in devices.indices {
            devices[index].isLocked = false
            // The users remove the device that lied, as status says.
            devices[index].refused.insert(Self.lying)
            devices[index].waiting[Self.lying] = nil
        }
        var rounds = 0
        var last: [[[UInt8]: SyncedVersion]] = []
        repeat {
            last = devices.map(\.items.versions)
            for index in devices.indices {
                pull(index, isWhole: true)
                push(index)
            }
            rounds += 1
        } while rounds < 14 && !(rounds > 1 && last == devices.map(\.items.versions))
        if rounds == 14 { problems.append("not settled after 14 rounds") }
        if devices.contains(where: { $0.foundOrder }) { problems.append("a merge depends on the order of its inputs") }
        let first = devices[0].items.versions
        for device in devices.dropFirst() where device.items.versions != first {
            let differing = Set(first.keys).union(device.items.versions.keys).filter { first[$0] != device.items.versions[$0] }
            problems.append("devices \(devices[0].number) and \(device.number) differ in \(differing.count) items")
        }
        let names = first.values.filter { $0.state == .live }.compactMap(\.name)
        if Set(names).count != names.count { problems.append("two live items of one name") }
        let live = Set(first.values.filter { $0.state == .live }.flatMap { $0.fields.values.map(\.digest) })
        let present = Set(
            devices.flatMap { (Array($0.items.versions.values) + $0.held).flatMap { $0.fields.values.map(\.digest) } })
        for token in allowed.keys where !live.contains(token) && !replaced.contains(token) && !trashed.contains(token) {
            if present.contains(token), adversary == .none { problems.append("hidden in the trash: value \(token[7])") }
        }
        for (token, level) in allowed where !present.contains(token) && !replaced.contains(token) {
            // At this level the adversary may write whatever he likes, as the level promises no more.
            if adversary == .thief, level == .always { continue }
            problems.append("lost: value \(token[7]) of \(level)")
        }
    }
}
