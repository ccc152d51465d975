// The remote of the model: the heads that it stored, and what a malicious or broken server shows of them.

import OMParcels
import OMSync

/// What a head says of the head of another device.
struct ModelReference: Hashable {
    let number: Int
    let digest: UInt64
}

/// A statement of one device: all parcels that it lists, its count, the heads of others that it read, and the members that it
/// knows to be removed.
struct ModelHead: Equatable {
    let signer: UInt32
    /// No two heads have the same.
    let digest: UInt64
    /// The digests of the heads before it: what a walk over `previous` and `skip` finds.
    let earlier: [UInt64]
    let count: UInt64
    let parcels: [[UInt8]: SyncedVersion]
    var others: [UInt32: ModelReference] = [:]
    var removed: Set<UInt32> = []

    /// 1, and 1 more with each head of the device.
    var number: Int { earlier.count + 1 }
    var reference: ModelReference { ModelReference(number: number, digest: digest) }

    /// The digest of an earlier head, or of this one.
    func digest(of number: Int) -> UInt64? {
        number == self.number ? digest : earlier.indices.contains(number - 1) ? earlier[number - 1] : nil
    }

    func says(_ other: ModelHead) -> Bool { count == other.count && parcels == other.parcels && removed == other.removed }

    static func == (one: ModelHead, other: ModelHead) -> Bool { one.digest == other.digest }
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

    /// All heads of each chain, oldest first.
    var chains: [UInt32: [ModelHead]] = [:]
    /// Of each device, the counts of former members that its list `heads` proves.
    var lists: [UInt32: [UInt32: UInt64]] = [:]
    /// What a device does not see of some chains: views by the reader, then by the signer.
    var views: [UInt32: [UInt32: View]] = [:]
    /// The wrong answers that devices get next.
    var answers: [UInt32: Answer] = [:]
    /// Heads to which it agreed, and which it stores later.
    var delayed: [ModelHead] = []
    /// Whether it is gone: no one reads or writes it.
    var isLost = false
    /// Whether it follows the rules for a server: a head must continue the chain of its device.
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

    /// Shows each device all that it has.
    mutating func comesBack() {
        (views, answers) = ([:], [:])
        for head in delayed { store(head) }
        delayed = []
    }

    /// Shows a device all of its own chain, and stores no more of it behind its back.
    mutating func isRight(to number: UInt32) {
        views[number]?[number] = nil
        answers[number] = nil
        delayed.removeAll { $0.signer == number }
    }

    /// Puts a head into its chain, where it belongs.
    mutating func store(_ head: ModelHead) {
        let chain = chains[head.signer, default: []]
        guard !chain.contains(head) else { return }
        let place = chain.firstIndex { $0.number > head.number } ?? chain.count
        chains[head.signer, default: []].insert(head, at: place)
    }
}
