// What sync leaves to the user, and how it is settled. Format: docs/formats/sync.md, "Questions".

import OMItems
import OMParcels
import OMRecords
import OMSecrets
import OMSyncKeys
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

extension SyncedHome {
    /// The names of the live copies that `get` would warn of. Nil if it would not.
    func copies(of item: String) throws -> [String]? {
        let path = FieldPath(try ItemName(item), try FieldName("password"))
        return switch try unlock().perform(.secret(path, revision: nil)) {
        case .hasCopies(let names, _): names.map(\.text)
        default: nil
        }
    }

    func read(_ item: String) throws -> Bool {
        let vault = try unlock()
        let path = FieldPath(try ItemName(item), try FieldName("password"))
        do throws(VaultError) { _ = try vault.secret(path) } catch {
            guard error == .changedMeaning(path.item) else { throw error }
            return false
        }
        return true
    }

    func rename(_ item: String, to name: String) throws {
        try edit { edit throws(VaultError) in try edit.rename(ItemName(item), to: ItemName(name)) }
    }

    func trash(_ items: [String]) throws {
        try edit { edit throws(VaultError) in for item in items { try edit.trash(ItemName(item)) } }
    }
}

@Suite("What sync leaves to the user", .onOwnThreads)
struct SettlingTests {
    /// Two devices that changed `x` while apart.
    private func conflict(_ prepare: (SyncedHome) throws -> Void = { _ in }) throws -> SyncedHomes {
        let synced = try SyncedHomes(2) { home in
            try home.add("x", "old")
            try prepare(home)
        }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.put("x", "from a")
        b.now += 10
        try b.put("x", "from b")
        for home in [a, b, a, b] { try home.sync() }
        return synced
    }

    private func exchange(_ synced: SyncedHomes) throws {
        for home in synced.homes + synced.homes { try home.sync() }
    }

    @Test("a conflict copy is shown without values, and a read of its item names it until it is settled")
    func shown() throws {
        let synced = try conflict()
        for home in synced.homes {
            let questions = try home.questions()
            guard case .copy(let copy) = questions.first?.subject else { throw VaultError.unchanged }
            #expect(questions.count == 1 && copy.item?.name.text == "x")
            #expect(copy.differences == [.field(try FieldName("password"))])
            #expect(copy.item?.device != copy.copy.device)
            #expect(try home.copies(of: "x") == [copy.copy.name.text])
        }
        // A field that is the same in both brings no warning.
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.settle(a.questions(), .keepItem)
        #expect(try a.values() == ["x": "from b"] && a.copies(of: "x") == nil && a.questions().isEmpty)
        try exchange(synced)
        #expect(try b.values() == ["x": "from b"] && b.copies(of: "x") == nil && b.questions().isEmpty)
        #expect(try a.unlock().items(trashed: true).count == 1)
    }

    @Test("the item gets the content of its copy, also of a large value, and both devices agree")
    func keepCopy() throws {
        let large = String(repeating: "omvault ", count: 150_000)
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.putLarge("x", large)
        b.now += 10
        try b.put("x", "from b")
        try exchange(synced)
        #expect(try a.values(except: "conflict-")["x"] == "from b")
        try a.settle(a.questions(), .keepCopy)
        try exchange(synced)
        for home in [a, b] {
            #expect(try home.large("x") == large)
            #expect(try home.unlock().items().count == 1 && home.questions().isEmpty)
            #expect(try home.unlock().verify(deep: true).findings.isEmpty)
        }
    }

    @Test("a copy becomes an item of its own under a free name")
    func keepBoth() throws {
        let synced = try conflict { home in try home.add("taken", "other") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        let questions = try a.questions()
        #expect(throws: AnswerProblem.vault(.itemExists(try ItemName("taken")))) {
            try a.settle(questions, .keepBoth(ItemName("taken")))
        }
        #expect(try a.questions() == questions)
        try a.settle(questions, .keepBoth(ItemName("y")))
        try exchange(synced)
        #expect(try a.values() == ["x": "from b", "y": "from a", "taken": "other"])
        #expect(try a.values() == b.values() && b.questions().isEmpty && b.copies(of: "x") == nil)
    }

    @Test("an answer reaches only what the user saw")
    func stale() throws {
        let synced = try conflict()
        let a = synced.homes[0]
        let questions = try a.questions()
        try a.put("x", "changed since")
        #expect(throws: AnswerProblem.hasChanged) { try a.settle(questions, .keepCopy) }
        #expect(throws: AnswerProblem.doesNotFit) { try a.settle(a.questions(), .accept) }
        #expect(try a.values()["x"] == "changed since" && a.values().count == 2)
    }

    @Test("the content of a copy never becomes more widely readable than it was")
    func levels() throws {
        let synced = try conflict()
        let a = synced.homes[0]
        try a.edit { edit throws(VaultError) in try edit.setLevel(ItemName("x"), ProtectionLevel(.always)) }
        try a.settle(a.questions(), .keepCopy)
        #expect(try a.unlock().item(ItemName("x")).level == .whenUnlocked)
        try exchange(synced)
        #expect(try synced.homes[1].values() == ["x": "from a"])
    }

    // MARK: - Names

    @Test("a name that means another item by a merge is not read until the user settles it")
    func changedMeaning() throws {
        let synced = try SyncedHomes(2) { home in
            try home.add("x", "old")
            try home.add("y", "other")
        }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try b.rename("x", to: "old x")
        try b.rename("y", to: "x")
        try exchange(synced)
        // The user of b did it himself.
        #expect(try b.read("x") && b.questions().isEmpty)
        #expect(try !a.read("x") && a.read("old x"))
        guard case .meaning(let meaning) = try a.questions().first?.subject else { throw VaultError.unchanged }
        #expect(try meaning.name.text == "x" && meaning.before == .isNow(ItemName("old x")))
        try a.settle(a.questions(), .confirm)
        #expect(try a.read("x") && a.questions().isEmpty)
        try exchange(synced)
        #expect(try a.read("x") && b.read("x"))
    }

    @Test("a name is noted too if no item had it for a time, and not if the two items are equal")
    func twoSteps() throws {
        let synced = try SyncedHomes(2) { home in for name in ["x", "y", "z"] { try home.add(name, "value of \(name)") } }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try b.trash(["x", "y", "z"])
        try exchange(synced)
        try b.add("x", "another")
        try b.add("y", "value of y")
        try exchange(synced)
        #expect(try !a.read("x") && a.read("y"))
        // A user who gives the name to an item himself decides.
        try a.rename("x", to: "new")
        try a.add("x", "own")
        try a.add("z", "own")
        #expect(try a.read("x") && a.read("new") && a.read("z") && a.questions().isEmpty)
    }

    @Test("a note cannot be dropped, changed or put back in the file, and a file without notes costs no row")
    func notesInFile() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        #expect(try a.unlock().readSync { access throws(VaultError) in access.own?.hasNotes } == false)
        try b.rename("x", to: "old x")
        try b.add("x", "new")
        try exchange(synced)
        #expect(try !a.read("x"))
        let before = try a.saved()
        try a.change("DELETE FROM sync_rows WHERE kind = 12 AND substr(key, 1, 1) = x'00'")
        #expect(throws: VaultError.corrupt(.sync)) { try a.read("x") }
        try a.restore(before)
        try a.change("UPDATE sync_rows SET key = x'00' || randomblob(16) WHERE kind = 12 AND substr(key, 1, 1) = x'00'")
        #expect(throws: VaultError.corrupt(.sync)) { try a.read("x") }
        try a.restore(before)
        try a.settle(a.questions(), .confirm)
        #expect(try a.read("x"))
    }

    // MARK: - Held versions

    @Test("a version without power is shown; the user drops it, or makes it a copy")
    func held() throws {
        for answer in [SyncAnswer.keepItem, .keepBoth(nil)] {
            let synced = try SyncedHomes(2) { home in try home.add("x", "mine") }
            let (a, b) = (synced.homes[0], synced.homes[1])
            try b.plant("x", "thief", at: .always)
            try b.sync()
            #expect(try a.sync().pull.held == 1)
            guard case .held(let change) = try a.questions().first?.subject else { throw VaultError.unchanged }
            #expect(try change.level == .always && change.levelHere == .whenUnlocked && change.signers == [b.number()])
            #expect(throws: AnswerProblem.doesNotFit) { try a.settle(a.questions(), .keepCopy) }
            let questions = try a.questions()
            try a.settle(questions, answer)
            #expect(try a.values()["x"] == "mine")
            #expect(try a.values().count == (answer == .keepItem ? 1 : 2))
            #expect(try a.sync().pull.held == 0)
            if answer != .keepItem {
                let copy = try #require(try a.unlock().items().first { $0.name.text.hasPrefix("conflict-") })
                #expect(try copy.level == .whenUnlocked && a.values()[copy.name.text] == "thief")
            }
        }
    }

    // MARK: - The brake

    /// Two devices or more, of which the second removed 25 of 30 items.
    private func manyRemoved(_ count: Int = 2) throws -> SyncedHomes {
        let synced = try SyncedHomes(count) { home in for index in 0..<30 { try home.add("item \(index)", "value \(index)") } }
        try synced.homes[1].trash((0..<25).map { "item \($0)" })
        try synced.homes[1].sync()
        #expect(try synced.homes[0].sync().pull.braked == 25)
        return synced
    }

    @Test("accepting some of the changes does not let the others through")
    func acceptSome() throws {
        let synced = try manyRemoved()
        let (a, b) = (synced.homes[0], synced.homes[1])
        let braked = try a.braked()
        guard case .braked(let change) = braked[0].subject else { throw VaultError.unchanged }
        #expect(try change.effect == .removes && change.signers == [b.number()] && !change.isOfRemoved)
        try a.settle(Array(braked.prefix(10)), .accept)
        #expect(try a.values().count == 20)
        #expect(try a.sync().pull.braked == 15 && a.values().count == 20)
        try a.settle(a.braked(), .accept)
        try exchange(synced)
        #expect(try a.values().count == 5 && a.values() == b.values())
    }

    @Test("a number of all changes does not reach what arrived since")
    func arrivedSince() throws {
        let synced = try manyRemoved()
        let (a, b) = (synced.homes[0], synced.homes[1])
        let seen = try a.braked()
        let number = OpenQuestion.number(ofAll: seen)
        try b.trash(["item 27"])
        try b.sync()
        try a.sync()
        #expect(try a.braked().count == 26 && OpenQuestion.number(ofAll: a.braked()) != number)
        try a.settle(seen, .accept)
        #expect(try a.values()["item 27"] == "value 27" && a.braked().count == 1)
    }

    @Test("refused changes are undone on every device")
    func refuse() throws {
        let synced = try manyRemoved()
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.settle(a.braked(), .refuse)
        #expect(try a.braked().isEmpty && a.values().count == 30)
        // For b they are revived items, of which 20 come without a question.
        try exchange(synced)
        try b.settle(b.braked(), .accept)
        try exchange(synced)
        #expect(try a.values().count == 30 && a.values() == b.values())
        #expect(try a.values()["item 3"] == "value 3")
    }

    @Test("changes of a removed device are not applied any more, and go")
    func removedDevice() throws {
        let synced = try manyRemoved(3)
        let (a, b) = (synced.homes[0], synced.homes[1])
        let seen = try a.braked()
        try a.unlock().removeDevices([b.number()], now: a.now)
        guard case .braked(let change) = try a.braked().first?.subject else { throw VaultError.unchanged }
        #expect(change.isOfRemoved)
        #expect(throws: AnswerProblem.ofRemovedDevice) { try a.settle(seen, .accept) }
        #expect(try a.values().count == 30)
        // The next exchange drops them.
        try a.sync()
        #expect(try a.braked().isEmpty && a.values().count == 30)
        try synced.homes[2].sync()
        #expect(try synced.homes[2].values().count == 30)
    }

    @Test("while more than 20 versions of a device have no power here, its other changes wait")
    func manyHeld() throws {
        let synced = try SyncedHomes(2) { home in for index in 0..<30 { try home.add("item \(index)", "value \(index)") } }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for index in 0..<20 { try b.plant("item \(index)", "thief", at: .always) }
        try b.put("item 25", "one")
        try b.sync()
        let report = try a.sync().pull
        #expect(report.held == 20 && report.braked == 0 && report.written == 1)
        try b.plant("item 20", "thief", at: .always)
        try b.put("item 26", "two")
        try b.sync()
        #expect(try a.sync().pull.braked == 1)
        #expect(try a.values()["item 26"] == "value 26")
        // A refused new item is purged everywhere, and a refused value is replaced.
        try b.add("extra", "new")
        try b.sync()
        #expect(try a.sync().pull.braked == 2)
        try a.settle(a.braked(), .refuse)
        try exchange(synced)
        for home in [a, b] { #expect(try home.values()["extra"] == nil && home.values()["item 26"] == "value 26") }
        #expect(try a.braked().isEmpty && a.values()["item 20"] == "value 20")
    }

    // MARK: - The roll

    @Test("a device that made none of two entries stops, and goes on with its user's choice")
    func rollEntries() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "1") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        let numbers = try [a, b].map { try $0.number() }
        // Each removes the other one, while apart.
        try a.unlock().removeDevices([numbers[1]], now: a.now)
        try b.unlock().removeDevices([numbers[0]], now: b.now)
        try a.sync()
        try b.sync()
        #expect(try c.sync().pull.isStopped)
        let entries = try c.questions()
        #expect(entries.count == 2)
        #expect(throws: AnswerProblem.doesNotFit) { try c.settle(entries, .confirm) }
        let mine = try #require(
            try entries.first {
                guard case .entry(let choice) = $0.subject else { return false }
                return try choice.entry.contents.signer == a.number()
            })
        try c.settle([mine], .confirm)
        #expect(try c.questions().isEmpty)
        let report = try c.sync().pull
        #expect(!report.isStopped && report.lostEntries.isEmpty)
        #expect(try c.unlock().roll().members[numbers[0]] != nil && c.unlock().roll().members[numbers[1]] == nil)
        #expect(try c.sync().pull.isStopped == false)
        try a.put("x", "2")
        try a.sync()
        try c.sync()
        #expect(try c.values()["x"] == "2")
    }

    /// Entries that remove a device, all of the next number, by the device of this home.
    private func removals(_ count: Int, of device: UInt32, by home: SyncedHome) throws -> [RollEntry] {
        let vault = try home.unlock()
        let roll = try vault.roll()
        let (signer, link) = try vault.readSync { access throws(VaultError) in
            (try vault.signer(access), try DeviceLanes(vault, access).link)
        }
        let number = UInt32(roll.entries.count)
        let lanes = ProtectionLevel.Availability.allCases.map { Lane.random($0, epoch: roll.laneEpoch + 1) }
        let rest = roll.members.values.filter { $0.number != device }
        return try (0..<count).map { index in
            signer.sign(
                try RollEntry.Contents(
                    kind: .remove, vault: vault.id, number: number, previous: roll.digests[roll.digests.count - 1],
                    signer: home.number(), time: home.now + Int64(index), laneEpoch: roll.laneEpoch + 1, added: [],
                    removed: [device], wraps: RollChange.wraps(lanes, #require(link), for: rest, entry: number, vault: vault.id)))
        }
    }

    @Test("a member that signs many entries of one number does not hide those of the others")
    func manyEntries() throws {
        let synced = try SyncedHomes(3)
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        try b.sync()
        let entries = try removals(9, of: b.number(), by: a) + removals(1, of: a.number(), by: b)
        let vault = try c.unlock()
        let roll = try vault.roll()
        let choice = try RollChoice(founding: roll.entries[0], entries, accepted: roll, keeping: [])
        #expect(choice.undecided.count == 10)
        for _ in 0..<2 { try vault.editSync(now: c.now) { access throws(VaultError) in try RollQuestion.keep(choice, &access) } }
        let signers = try c.questions().map { question in
            guard case .entry(let choice) = question.subject else { throw VaultError.unchanged }
            return choice.entry.contents.signer
        }
        #expect(try signers.count == 5 && signers.count { try $0 == b.number() } == 1)
    }
}
