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
    /// Of each signer, only a head counts that continues the one before.
    static let knownHeads = ModelRules(rawValue: 32)
    /// Of a removed device, only a head counts that a present one has read.
    static let removedHeads = ModelRules(rawValue: 64)
    /// A device that takes a new remote writes there all that it has, whatever the old one agreed to store.
    static let freshNotes = ModelRules(rawValue: 128)
    /// Devices keep the newest heads of former members for remotes that do not show them.
    static let keptHeads = ModelRules(rawValue: 256)
    /// A head counts only with all of its packs.
    static let wholePacks = ModelRules(rawValue: 512)
    /// A pack counts only with the digest that the head has.
    static let packDigests = ModelRules(rawValue: 1024)
    /// What was in an own pack that is gone is written again.
    static let lostPacks = ModelRules(rawValue: 2048)
    /// The roll that was accepted before goes on.
    static let acceptedRoll = ModelRules(rawValue: 4096)
    /// Only entries of this vault count.
    static let ownVault = ModelRules(rawValue: 8192)
    /// Of two entries that exclude each other, the user chooses.
    static let asksUser = ModelRules(rawValue: 16384)
    /// Entries that the remote does not show are written again.
    static let entriesAgain = ModelRules(rawValue: 32768)
    /// A walk for which a head is missing proves no fork. Without the rule the user refuses the device.
    static let lateWalks = ModelRules(rawValue: 65536)
    /// An own head that this file has not signed proves a clone, whatever entry of the roll it names.
    static let ownHeadFirst = ModelRules(rawValue: 131_072)
    /// A device with a new number walks to the heads that its old number named.
    static let formerWalks = ModelRules(rawValue: 262_144)
    /// A device that found another life of its file gets its new number before it takes another remote.
    static let newNumberFirst = ModelRules(rawValue: 524_288)
    /// A disk that is put back to before its device's new number is that of a lost device: no one has the keys of that number.
    static let newNumberStays = ModelRules(rawValue: 1_048_576)
    static let all = ModelRules(rawValue: 2_097_151)
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
    /// The place of its remote among those of the model.
    var remote = 0
    /// The newest head of each other device that it accepted from this remote.
    var known: [UInt32: ModelHead] = [:]
    /// The counts that heads of other remotes prove, and those in lists `heads`.
    var vouched: [UInt32: UInt64] = [:]
    /// The digests of the accepted heads, for the invariant. No rule reads them.
    var accepted: [UInt32: UInt64] = [:]
    /// The versions that wait, by their signer.
    var waiting: [UInt32: [[UInt8]: SyncedVersion]] = [:]
    /// The versions that have no power over an item here, by their signer.
    var held: [UInt32: [[UInt8]: SyncedVersion]] = [:]
    /// The signers whose versions it does not take any more.
    var refused: Set<UInt32> = []
    /// What its newest head lists, the packs of that head, and that head.
    var written: [[UInt8]: ModelParcel] = [:]
    var packs: [Head.PackReference] = []
    var last: ModelHead?
    /// The number of its newest pack.
    var lastPack: UInt64 = 0
    /// Its own heads, for the walks of others.
    var ownHeads: [ModelHead] = []
    /// Of a control alone: what needs not be written, because an earlier remote agreed to store it.
    var stored: [[UInt8]: SyncedVersion] = [:]
    /// The next push, when it is on this disk and perhaps on the remote.
    var pending: ModelPush?
    /// The roll that it accepted. Nil without a server: then `removed` alone says who is no member.
    var roll: Roll?
    /// The digests of the entries that it signed, and of those that its user chose.
    var signedEntries: Set<[UInt8]> = []
    var chosenEntries: Set<[UInt8]> = []
    /// Of a control alone: the entries that it wrote once.
    var sentEntries: Set<[UInt8]> = []
    /// The members that the roll has no more.
    var removed: Set<UInt32> = []
    /// Whether its disk was put back, and it has not looked at its remote since.
    var wasPutBack = false
    /// Whether it found what another life of its file wrote, and has no new number yet.
    var hasOtherLife = false
    /// What must never happen.
    var foundFault: String?

    /// The highest count of each other device that a verified head has.
    var counts: [UInt32: UInt64] { vouched.merging(known.mapValues(\.count)) { max($0, $1) } }

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

    /// The own head is on the remote, as far as this device can tell, and is noted here.
    mutating func note(_ push: ModelPush) {
        (written, packs, last, lastPack) = (push.written, push.head.packs, push.head, push.lastPack)
        ownHeads.append(push.head)
        pending = nil
    }

    /// Its list `heads`. Own heads that no one needs go.
    mutating func list(_ rules: ModelRules) -> ModelList {
        let newest = last?.number ?? 0
        let present = known.values.filter { !removed.contains($0.signer) }
        let targets = present.compactMap { $0.others[number]?.number }.filter { $0 <= newest }.map(UInt64.init)
        let members = roll.map { Set($0.members.keys).subtracting([number]) } ?? []
        let isSilent = members.contains { known[$0]?.others[number] == nil }
        let numbers = Set(HeadWalk.numbersForOthers(to: UInt64(newest), named: targets, isSilent: isSilent))
        ownHeads.removeAll { !numbers.contains(UInt64($0.number)) && $0.number + 1 < newest }
        return ModelList(walks: ownHeads.filter { numbers.contains(UInt64($0.number)) }, counts: listed(rules))
    }

    /// The counts that its list `heads` proves: those of former members.
    private func listed(_ rules: ModelRules) -> [UInt32: UInt64] {
        guard rules.contains(.keptHeads) else { return [:] }
        return vouched.merging(known.filter { removed.contains($0.key) }.mapValues(\.count)) { max($0, $1) }
    }

    /// Goes on under a new number, behind a disk that was put back.
    mutating func rejoin(as new: UInt32) {
        let (old, limit) = (number, last?.count ?? 0)
        let later = Set(items.versions.values.flatMap { $0.counts(of: old, above: limit) })
        (number, issued) = (new, 0)
        let renamed = Dictionary(uniqueKeysWithValues: later.sorted().map { ($0, issue()) })
        items.versions = items.versions.mapValues { $0.renaming(old, above: limit, to: renamed) }
        removed.insert(old)
        hasOtherLife = false
        (known[old], accepted[old]) = (last, last?.digest)
        forgetWritten()
    }

    private mutating func forgetWritten() {
        (written, packs, lastPack, ownHeads) = ([:], [], 0, [])
        (last, pending) = (nil, nil)
    }

    /// Forgets its remote, and takes another one in its place.
    ///
    /// - Returns: The versions that still waited or were held, by their signer.
    mutating func take(remote new: Int, _ rules: ModelRules) -> [UInt32: [[UInt8]: SyncedVersion]] {
        let dropped = waiting.merging(held) { $0.merging($1) { first, _ in first } }
        if rules.contains(.keptHeads) { vouched = counts }
        (known, accepted, waiting, held) = ([:], [:], [:], [:])
        // The control: what a server once agreed to store counts as stored.
        if !rules.contains(.freshNotes) { stored = written.mapValues(\.version) }
        forgetWritten()
        remote = new
        return dropped
    }
}
