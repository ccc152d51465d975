// Settling what sync leaves to the user. Format: docs/formats/sync.md, "Questions".

package import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMSyncKeys
package import OMVault

extension Vault {
    /// The questions that sync leaves to the user.
    package func openQuestions(now: Int64) throws(VaultError) -> QuestionList {
        try readSync { access throws(VaultError) in
            let open = try OpenQuestions(self, access, now: now)
            return QuestionList(questions: open.all, devices: open.devices, awaited: open.awaited)
        }
    }

    /// Settles questions, all or none, exactly as the user saw them.
    ///
    /// Attack: while the user looks at the questions, a member sends other changes. An answer must not reach them.
    ///
    /// - Parameter numbers: Those of the questions.
    package func settle(
        _ numbers: [String], _ answer: SyncAnswer, now: Int64
    ) throws(AnswerProblem) {
        let result: Result<Void, AnswerProblem>
        do throws(VaultError) {
            result = try editSync(now: now) { access throws(VaultError) in
                let settling = Settling(try OpenQuestions(self, access, now: now), now: now)
                return try settling.settle(Set(numbers), answer, &access)
            }
        } catch { throw .vault(error) }
        try result.get()
        guard answer == .accept else { return }
        do throws(VaultError) { _ = try applyArrived(now: now) } catch { throw .vault(error) }
    }
}

/// One settling in one transaction. It looks whether all answers fit before it writes the first.
private struct Settling {
    let questions: OpenQuestions
    let now: Int64

    init(_ questions: OpenQuestions, now: Int64) { (self.questions, self.now) = (questions, now) }

    func settle(
        _ numbers: Set<String>, _ answer: SyncAnswer, _ access: inout SyncAccess
    ) throws(VaultError) -> Result<Void, AnswerProblem> {
        let chosen = questions.all.filter { numbers.contains($0.number) }
        guard chosen.count == numbers.count else { return .failure(.hasChanged) }
        for question in chosen {
            if let problem = problem(question.subject, answer, chosen.count) { return .failure(problem) }
        }
        for question in chosen { try settle(question.subject, answer, &access) }
        return .success(())
    }

    private func problem(_ subject: OpenQuestion.Kind, _ answer: SyncAnswer, _ count: Int) -> AnswerProblem? {
        guard answer.fits(subject) else { return .doesNotFit }
        return switch (subject, answer) {
        case (.copy(let copy), .keepCopy): copy.item == nil ? .noItem : nil
        // One name is for one item.
        case (.copy, .keepBoth), (.entry, _): count == 1 ? nil : .doesNotFit
        case (.braked(let change), .accept): change.isOfRemoved ? .ofRemovedDevice : nil
        default: nil
        }
    }

    private func settle(
        _ subject: OpenQuestion.Kind, _ answer: SyncAnswer, _ access: inout SyncAccess
    ) throws(VaultError) {
        switch (subject, answer) {
        case (.copy(let copy), .keepItem): try trash(copy.copy.id, &access)
        case (.copy(let copy), .keepCopy):
            guard let item = copy.item else { throw .corrupt(.sync) }
            try take(copy.copy.id, into: item, &access)
        case (.copy(let copy), .keepBoth(let name?)): try rename(copy.copy.id, to: name, &access)
        case (.meaning(let meaning), .confirm): try access.dropChangedMeaning(of: meaning.id)
        case (.held(let change), .keepItem): try useUp(change, &access)
        case (.held(let change), .keepBoth(nil)):
            try addCopy(change, &access)
            try useUp(change, &access)
        case (.braked(let change), .accept):
            for arrival in arrivals(change) where questions.reading.members.contains(arrival.key.signer) {
                try arrival.parcel.setMark(.isAgreed, at: arrival.key, &access)
            }
        case (.braked(let change), .refuse): try refuse(change, &access)
        case (.entry(let choice), .confirm): try RollQuestion.choose(choice.entry, &access)
        default: throw .corrupt(.sync)
        }
    }

    private func arrivals(_ change: ArrivedChange) -> [Arrivals.Arrival] {
        questions.reading.arrived.filter { change.keys.contains($0.key) }
    }

    private func useUp(_ change: ArrivedChange, _ access: inout SyncAccess) throws(VaultError) {
        for arrival in arrivals(change) { try Vault.useUp(arrival, questions.reading.chunks, &access) }
    }

    // MARK: - Edits of this device

    /// Writes the next version of an item, as an edit of this device.
    ///
    /// - Parameters:
    ///   - source: The item whose details and values it gets. Nil for its own.
    ///   - others: Lowerings that the version may have beside its own.
    ///   - change: What differs from the version here.
    private func edit(
        _ id: [UInt8], from source: [UInt8]? = nil, lowerings others: [StoredLowering] = [], _ access: inout SyncAccess,
        _ change: (inout SyncedVersion) -> Void
    ) throws(VaultError) {
        let reading = questions.reading
        guard let entry = reading.items.entries[id] else { throw .corrupt(.sync) }
        var next = entry.version
        change(&next)
        next.dot = try access.nextDot()
        next.seen.insert(next.dot)
        let stored = entry.lowerings + others
        let lowerings = Lowering.joined(next.lowerings, above: next.level).map { lowering in
            stored.first { $0.claimed == lowering } ?? StoredLowering(unproven: lowering)
        }
        let here = try access.version(at: entry.place)
        let from = try source.flatMap { reading.items.entries[$0]?.place }.map { place throws(VaultError) in
            try access.version(at: place)
        }
        let link = reading.link
        let content = SyncAccess.Source((from ?? here).content, beside: from ?? here) { chunk in
            // The chunks of another item get ids of their own.
            from == nil ? chunk : link?.copyChunkID(of: chunk, in: id) ?? chunk
        } chunk: { _ in
            nil
        }
        let isPurged = next.state == .purged
        try access.write(
            SyncAccess.NewVersion(
                id: id, level: next.level, state: next.contentState, name: isPurged ? nil : next.name, created: next.created,
                time: now,
                parts: SyncedParts(dot: next.dot, seen: next.seen, lowerings: lowerings, origin: next.origin)),
            isPurged ? nil : content, over: here)
    }

    private func trash(_ id: [UInt8], _ access: inout SyncAccess) throws(VaultError) {
        try edit(id, &access) { $0.state = .trashed }
        try access.dropChangedMeaning(of: id)
    }

    /// Gives an item the content of its copy.
    private func take(_ copy: [UInt8], into item: ConflictCopy.Version, _ access: inout SyncAccess) throws(VaultError) {
        guard let level = questions.reading.items.version(of: copy)?.level else { throw .corrupt(.sync) }
        if item.isTrashed, !isFree(item.name) { throw .itemExists(item.name) }
        try edit(item.id, from: copy, &access) { next in
            next.state = .live
            // Attack: the item was lowered since. The content of the copy must not become more widely readable.
            next.level = max(next.level, level)
        }
        try trash(copy, &access)
    }

    private func rename(_ copy: [UInt8], to name: ItemName, _ access: inout SyncAccess) throws(VaultError) {
        guard isFree(name) else { throw .itemExists(name) }
        try edit(copy, &access) { next in
            (next.name, next.origin) = (name, nil)
        }
        try access.dropChangedMeaning(of: copy)
        _ = try access.takeFreed(name)
    }

    private func isFree(_ name: ItemName) -> Bool {
        questions.reading.items.liveItems(named: name).isEmpty && !questions.reading.items.isTaken(name)
    }

    /// Makes a version that has no power over the item a conflict copy beside it.
    private func addCopy(_ change: ArrivedChange, _ access: inout SyncAccess) throws(VaultError) {
        let reading = questions.reading
        guard let link = reading.link else { throw .levelLocked(ProtectionLevel(.whenUnlocked, deviceOnly: false)) }
        var plan = MergePlan(reading.items, link: link)
        for arrival in arrivals(change) { plan.takeBeside(arrival.version.version, of: arrival.key.id) }
        var (trial, count) = (plan, 0)
        trial.settle {
            count += 1
            return Dot(device: reading.own.device, count: reading.own.issued + UInt64(count))
        }
        var dots: [Dot] = []
        for _ in 0..<count { dots.append(try access.nextDot()) }
        var next = dots.makeIterator()
        plan.settle { next.next() ?? dots[dots.count - 1] }
        for group in plan.groups(of: plan.changes.count) { _ = try reading.write(group, of: plan, now: now, &access) }
    }

    /// Writes the item here again, so that it includes the refused versions.
    ///
    /// Its level is the strictest of all: a less strict version has no power over the refused one on another device.
    private func refuse(_ change: ArrivedChange, _ access: inout SyncAccess) throws(VaultError) {
        let refused = arrivals(change)
        let versions = refused.map(\.version.version)
        let level = versions.map(\.level).max() ?? .always
        guard questions.reading.items.entries[change.id] != nil else {
            let dot = try access.nextDot()
            var seen = versions.map(\.seen).reduce(Seen()) { $0.joined(with: $1) }
            seen.insert(dot)
            // The item is not here, and is not wanted.
            try access.write(
                SyncAccess.NewVersion(
                    id: change.id, level: level, state: .purged, name: nil, created: versions.map(\.created).min() ?? now,
                    time: now, parts: SyncedParts(dot: dot, seen: seen)), nil, over: nil)
            return try useUp(change, &access)
        }
        try edit(change.id, lowerings: refused.flatMap(\.lowerings), &access) { next in
            for version in versions {
                next.seen = next.seen.joined(with: version.seen)
                next.created = min(next.created, version.created)
                next.lowerings += version.lowerings
            }
            next.level = max(next.level, level)
        }
        try useUp(change, &access)
    }
}
