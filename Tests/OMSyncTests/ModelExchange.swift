// How a device of the model exchanges with its remote. Format: docs/formats/sync.md, "Push and pull".

import OMItems
import OMParcels
import OMRecords
import OMSync

extension SyncModel {
    // MARK: - Push

    /// A device ends what it was writing when it crashed, and then writes its parcels and a new head. It can crash behind each
    /// step.
    mutating func push(_ index: Int, crashes: Bool = true) {
        guard look(index), send(index, crashes: crashes) else { return }
        let digest = nextDigest()
        let head = devices[index].nextHead(digest)
        signed[digest] = head.earlier.last
        devices[index].pending = head
        if crashes, random.chance(10) { return }
        _ = send(index, crashes: crashes)
    }

    mutating func nextDigest() -> UInt64 {
        nextToken += 1
        return nextToken
    }

    /// Sends the head that is on the disk, if there is one.
    ///
    /// - Returns: false if the device crashed, or the server refused the head.
    private mutating func send(_ index: Int, crashes: Bool) -> Bool {
        guard let head = devices[index].pending else { return true }
        check(head)
        let (number, place) = (devices[index].number, devices[index].remote)
        switch remotes[place].answers.removeValue(forKey: number) {
        case .refusesAndStores?:
            remotes[place].store(head)
            return isRefused(index)
        case .refuses?: return isRefused(index)
        case .agreesAndDelays?: remotes[place].delayed.append(head)
        case .agreesAndForgets?: break
        case nil:
            let last = remotes[place].chains[number]?.last
            // An honest server stores no head that does not continue the chain. A device without the rule does not ask it.
            if remotes[place].isHonest, rules.contains(.ownChain), last != head, last?.digest != head.earlier.last {
                return isRefused(index)
            }
            if rules.contains(.ownChain) {
                remotes[place].store(head)
            } else if last != head {
                remotes[place].chains[number, default: []].append(head)
            }
        }
        if crashes, random.chance(10) { return false }
        devices[index].note(head)
        remotes[place].lists[number] = devices[index].listed(rules)
        return true
    }

    /// 409: the user tries again later, or does what the message says. An honest server refuses again.
    private mutating func isRefused(_ index: Int) -> Bool {
        let place = devices[index].remote
        if remotes[place].isHonest || random.chance(20) {
            rejoin(index, reading: remotes[place].files(for: devices[index].number)[devices[index].number]?.first)
        }
        return false
    }

    /// What must be true of every head that a device sends.
    private mutating func check(_ head: ModelHead) {
        for (id, version) in head.parcels {
            for value in version.fields.values where version.level < allowed[value.digest] ?? .always {
                problems.append("a value was written at a level that its owner did not choose")
            }
            let other = contents[id, default: [:]].updateValue(version, forKey: version.dot)
            if let other, (other.name, other.fields, other.state) != (version.name, version.fields, version.state) {
                problems.append("lost: one dot has two contents")
            }
        }
    }

    // MARK: - Pull

    /// Some of what the others wrote arrives: of each chain, any later head that the remote shows, and perhaps what is here
    /// already.
    mutating func pull(_ index: Int, isWhole: Bool = false) {
        guard look(index) else { return }
        let place = devices[index].remote
        let number = devices[index].number
        for list in remotes[place].lists.sorted(by: { $0.key < $1.key }) {
            devices[index].vouched.merge(list.value) { max($0, $1) }
        }
        for (signer, files) in remotes[place].files(for: number).sorted(by: { $0.key < $1.key }) where signer != number {
            guard let head = next(of: signer, files, for: index, isWhole: isWhole) else { continue }
            receive(index, head)
        }
        devices[index].apply(rules, groups: !isWhole && random.chance(20) ? random.below(3) : nil)
    }

    /// The head of a signer that a device accepts now. The newest one can be late.
    private mutating func next(of signer: UInt32, _ files: [ModelHead], for index: Int, isWhole: Bool) -> ModelHead? {
        let device = devices[index]
        if device.removed.contains(signer), rules.contains(.removedHeads) {
            return files.first { device.isNamed($0) && device.decision(on: [$0], rules) == .isNew }
        }
        guard device.decision(on: files, rules) == .isNew, let newest = files.first else { return nil }
        let from = device.known[signer]?.number ?? 0
        guard !isWhole, newest.number > from else { return newest }
        let to = from + random.below(newest.number - from + 1)
        return remotes[device.remote].chains[signer, default: []].last { $0.number > from && $0.number <= to }
    }

    /// A head of another device is verified and noted, and its parcels are kept.
    private mutating func receive(_ index: Int, _ head: ModelHead) {
        let signer = head.signer
        checkAccepted(head, by: index)
        let before = devices[index].known.updateValue(head, forKey: signer)
        devices[index].removed.formUnion(head.removed)
        let listed = random.chance(10) ? [:] : before?.parcels ?? [:]
        guard !devices[index].refused.contains(signer) else { return }
        // Of each signer the newest parcel of an item is kept, and no older one.
        for (id, version) in head.parcels where listed[id] != version {
            devices[index].waiting[signer, default: [:]][id] = version
            devices[index].held[signer]?[id] = nil
        }
    }

    /// I3: no head is accepted that does not continue what the device knows of its signer. It is looked up in what was signed.
    private mutating func checkAccepted(_ head: ModelHead, by index: Int) {
        if tooLate.contains(head.digest) { problems.append("I3: a head of a removed device is accepted that no member read") }
        guard let known = devices[index].accepted.updateValue(head.digest, forKey: head.signer) else { return }
        var digest: UInt64? = head.digest
        repeat { digest = digest.flatMap { signed[$0] ?? nil } } while digest != nil && digest != known
        if digest == nil { problems.append("I3: a head is accepted that does not continue the one before") }
    }

    // MARK: - What stops a remote

    /// A device looks at the heads that its remote shows.
    ///
    /// - Returns: false if the remote is gone, or is stopped (31).
    mutating func look(_ index: Int) -> Bool {
        let place = devices[index].remote
        guard !remotes[place].isLost else { return false }
        let number = devices[index].number
        let files = remotes[place].files(for: number)
        let own = files[number] ?? []
        devices[index].wasPutBack = false
        switch devices[index].decision(on: own, rules) {
        // The head that it was writing when it crashed.
        case .isNew: if let pending = devices[index].pending { devices[index].note(pending) }
        case .isClone: rejoin(index, reading: own.first)
        case .stops: return false
        case .isKnown, .waits: break
        }
        let device = devices[index]
        return !files.contains { signer, files in
            signer != number && !device.removed.contains(signer) && device.decision(on: files, rules) == .stops
        }
    }

    /// A device gets a new number. What only its old chain has must not be lost with the old number. So the device reads that
    /// first, and names it.
    private mutating func rejoin(_ index: Int, reading own: ModelHead?) {
        let last = devices[index].last
        devices[index].rejoin(as: nextNumber)
        nextNumber += 1
        if let own, own.number > last?.number ?? 0 { receive(index, own) }
    }
}
