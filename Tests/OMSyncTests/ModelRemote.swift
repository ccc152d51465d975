// The remote of the model: the heads, packs, lists and entries that it stored, and what a malicious or broken server shows of them.

import OMParcels
import OMSync

/// What a head says of the head of another device.
struct ModelReference: Hashable {
    let number: Int
    let digest: UInt64
}

/// A statement of one device: all parcels that it lists and their packs, its count, the heads of others that it read, and the
/// members that it knows to be removed.
struct ModelHead: Equatable {
    let signer: UInt32
    /// No two heads have the same.
    let digest: UInt64
    /// The digests of the heads before it: what a walk over `previous` and `skip` finds.
    let earlier: [UInt64]
    let count: UInt64
    let parcels: [[UInt8]: SyncedVersion]
    /// By rising number.
    let packs: [Head.PackReference]
    var others: [UInt32: ModelReference] = [:]
    var removed: Set<UInt32> = []
    /// The last entry of the roll that the device knows. Nil without a server: the members are in `removed` alone.
    var entry: ModelEntry?

    /// 1, and 1 more with each head of the device.
    var number: Int { earlier.count + 1 }
    var reference: ModelReference { ModelReference(number: number, digest: digest) }

    /// The digest of an earlier head, or of this one.
    func digest(of number: Int) -> UInt64? {
        number == self.number ? digest : earlier.indices.contains(number - 1) ? earlier[number - 1] : nil
    }

    static func == (one: ModelHead, other: ModelHead) -> Bool { one.digest == other.digest }
}

/// A list `heads` of one device.
struct ModelList {
    /// Its own heads, for the walks of others.
    var walks: [ModelHead] = []
    /// The counts that the heads of other devices prove: those of former members.
    var counts: [UInt32: UInt64] = [:]
}

struct ModelRemote {
    /// How a server answers the next head of a device.
    enum Answer: CaseIterable {
        /// 409, and the head is stored.
        case refusesAndStores
        /// 409, and the head is not stored.
        case refuses
        /// 200, and the head is stored much later.
        case agreesAndDelays
        /// 200, and the head is never stored.
        case agreesAndForgets
    }

    /// What a server shows of one chain: so many heads, and the file of the last one, or that of the one before too.
    struct View {
        var heads: Int
        var files = 2
    }

    /// What a server shows in the place of a pack.
    enum PackView {
        /// 404. It may be in the list or not.
        case missing(isListed: Bool)
        /// Other bytes.
        case bytes([UInt8])
    }

    /// What a server shows in the place of a list `heads`.
    enum ListView {
        case missing
        /// The list that the device wrote so many times before.
        case older(Int)
        case ofDevice(UInt32)
    }

    struct StoredPack {
        let bytes: [UInt8]
        let digest: [UInt8]

        init(_ bytes: [UInt8]) { (self.bytes, digest) = (bytes, Pack.digest(of: bytes)) }
    }

    /// All heads of each chain, oldest first.
    var chains: [UInt32: [ModelHead]] = [:]
    var packs: [RemoteFile: StoredPack] = [:]
    /// The packs that the newest head of their device lists no more.
    var superseded: Set<RemoteFile> = []
    /// All lists of each device, oldest first.
    var lists: [UInt32: [ModelList]] = [:]
    /// The entries of the roll but the first one, by their digests.
    var entries: [[UInt8]: RollEntry] = [:]

    /// What a device does not see of some chains: views by the reader, then by the signer.
    var views: [UInt32: [UInt32: View]] = [:]
    /// The same for packs, by the reader.
    var packViews: [UInt32: [RemoteFile: PackView]] = [:]
    /// The same for lists, by the reader, then by the writer.
    var listViews: [UInt32: [UInt32: ListView]] = [:]
    /// The digests of entries that a device does not see.
    var hiddenEntries: [UInt32: Set<[UInt8]>] = [:]
    /// Entries of another vault that a device sees beside those of this one.
    var foreignEntries: [UInt32: RollEntry] = [:]
    /// The wrong answers that devices get next.
    var answers: [UInt32: Answer] = [:]
    /// The devices whose next pack or entry gets 204, and is forgotten.
    var forgetsPack: Set<UInt32> = []
    var forgetsEntry: Set<UInt32> = []
    /// Heads to which it agreed, and which it stores later.
    var delayed: [ModelHead] = []
    /// Whether it is gone: no one reads or writes it.
    var isLost = false
    /// Whether it follows the rules for a server: a head must continue the chain of its device, and what it names is stored.
    var isHonest = true

    /// The files `head` and `head.1` of each signer, the newer head first.
    func files(for reader: UInt32) -> [UInt32: [ModelHead]] {
        var files: [UInt32: [ModelHead]] = [:]
        for (signer, chain) in chains {
            let view = views[reader]?[signer]
            let shown = chain.prefix(view?.heads ?? chain.count)
            files[signer] = shown.suffix(view?.files ?? 2).reversed()
        }
        return files
    }

    /// The lists `heads` of all devices.
    func lists(for reader: UInt32) -> [ModelList] {
        lists.sorted { $0.key < $1.key }.compactMap { writer, written in
            switch listViews[reader]?[writer] {
            case nil: written.last
            case .missing?: nil
            case .older(let count)?: written.dropLast(count).last
            case .ofDevice(let other)?: lists[other]?.last
            }
        }
    }

    /// By rising number and digest.
    func entries(for reader: UInt32) -> [RollEntry] {
        let hidden = hiddenEntries[reader] ?? []
        let shown = entries.filter { !hidden.contains($0.key) }.sorted { one, other in
            let (first, second) = (one.value.contents.number, other.value.contents.number)
            return first != second ? first < second : one.key.lexicographicallyPrecedes(other.key)
        }
        return shown.map(\.value) + (foreignEntries[reader].map { [$0] } ?? [])
    }

    /// Shows each device all that it has.
    mutating func comesBack() {
        (views, packViews, listViews, hiddenEntries, foreignEntries) = ([:], [:], [:], [:], [:])
        (answers, forgetsPack, forgetsEntry) = ([:], [], [])
        for head in delayed { store(head) }
        delayed = []
    }

    /// Shows a device all of its own chain, and stores no more of it behind its back.
    mutating func isRight(to number: UInt32) {
        views[number]?[number] = nil
        (answers[number], packViews[number], hiddenEntries[number], foreignEntries[number]) = (nil, nil, nil, nil)
        forgetsPack.remove(number)
        forgetsEntry.remove(number)
        delayed.removeAll { $0.signer == number }
    }

    /// Puts a head into its chain, where it belongs.
    mutating func store(_ head: ModelHead) {
        let chain = chains[head.signer, default: []]
        guard !chain.contains(head) else { return }
        let place = chain.firstIndex { $0.number > head.number } ?? chain.count
        chains[head.signer, default: []].insert(head, at: place)
        supersede(head.signer)
    }

    /// The packs that the newest head lists are not superseded, and those that only older ones list are.
    private mutating func supersede(_ signer: UInt32) {
        let chain = chains[signer, default: []]
        let listed = Set((chain.last?.packs ?? []).map(\.number))
        for pack in chain.suffix(3).flatMap(\.packs) {
            let file = RemoteFile.pack(device: signer, number: pack.number)
            if listed.contains(pack.number) { superseded.remove(file) } else { superseded.insert(file) }
        }
    }

    /// - Returns: false if other bytes are stored.
    mutating func store(_ pack: [UInt8], as file: RemoteFile) -> Bool {
        let new = StoredPack(pack)
        guard let old = packs[file] else {
            packs[file] = new
            return true
        }
        return old.digest == new.digest
    }

    /// Whether what a head names is stored. An honest server refuses any other head (422).
    func hasAll(of head: ModelHead) -> Bool {
        let hasPacks = head.packs.allSatisfy { packs[.pack(device: head.signer, number: $0.number)]?.digest == $0.digest }
        return hasPacks && head.entry.map { $0.number == 0 || entries[$0.digest] != nil } ?? true
    }
}

/// The packs of a remote, as it shows them to one device.
struct ModelFiles: RemoteFiles {
    let remote: ModelRemote
    let reader: UInt32

    init(_ remote: ModelRemote, for reader: UInt32) { (self.remote, self.reader) = (remote, reader) }

    private func view(_ file: RemoteFile) -> ModelRemote.PackView? { remote.packViews[reader]?[file] }

    func files() throws(Never) -> [RemoteFile] {
        remote.packs.keys.filter { file in
            if case .missing(isListed: false)? = view(file) { return false }
            return !remote.superseded.contains(file)
        }
    }

    func bytes(of file: RemoteFile) throws(Never) -> [UInt8]? {
        switch view(file) {
        case nil: remote.packs[file]?.bytes
        case .missing?: nil
        case .bytes(let bytes)?: bytes
        }
    }
}
