// A whole life of the model, its adversaries, and what must hold at its end.

import OMItems
import OMParcels
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
            if random.chance(adversary.hasServer ? 3 : 1) { remove(random.below(devices.count), by: index % devices.count) }
            if random.chance(1), adversary != .snapshot, !adversary.hasServer, random.chance(30) { recover() }
            if adversary.hasSnapshots, random.chance(5) { putBack(random.below(devices.count)) }
            if adversary.hasServer { serve(index % devices.count) }
            if adversary == .thief, random.chance(20) { steal() }
            if adversary == .liar, random.chance(10) { lie() }
            if !problems.isEmpty { return problems }
        }
        finish()
        return problems
    }

    /// The server misbehaves now and then, and users take the remote that came in the place of a lost one.
    private mutating func serve(_ index: Int) {
        remotes[remotes.count - 1].isHonest = false
        if random.chance(25) { misbehave() }
        if random.chance(4) { goOn() }
        if random.chance(30) { takeRemote(index) }
    }

    /// A virtual machine's snapshot is taken or put back.
    mutating func putBack(_ index: Int) {
        guard let old = snapshots[index], random.chance(50) else {
            snapshots[index] = devices[index]
            remotes[devices[index].remote].isRight(to: devices[index].number)
            return
        }
        snapshots[index] = nil
        let lost = devices[index]
        if rules.contains(.newNumberStays), isFormerMember(old, of: lost) {
            // Another device removes the lost one. Known gap: if none is left, the paper has to.
            return remove(index, by: random.below(devices.count))
        }
        devices[index] = old
        devices[index].wasPutBack = true
        remotes[old.remote].isRight(to: old.number)
        forgive(lost.items.versions.values)
    }

    static let stolen: UInt32 = 1
    static let lying: UInt32 = 2

    private mutating func append(_ parcels: [[UInt8]: SyncedVersion], by number: UInt32, count: UInt64) {
        let last = chains[number]?.last
        let next = (last?.packs.last?.number ?? 0) + 1
        let sealed = parcels.map { seal($0.value, of: $0.key) }
        let pack = Pack(vault: ModelMembers.vault, device: number, number: next, parcels: sealed).encoded
        _ = remotes[remotes.count - 1].store(pack, as: .pack(device: number, number: next))
        let packs = (last?.packs ?? []) + [Head.PackReference(number: next, digest: Pack.digest(of: pack))]
        let all = (last?.parcels ?? [:]).merging(parcels) { $1 }
        let earlier = last.map { $0.earlier + [$0.digest] } ?? []
        let head = ModelHead(
            signer: number, digest: nextDigest(), earlier: earlier, count: count, parcels: all, packs: packs)
        signed[head.digest] = earlier.last
        remotes[remotes.count - 1].store(head)
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
        let (target, known) = parcels[random.below(parcels.count)]
        let count = UInt64(chains[Self.stolen]?.count ?? 0) + 1
        let dot = Dot(device: Self.stolen, count: count)
        var seen = Seen()
        seen.insert(dot)
        for (number, chain) in chains.sorted(by: { $0.key < $1.key }) where number >= 100 {
            if let head = chain.last, head.count > 0, random.chance(90) { seen.insert(Dot(device: number, count: head.count)) }
        }
        // An item of the others, or one of his own that claims to be a copy or takes a name.
        let isOwn = random.chance(30)
        let state: SyncedVersion.State = isOwn ? .live : [.purged, .trashed, .live, .live][random.below(4)]
        var version = SyncedVersion(
            seen: seen, dot: dot, time: random.chance(50) ? .max : .min, created: random.chance(50) ? .min : known.created,
            state: state, level: .always, origin: isOwn && random.chance(70) ? target : nil,
            name: state == .purged ? nil : Self.names[random.below(3)],
            fields: state == .purged ? [:] : [Self.fieldNames[0]: token(nil)])
        // Lowerings that he can read, those of versions in his lane. Their MACs are right.
        let readable = parcels.filter { $0.id == target && $0.version.level == .always }.flatMap(\.version.lowerings)
        if !isOwn {
            version.lowerings = Lowering.joined(readable, above: .always)
            for lowering in version.lowerings { version.seen = version.seen.joined(with: lowering.seen) }
        }
        // Without the rule, he makes up a lowering from each level.
        if !rules.contains(.levels) {
            version.lowerings = [.whenUnlocked, .afterFirstUnlock].map { Lowering(from: $0, seen: version.seen) }
        }
        var id: [UInt8] = []
        id.append(number: random.next())
        id.append(number: random.next())
        append([isOwn ? id : target: version], by: Self.stolen, count: count)
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

    /// The server becomes honest. If it does not have what a device knows, its users take a new remote.
    private mutating func mend() {
        remotes[remotes.count - 1].comesBack()
        remotes[remotes.count - 1].isHonest = true
        for index in devices.indices { takeRemote(index) }
        if rules.contains(.newNumberFirst) { awaitNewNumbers() }
        guard devices.indices.filter({ !isServed($0) }) != [] else { return }
        loseRemote()
        for index in devices.indices { takeRemote(index) }
    }

    /// The devices that found another life of their files get their new numbers. Each one is signed behind all entries of the
    /// others, so they write theirs first.
    private mutating func awaitNewNumbers() {
        for _ in devices.indices where devices.indices.contains(where: { !isServed($0) && devices[$0].hasOtherLife }) {
            for index in devices.indices { push(index, crashes: false) }
        }
    }

    /// Whether a device goes on with its remote. A head on its disk, of which the server lost a pack, is refused for ever.
    private mutating func isServed(_ index: Int) -> Bool {
        guard look(index) != nil else { return false }
        return devices[index].pending.map { push in
            let new = Set(push.packs.map(\.file))
            return push.head.packs.allSatisfy { pack in
                let file = RemoteFile.pack(device: push.head.signer, number: pack.number)
                return new.contains(file) || remotes[devices[index].remote].packs[file] != nil
            }
        } ?? true
    }

    /// All devices exchange everything until no item changes any more.
    private mutating func settle() {
        // What a head says of others can take a round to reach all, without any change of an item.
        var (rounds, quiet) = (0, 0)
        while quiet < 3, rounds < 20 {
            let before = devices.map(\.items.versions)
            for index in devices.indices {
                pull(index, isWhole: true)
                push(index, crashes: false)
            }
            rounds += 1
            quiet = before == devices.map(\.items.versions) ? quiet + 1 : 0
        }
        if quiet < 3 { problems.append("not settled after \(rounds) rounds") }
        problems += devices.compactMap(\.foundFault)
        let first = devices[0].items.versions
        for device in devices.dropFirst() where device.items.versions != first {
            let differing = Set(first.keys).union(device.items.versions.keys).filter { first[$0] != device.items.versions[$0] }
            problems.append("devices \(devices[0].number) and \(device.number) differ in \(differing.count) items")
        }
        let names = first.values.filter { $0.state == .live }.compactMap(\.name)
        if Set(names).count != names.count { problems.append("two live items of one name") }
    }

    /// The live values of these items that no adversary may hide.
    private func liveValues(_ items: some Sequence<SyncedVersion>) -> Set<[UInt8]> {
        let values = Set(items.filter { $0.state == .live }.flatMap { $0.fields.values.map(\.digest) })
        return adversary == .thief ? values.filter { allowed[$0] ?? .always > .always } : values
    }

    /// A device that joins now, or with the recovery code alone, has all live values, and revives none. Its copies can differ:
    /// a version that is held where the stricter one came first is a copy where it came second. So some of the values may be
    /// held here, where its user sees them. In the end all are the same, and no value is hidden.
    private mutating func join() {
        let before = liveValues(devices[0].items.versions.values)
        let held = liveValues(devices.flatMap { $0.held.values.flatMap(\.values) })
        let new = newMember()
        if devices[0].roll != nil {
            guard canSign(0) else { return problems.append("the devices have different rolls") }
            sign(.add, on: 0, adding: [ModelMembers.all[new.place]])
            push(0, crashes: false)
        }
        var joining = ModelDevice(number: new.number)
        joining.roll = devices[0].roll
        (joining.removed, joining.refused, joining.remote) = (devices[0].removed, devices[0].refused, devices[0].remote)
        devices.append(joining)
        // The heads of members name the last heads of those that were removed.
        for _ in 0..<2 { pull(devices.count - 1, isWhole: true) }
        let joined = liveValues(devices[devices.count - 1].items.versions.values)
        let heldHere = liveValues(devices[devices.count - 1].held.values.flatMap(\.values))
        if !before.isSubset(of: joined.union(heldHere)) { problems.append("a new device lacks a value") }
        if !joined.isSubset(of: before.union(held)) { problems.append("a new device revives a value") }
        settle()
        if !before.isSubset(of: liveValues(devices[0].items.versions.values)) {
            problems.append("a new device hides a value")
        }
    }

    mutating func finish() {
        for index in devices.indices {
            devices[index].isLocked = false
            // The users remove the device that lied, as status says.
            devices[index].refuse(Self.lying)
        }
        if adversary.hasServer { mend() }
        settle()
        join()
        let first = devices[0].items.versions
        let live = Set(first.values.filter { $0.state == .live }.flatMap { $0.fields.values.map(\.digest) })
        let present = Set(
            devices.flatMap {
                (Array($0.items.versions.values) + $0.held.values.flatMap(\.values)).flatMap { $0.fields.values.map(\.digest) }
            })
        for token in allowed.keys where !live.contains(token) && !replaced.contains(token) && !trashed.contains(token) {
            let isSafe = adversary == .none || (adversary == .thief && allowed[token] != .always)
            if present.contains(token), isSafe { problems.append("hidden in the trash: value \(token[7])") }
        }
        for (token, level) in allowed where !present.contains(token) && !replaced.contains(token) {
            // At this level the adversary may write whatever he likes, as the level promises no more.
            if adversary == .thief, level == .always { continue }
            problems.append("lost: value \(token[7]) of \(level)")
        }
    }
}
