// Finding the questions that sync leaves to the user. Format: docs/formats/sync.md, "Questions".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMSyncKeys
internal import OMVault

/// The questions of one state of a vault.
struct OpenQuestions {
    private(set) var all: [OpenQuestion] = []
    /// The devices for whose edits versions wait, and the time of the oldest such version.
    private(set) var awaited: [UInt32: Int64] = [:]
    let reading: Arrivals
    /// The names of the devices, also of removed ones.
    let devices: [UInt32: DeviceName]

    /// - Throws: ``VaultError/levelLocked(_:)`` while a portable level is closed: a question must show all items.
    init(_ vault: borrowing Vault, _ access: borrowing SyncAccess, now: Int64) throws(VaultError) {
        if let closed = ProtectionLevel.Availability.allCases.last(where: { !access.openLevels.contains($0) }) {
            throw .levelLocked(ProtectionLevel(closed, deviceOnly: false))
        }
        reading = try Arrivals(vault, access, needsItems: true)
        let roll = try DeviceRoll(access).roll
        let link = reading.link
        devices = Dictionary(
            roll.entries.flatMap(\.contents.added).compactMap { member in
                link?.name(of: member, vault: roll.vault).map { (member.number, $0) }
            }, uniquingKeysWith: { $1 })
        addCopies()
        for note in try access.changedMeanings() { add(note) }
        addArrivals(BrakedPlan(reading, at: now))
        for entry in try RollQuestion.entries(access) {
            let added = entry.contents.added.map { member in link?.name(of: member, vault: roll.vault) }
            all.append(OpenQuestion(.entry(EntryChoice(entry: entry, added: added)), seen: [[4], entry.digest]))
        }
    }

    private func side(_ id: [UInt8]) -> ConflictCopy.Version? {
        guard let version = reading.items.version(of: id), let name = version.name else { return nil }
        return ConflictCopy.Version(
            id: id, name: name, level: version.level, isTrashed: version.state == .trashed, time: version.time,
            device: version.dot.device)
    }

    /// What decides the number of a question about an item here: its record.
    private func digest(_ id: [UInt8]?) -> [UInt8] { id.flatMap { reading.items.entries[$0]?.place.digest } ?? [] }

    private mutating func addCopies() {
        let copies = reading.items.entries.filter { $0.value.version.state == .live && $0.value.version.origin != nil }
        for (id, entry) in copies.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard let copy = side(id), let origin = entry.version.origin else { continue }
            let item = reading.items.version(of: origin)
            let subject = ConflictCopy(
                item: side(origin), copy: copy, differences: item.map { VersionPart.all($0, entry.version) } ?? [])
            all.append(OpenQuestion(.copy(subject), seen: [[0], digest(origin), digest(id)]))
        }
    }

    private mutating func add(_ note: (item: [UInt8], before: [UInt8], time: Int64)) {
        // The item was moved to the trash, or is at a device-only level now.
        guard let version = reading.items.version(of: note.item), version.state == .live, let name = version.name else { return }
        let old = reading.items.version(of: note.before)
        let before: NameChange.State =
            switch old?.state {
            case .live: old?.name.map { .isNow($0) } ?? .isPurged
            case .trashed: .isTrashed
            case .purged, nil: .isPurged
            }
        let subject = NameChange(id: note.item, name: name, time: note.time, before: before)
        all.append(OpenQuestion(.meaning(subject), seen: [[1], note.item, note.before, name.bytes, digest(note.item)]))
    }

    private mutating func addArrivals(_ made: BrakedPlan) {
        for (index, arrival) in reading.arrived.enumerated() where made.decisions[index] == .isHeld {
            all.append(question([arrival], isBraked: false))
        }
        for (arrival, decision) in zip(reading.arrived, made.decisions) where decision == .waits {
            for device in reading.rules.awaited(by: arrival.version.version) {
                awaited[device] = min(awaited[device] ?? .max, arrival.version.version.time)
            }
        }
        let braked = Dictionary(grouping: made.braked.sorted().map { reading.arrived[$0] }, by: \.key.id)
        for (_, arrivals) in braked.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            all.append(question(arrivals, isBraked: true))
        }
    }

    /// - Parameter arrivals: The versions that arrived of one item, at least one.
    private func question(_ arrivals: [Arrivals.Arrival], isBraked: Bool) -> OpenQuestion {
        let (id, version) = (arrivals[0].key.id, arrivals[0].version.version)
        let here = reading.items.version(of: id)
        let effect: ArrivedChange.Effect =
            switch (here?.state, version.state) {
            case (nil, _): .adds
            case (.live?, .live): .changes
            case (.live?, _): .removes
            case (_, .live): .revives
            default: .changes
            }
        let signers = Set(arrivals.map(\.key.signer))
        let change = ArrivedChange(
            id: id, name: here?.name ?? version.name, effect: effect, parts: here.map { VersionPart.all($0, version) } ?? [],
            levelHere: here?.level, level: version.level, signers: signers.sorted(),
            isOfRemoved: signers.isDisjoint(with: reading.members), keys: arrivals.map(\.key))
        let kind: [UInt8] = [isBraked ? 3 : 2]
        let seen: [[UInt8]] = [kind, id, digest(id)] + arrivals.flatMap { [$0.key.encoded, $0.parcel.digest] }
        return OpenQuestion(isBraked ? .braked(change) : .held(change), seen: seen)
    }
}
