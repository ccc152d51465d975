// New keys for a whole vault: the data that stays, the bytes that must be gone, and the processes that are locked out.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct RekeyTests {
    /// Items in three levels, a history, an item in the trash, a tombstone.
    private func filledHome() throws -> Home {
        let home = try Home()
        try home.create()
        try home.add("a", ["x": "1"])
        try home.add("bound", ["x": "2"], level: .highest)
        try home.add("open", ["x": "3"], level: ProtectionLevel(.always))
        for number in 0..<40 { try home.add("many \(number)", ["x": "\(number)"]) }
        try home.unlock().edit { edit throws(VaultError) in
            for value in ["4", "5"] {
                try edit.put(secret(value), at: FieldPath(ItemName("a"), FieldName("x")))
            }
            try edit.trash(ItemName("many 7"))
            try edit.purge(ItemName("many 8"))
        }
        return home
    }

    private func rekey(_ home: Home, _ slots: [Vault.RekeyedSlot]? = nil) throws -> PurgeResult {
        let kept = try slots ?? [.init(id: 1, NewSlot(password: Password(secret("pass word")), .floor))]
        let vault = try home.unlock()
        let expected = try vault.settings().slots
        return try vault.rekey(slots: kept, expecting: expected)
    }

    private func refusal(
        _ vault: consuming Vault, _ slots: [Vault.RekeyedSlot], _ expected: [KeySlot]
    ) -> VaultError? {
        do throws(VaultError) {
            _ = try vault.rekey(slots: slots, expecting: expected)
            return nil
        } catch { return error }
    }

    /// All bytes of the file and its log.
    private func bytes(_ home: Home) throws -> Data {
        ["", "-wal"].reduce(into: Data()) { whole, end in
            whole += FileManager.default.contents(atPath: home.vault + end) ?? Data()
        }
    }

    private func blobs(_ home: Home) throws -> [Data] {
        let database = try VaultSchema.open(home.vault)
        var found: [Data] = []
        for sql in [
            "SELECT body FROM records", "SELECT state FROM levels", "SELECT digests FROM branches",
            "SELECT body FROM slots", "SELECT substr(body, 83) FROM header", "SELECT key || digest FROM entries",
        ] {
            var each = try database.prepare(sql)
            while try each.step() { found.append(Data(each.bytes(0))) }
        }
        return found
    }

    @Test("a rekey keeps all items, history and trash in their levels, under another epoch")
    func everything() throws {
        let home = try filledHome()
        let (before, trash, history) = try state(home)
        #expect(try rekey(home) == .complete)
        let (after, trashAfter, historyAfter) = try state(home)
        #expect(before == after && trash == trashAfter && history == historyAfter)
        #expect(after.count == 41 && trash.count == 1 && history.count == 3)
        #expect(try home.get("a", "x") == "5" && home.get("many 39", "x") == "39")
        #expect(try home.unlock().value("bound", "x") == "2")
        let old = try home.unlock().secret(FieldPath(ItemName("a"), FieldName("x")), revision: 1)
        let isOld = old.isEqual(to: secret("1"))
        #expect(isOld)
        let locked = try VaultFile.open(home.vault, device: home.device()).openAlways()
        #expect(try locked.value("open", "x") == "3")
        let header = try VaultFile.readHeader(VaultSchema.open(home.vault))
        #expect(header.epoch == 2 && header.slots.map(\.id) == [1])
        // The vault can then be changed, and rekeyed again.
        try home.add("later", ["x": "6"])
        #expect(try rekey(home) == .complete)
        #expect(try home.get("later", "x") == "6")
    }

    private func state(_ home: Home) throws -> ([Item], [Item], [ItemVersion]) {
        let vault = try home.unlock()
        return (try vault.items(), try vault.items(trashed: true), try vault.history(ItemName("a")))
    }

    @Test("no old record, state, wrap, slot or digest is left in the file or its log")
    func gone() throws {
        let home = try filledHome()
        let old = try blobs(home)
        #expect(old.count > 50)
        // A row without a reference to it must not stay under the old keys either.
        try home.tamper("INSERT INTO records (body) SELECT body FROM records LIMIT 1")
        let whole = try bytes(home)
        #expect(old.allSatisfy { whole.range(of: $0.suffix(48)) != nil })
        #expect(try rekey(home) == .complete)
        let after = try bytes(home)
        for blob in old { #expect(after.range(of: blob.suffix(48)) == nil, "\(blob.count) bytes are left") }
        #expect(try VaultSchema.open(home.vault).number("SELECT count(*) FROM pending") == 0)
    }

    @Test("while another process reads the old state the bytes stay, the vault says so, and the next open removes them")
    func pending() throws {
        let home = try filledHome()
        let old = try #require(try blobs(home).first)
        do {
            let reader = try VaultSchema.open(home.vault)
            try reader.execute("BEGIN")
            _ = try reader.number("SELECT count(*) FROM records")
            #expect(try rekey(home) == .pending)
            #expect(try bytes(home).range(of: old.suffix(48)) != nil)
            try reader.execute("COMMIT")
        }
        _ = try home.unlock()
        #expect(try bytes(home).range(of: old.suffix(48)) == nil)
    }

    @Test("an old copy that is put back is noticed, and the old slots open nothing of the new vault")
    func oldVault() throws {
        let home = try filledHome()
        let slots = try VaultFile.open(home.vault, device: home.device()).slots
        try home.save("old")
        #expect(try rekey(home) == .complete)
        let file = try VaultFile.open(home.vault, device: home.device())
        for slot in slots {
            let key = try slot.key(stretching: secret("pass word"))
            #expect(throws: VaultError.cannotUnlock) { _ = try file.unlock(slot, with: key) }
        }
        try home.putBack("old")
        #expect(throws: VaultError.rolledBack(.header)) { _ = try home.unlock() }
        let read = try home.unlock(acceptsRollback: true)
        #expect(try read.value("a", "x") == "5")
        let expected = try read.settings().slots
        let slot = Vault.RekeyedSlot(id: 1, NewSlot(keyFile: VaultKeyFile.random()))
        let error = refusal(read, [slot], expected)
        #expect(error == .readOnlyHere)
    }

    @Test("a process that unlocked before the rekey is locked out, and can change nothing")
    func others() throws {
        let home = try filledHome()
        let earlier = try home.unlock()
        let always = try VaultFile.open(home.vault, device: home.device()).openAlways()
        #expect(try rekey(home) == .complete)
        #expect(throws: VaultError.rekeyed) { try earlier.value("a", "x") }
        #expect(throws: VaultError.rekeyed) { try earlier.items() }
        #expect(throws: VaultError.rekeyed) { try earlier.edit { edit throws(VaultError) in try edit.purgeTrash() } }
        #expect(throws: VaultError.rekeyed) { try always.value("open", "x") }
    }

    @Test("a slot that was added meanwhile stops a rekey, and a rekey obeys the rules for slots")
    func slotRules() throws {
        let home = try filledHome()
        let file = VaultKeyFile.random()
        let kept = [Vault.RekeyedSlot(id: 1, NewSlot(keyFile: file))]
        do {
            let vault = try home.unlock()
            let expected = try vault.settings().slots
            _ = try home.unlock().addSlot(NewSlot(keyFile: file))
            let seen = refusal(vault, kept, expected)
            #expect(seen == .slotChanged(3))
        }
        let login = Vault.RekeyedSlot(id: 9, NewSlot(login: Random.bytes(16), key: .random()))
        #expect(throws: VaultError.onlyLoginSlots) { try rekey(home, [login]) }
        #expect(throws: VaultError.lastSlot) { try rekey(home, []) }
        #expect(try home.get("a", "x") == "5")
        #expect(try rekey(home, kept) == .complete)
        let opened = try VaultFile.open(home.vault, device: home.device())
        #expect(try opened.unlock(opened.slots[0], with: file.key()).value("a", "x") == "5")
    }

    @Test("damage stops a rekey, and the vault stays unchanged")
    func damage() throws {
        let home = try filledHome()
        try home.tamper("UPDATE records SET body = zeroblob(376) WHERE id = (SELECT max(id) FROM records)")
        #expect(throws: VaultError.corrupt(.record)) { try rekey(home) }
        #expect(try home.get("many 3", "x") == "3")
        let header = try VaultFile.readHeader(VaultSchema.open(home.vault))
        #expect(header.epoch == 1 && header.slots.count == 2)
    }
}
