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
        guard look(index) != nil else { return }
        writeRoll(index)
        guard send(index, crashes: crashes) else { return }
        var device = devices[index]
        device.pending = draft(&device)
        devices[index] = device
        if crashes, random.chance(10) { return }
        _ = send(index, crashes: crashes)
    }

    mutating func nextDigest() -> UInt64 {
        nextToken += 1
        return nextToken
    }

    /// Sends the packs and the head that are on the disk, if there are some.
    ///
    /// - Returns: false if the device crashed, or the server refused the head.
    private mutating func send(_ index: Int, crashes: Bool) -> Bool {
        guard let push = devices[index].pending else { return true }
        let head = push.head
        check(head)
        let (number, place) = (devices[index].number, devices[index].remote)
        for pack in push.packs {
            if remotes[place].forgetsPack.remove(number) != nil { continue }
            guard remotes[place].store(pack.bytes, as: pack.file) || !rules.contains(.ownChain) else { return isRefused(index) }
        }
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
            if remotes[place].isHonest, rules.contains(.ownChain) {
                if last != head, last?.digest != head.earlier.last { return isRefused(index) }
                // 422: to send it again cannot help.
                if rules.contains(.lostPacks), !remotes[place].hasAll(of: head) { return false }
            }
            if rules.contains(.ownChain) {
                remotes[place].store(head)
            } else if last != head {
                remotes[place].chains[number, default: []].append(head)
            }
        }
        if crashes, random.chance(10) { return false }
        devices[index].note(push)
        remotes[place].lists[number, default: []].append(devices[index].list(rules))
        return true
    }

    /// 409: the user tries again later, or does what the message says. An honest server refuses again.
    private mutating func isRefused(_ index: Int) -> Bool {
        let place = devices[index].remote
        if remotes[place].isHonest || random.chance(20) {
            rejoin(index, reading: remotes[place].files(for: devices[index].number)[devices[index].number] ?? [])
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

    /// What a remote shows to a device.
    struct Shown {
        /// Of each signer the heads that can be accepted, the newer one first.
        var heads: [UInt32: [ModelHead]] = [:]
        /// The digests of all heads, for the walks.
        var there: Set<UInt64> = []
        var packs = ReadPacks()
    }

    /// Some of what the others wrote arrives: of each chain, any later head that the remote shows, and perhaps what is here
    /// already.
    mutating func pull(_ index: Int, isWhole: Bool = false) {
        guard let shown = look(index) else { return }
        let number = devices[index].number
        for list in remotes[devices[index].remote].lists(for: number) {
            devices[index].vouched.merge(list.counts) { max($0, $1) }
        }
        for (signer, heads) in shown.heads.sorted(by: { $0.key < $1.key }) where signer != number {
            guard let (head, packs) = next(of: signer, heads, for: index, shown, isWhole: isWhole) else { continue }
            receive(index, head, packs)
        }
        devices[index].apply(rules, groups: !isWhole && random.chance(20) ? random.below(3) : nil)
    }

    /// The head of a signer that a device accepts now, and its packs. The newest one can be late.
    private mutating func next(
        of signer: UInt32, _ heads: [ModelHead], for index: Int, _ shown: Shown, isWhole: Bool
    ) -> (ModelHead, ReadPacks)? {
        let device = devices[index]
        if device.removed.contains(signer), rules.contains(.removedHeads) {
            let head = heads.first { device.isNamed($0) && device.decision(on: [$0], over: shown.there, rules) == .isNew }
            return head.map { ($0, shown.packs) }
        }
        guard device.decision(on: heads, over: shown.there, rules) == .isNew, let newest = heads.first else { return nil }
        let from = device.known[signer]?.number ?? 0
        guard !isWhole, newest.number > from else { return (newest, shown.packs) }
        let to = from + random.below(newest.number - from + 1)
        let late = remotes[device.remote].chains[signer, default: []].last { $0.number > from && $0.number <= to }
        guard let late, late != newest else { return late.map { ($0, shown.packs) } }
        var packs = ReadPacks()
        guard hasPacks(of: late, device, &packs), device.decision(on: [late], over: shown.there, rules) == .isNew else {
            return nil
        }
        return (late, packs)
    }

    /// Whether all packs of a head are there, but for those of the known one. The control: they need not be.
    private func hasPacks(of head: ModelHead, _ device: ModelDevice, _ packs: inout ReadPacks) -> Bool {
        let files = ModelFiles(remotes[device.remote], for: device.number)
        guard rules.contains(.packDigests) else { return true }
        let known = head.signer == device.number ? device.last : device.known[head.signer]
        let isWhole = try? packs.read(head.packs, of: head.signer, ModelMembers.vault, since: known?.packs ?? [], files)
        return isWhole ?? false || !rules.contains(.wholePacks)
    }

    /// A head of another device is verified and noted, and its parcels are kept.
    private mutating func receive(_ index: Int, _ head: ModelHead, _ packs: ReadPacks) {
        let signer = head.signer
        checkAccepted(head, by: index)
        let before = devices[index].known.updateValue(head, forKey: signer)
        if devices[index].roll == nil { devices[index].removed.formUnion(head.removed) }
        guard !devices[index].refused.contains(signer) else { return }
        let files = ModelFiles(remotes[devices[index].remote], for: devices[index].number)
        var (listed, read) = (Set(before?.packs ?? []), packs.packs(of: signer))
        // A crash: the packs of the known head too are read once more.
        var every = ReadPacks()
        if random.chance(10), (try? every.read(head.packs, of: signer, ModelMembers.vault, since: [], files)) ?? false {
            (listed, read) = ([], every.packs(of: signer))
        }
        if !rules.contains(.packDigests) {
            for reference in head.packs where !listed.contains(reference) {
                read[reference.number] = pack(reference, of: signer, files)
            }
        }
        // Of each signer the parcel of the newest pack is kept, and no older one.
        var taken: Set<[UInt8]> = []
        for reference in head.packs.reversed() where !listed.contains(reference) {
            if read[reference.number] == nil, rules.contains(.wholePacks) { problems.append("a pack was not read") }
            for parcel in read[reference.number]?.parcels ?? [] where taken.insert(parcel.header.id).inserted {
                devices[index].waiting[signer, default: [:]][parcel.header.id] = sealed[parcel.header.salt]
                devices[index].held[signer]?[parcel.header.id] = nil
            }
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

    /// A device looks at what its remote shows.
    ///
    /// - Returns: nil if the remote is gone, or is stopped (31).
    mutating func look(_ index: Int) -> Shown? {
        let place = devices[index].remote
        guard !remotes[place].isLost, takeRoll(index) else { return nil }
        let number = devices[index].number
        let files = remotes[place].files(for: number)
        let own = files[number] ?? []
        devices[index].wasPutBack = false
        var shown = Shown()
        shown.there = Set(files.values.joined().map(\.digest))
        for list in remotes[place].lists(for: number) { shown.there.formUnion(list.walks.map(\.digest)) }
        switch devices[index].decision(on: own, over: shown.there, rules) {
        // The head that it was writing when it crashed.
        case .isNew: if let pending = devices[index].pending { devices[index].note(pending) }
        case .isClone:
            devices[index].hasOtherLife = true
            guard rejoin(index, reading: own) else { return nil }
        case .stops: return nil
        case .isKnown, .waits: break
        }
        let device = devices[index]
        for (signer, heads) in files.sorted(by: { $0.key < $1.key }) where signer != device.number {
            shown.heads[signer] = RemoteNews.possible(
                heads, device.known[signer], number: { UInt64($0.number) }, isOwn: false
            ) { head, _ in hasPacks(of: head, device, &shown.packs) }
        }
        let stopping = shown.heads.filter { signer, heads in
            !device.removed.contains(signer) && device.decision(on: heads, over: shown.there, rules) == .stops
        }
        if !rules.contains(.lateWalks) { for signer in stopping.keys { devices[index].refuse(signer) } }
        return stopping.isEmpty ? shown : nil
    }

    /// A device gets a new number. What only its old chain has must not be lost with the old number. So the device reads that
    /// first, and names it.
    ///
    /// - Parameter own: The heads of its old number that the remote shows, the newer one first.
    /// - Returns: false if its user waits.
    @discardableResult
    mutating func rejoin(_ index: Int, reading own: [ModelHead]) -> Bool {
        guard canSign(index) else { return false }
        let device = devices[index]
        var packs = ReadPacks()
        let later = own.first.flatMap { $0.number > device.last?.number ?? 0 ? $0 : nil }
        // A head whose packs are not whole is read later, or not at all if this device wrote it.
        let isWhole = later.map { hasPacks(of: $0, device, &packs) } ?? true
        guard isWhole || !adversary.hasSnapshots else { return false }
        let new = newMember()
        if devices[index].roll != nil {
            sign(.replace, on: index, adding: [ModelMembers.all[new.place]], removing: [device.number])
        }
        devices[index].rejoin(as: new.number)
        if let later, isWhole { receive(index, later, packs) }
        return true
    }
}
