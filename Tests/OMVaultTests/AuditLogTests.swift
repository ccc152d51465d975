// The audit log: its entries, and the detection of lost, moved or changed entries.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import Testing

@testable import OMItems
@testable import OMVault

extension Home {
    func report() throws -> AuditLogReport { try VaultFile.open(vault, device: device(), acceptsRollback: true).auditReport() }

    func events() throws -> [AuditEvent] { try report().entries.map(\.event) }
}

@Suite struct AuditLogTests {
    /// Entries: 1 made, 2 unlocked, 3 to 6 added, 7 changed, 8 removed.
    private func homeWithALog() throws -> Home {
        let home = try Home()
        try home.create()
        _ = try fill(home)
        return home
    }

    private func fill(_ home: Home) throws -> Vault {
        let vault = try home.unlock()
        for name in ["a", "b", "c", "d"] { try add(name, to: vault) }
        try vault.edit { edit throws(VaultError) in
            try edit.put(secret("another"), at: FieldPath(ItemName("a"), FieldName("x")))
        }
        try vault.edit { edit throws(VaultError) in try edit.purge(ItemName("b")) }
        return vault
    }

    private func add(_ name: String, to vault: borrowing Vault) throws {
        try vault.edit { edit throws(VaultError) in
            try edit.add(ItemName(name), level: nil) { draft throws(VaultError) in
                try draft.put(secret("value of \(name)"), at: FieldName("x"))
            }
        }
    }

    private func file(_ home: Home) throws -> VaultFile { try VaultFile.open(home.vault, device: home.device()) }

    @Test("every change writes its entry, in ids and numbers")
    func entries() throws {
        let home = try homeWithALog()
        let report = try home.report()
        #expect(report.fault == nil)
        #expect(report.entries.map(\.sequence) == Array(1...8))
        #expect(report.entries.allSatisfy { $0.oldest == 1 })
        let a = try home.unlock().item(ItemName("a"))
        let events = report.entries.map(\.event)
        #expect(events[0] == .vaultCreated && events[1] == .unlocked(slot: 1))
        #expect(events[2] == .itemAdded(.init(id: a.id, level: .whenUnlocked, revision: 1)))
        #expect(events[6] == .itemChanged(.init(id: a.id, level: .whenUnlocked, revision: 2)))
        guard case .itemPurged(let gone) = events[7] else { throw VaultError.unchanged }
        #expect(gone.revision == 2 && gone.id != a.id)
    }

    @Test("a failed change and an empty change write no entry")
    func failures() throws {
        let home = try homeWithALog()
        let vault = try home.unlock()
        let before = try home.report().entries.count
        var isRefused = false
        do { try add("c", to: vault) } catch { isRefused = error as? VaultError == .itemExists(try ItemName("c")) }
        #expect(isRefused)
        do {
            try vault.edit { edit throws(VaultError) in
                try edit.purge(ItemName("c"))
                try edit.purge(ItemName("q"))
            }
        } catch { isRefused = error == .noItem(try ItemName("q")) }
        #expect(isRefused)
        try vault.edit { _ throws(VaultError) in }
        #expect(try home.report().entries.count == before)
    }

    @Test("every unlock and every wrong password writes an entry, before the caller gets the keys")
    func unlocks() throws {
        let home = try homeWithALog()
        #expect(throws: VaultError.cannotUnlock) { _ = try home.unlock("wrong", slot: 1) }
        _ = try home.unlock()
        #expect(try home.events().suffix(2) == [.wrongSecret(slot: 2), .unlocked(slot: 1)])
        // A delayed password was not checked, and class keys are no unlock.
        let count = try home.report().entries.count
        #expect(throws: VaultError.cannotUnlock) { _ = try home.unlock("wrong") }
        #expect(throws: VaultError.delayed(seconds: 1)) { _ = try home.unlock() }
        #expect(try home.report().entries.count == count + 1)
    }

    @Test("a right code among two recovery codes is no wrong code, and a wrong code is one attempt")
    func twoCodes() throws {
        let home = try Home()
        try home.create()
        let second = RecoveryCode.random()
        let wrong = RecoveryCode.random()
        _ = try home.unlock().addSlot(try NewSlot(recovery: second, .floor))
        let file = try file(home)
        let codes = file.slots.filter { $0.kind == .recovery }
        try #require(codes.map(\.id) == [2, 3])
        let vault = try file.unlock(anyOf: codes) { slot throws(VaultError) in try slot.key(stretching: second.secret) }
        #expect(vault.openedBy?.id == 3)
        #expect(try home.events().suffix(2) == [.slotAdded(id: 3, .recovery), .unlocked(slot: 3)])
        #expect(throws: VaultError.cannotUnlock) {
            _ = try file.unlock(anyOf: codes) { slot throws(VaultError) in try slot.key(stretching: wrong.secret) }
        }
        #expect(try home.events().suffix(2) == [.unlocked(slot: 3), .wrongSecret(slot: 3)])
    }

    @Test("a run of wrong codes at any slots is one counted entry, and pushes nothing out of the log")
    func runs() throws {
        let home = try homeWithALog()
        let file = try file(home)
        for number in 1...40 { try file.record(.wrongSecret(slot: UInt32(2 + number % 2)), now: Int64(number)) }
        let report = try home.report()
        #expect(report.fault == nil && report.entries.count == 9)
        guard case .repeated(let run)? = report.entries.last?.event else { throw VaultError.unchanged }
        #expect(!run.isUnlock && run.slot == 2 && run.count == 40 && run.first == 1)
        #expect(report.entries.last?.time == 40)
        // Another event ends it, and the next is a new entry. Unlocks are counted for each slot.
        for event in [1, 1, 1, 2, 2].map({ AuditEvent.unlocked(slot: $0) }) + [.wrongSecret(slot: 1)] {
            try file.record(event)
        }
        let events = try home.events()
        guard case .repeated(let first) = events[9], case .repeated(let second) = events[10] else {
            throw VaultError.unchanged
        }
        #expect((first.isUnlock, first.slot, first.count) == (true, 1, 3))
        #expect((second.isUnlock, second.slot, second.count) == (true, 2, 2))
        #expect(events.count == 12 && events.last == .wrongSecret(slot: 1))
        #expect(try home.report().fault == nil)
    }

    @Test("a run with a smaller count put back is noticed, and a run that crashed before its mark is kept")
    func runsTampered() throws {
        let home = try homeWithALog()
        let file = try file(home)
        let database = try VaultSchema.open(home.vault)
        func last() throws -> String { try database.text("SELECT hex(body) FROM log WHERE id = 9") }
        for _ in 1...3 { try file.record(.wrongSecret(slot: 2)) }
        let three = try last()
        let marks = try home.marks()
        for _ in 1...2 { try file.record(.wrongSecret(slot: 2)) }
        try home.tamper("UPDATE log SET body = x'\(three)' WHERE id = 9")
        #expect(try home.report().fault == LogFault(sequence: 9, kind: .changed))
        // Nothing is written after a log that does not fit the mark.
        try file.record(.wrongSecret(slot: 2))
        #expect(try last() == three && home.rows("log") == 9)
        // The log is one step ahead of its mark, because of a crash between the two.
        try home.replaceMarks(marks)
        #expect(try home.report().fault == nil)
        try file.record(.wrongSecret(slot: 2))
        let four = try last()
        try home.replaceMarks(marks)
        #expect(four != three)
        #expect(try home.report().fault == nil)
        // The next entry does not replace it, because the mark would then be two behind.
        try file.record(.wrongSecret(slot: 2))
        #expect(try last() == four && home.rows("log") == 10)
        #expect(try home.report().fault == nil)
        try home.open(try home.classKeys()).edit { edit throws(VaultError) in try edit.purge(ItemName("a")) }
        #expect(try home.report().fault == nil)
    }

    @Test("changes of a copy or of an older state of the vault leave the vault's log whole")
    func copies() throws {
        let home = try homeWithALog()
        let copy = home.root + "/data/copy.omv"
        try home.save("old")
        _ = try home.unlock()
        try home.save("same")
        try FileManager.default.copyItem(atPath: home.root + "/same", toPath: copy)
        let before = try home.report()
        func guess(at path: String, acceptsRollback: Bool = false) throws {
            let file = try VaultFile.open(path, device: home.device(), acceptsRollback: acceptsRollback)
            #expect(throws: VaultError.cannotUnlock) {
                _ = try file.unlock(file.slots[1], with: try file.slots[1].key(stretching: secret("wrong")))
            }
            _ = try file.unlock(file.slots[0], with: try file.slots[0].key(stretching: secret("pass word")))
        }
        // The same bytes, in another file.
        try guess(at: copy)
        #expect(try home.report().entries == before.entries && home.report().fault == nil)
        // Another state, in the same file.
        let whole = try Data(contentsOf: URL(filePath: home.vault))
        func overwrite(_ bytes: Data) throws {
            let handle = try FileHandle(forWritingTo: URL(filePath: home.vault))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: bytes)
        }
        _ = try VaultSchema.open(home.vault).truncateLog()
        try overwrite(try Data(contentsOf: URL(filePath: home.root + "/old")))
        try guess(at: home.vault, acceptsRollback: true)
        try overwrite(whole)
        #expect(try home.report().entries == before.entries && home.report().fault == nil)
        // The vault itself continues, and a change in a copy makes the copy the vault.
        try guess(at: home.vault)
        #expect(try home.report().entries.count == before.entries.count + 2 && home.report().fault == nil)
    }

    @Test("an accepted rollback is reported if the log fits the mark, and records nothing else")
    func acceptedRollback() throws {
        let home = try homeWithALog()
        let keys = try home.classKeys()
        try home.save("old")
        try home.tamper("ATTACH '\(home.root)/old' AS old")
        try add("f", to: try home.open(keys))
        // One level is put back, and the log is not.
        try home.tamper(
            "ATTACH '\(home.root)/old' AS old",
            "DELETE FROM main.entries", "INSERT INTO main.entries SELECT * FROM old.entries",
            "UPDATE main.levels SET state = (SELECT o.state FROM old.levels o WHERE o.level = main.levels.level)")
        let vault = try home.unlock(acceptsRollback: true)
        #expect(try vault.value("a", "x") == "another")
        #expect(try home.events().last == .rollbackAccepted)
        #expect(try home.report().fault == nil)
        #expect(throws: VaultError.rolledBack(.level)) { _ = try home.get("a", "x") }
    }

    @Test(
        "an entry dropped, moved, changed, cut off, repeated or added is named, and the items are still read",
        arguments: [
            ("DELETE FROM log WHERE id = 4", 4, LogFault.Kind.missing),
            ("DELETE FROM log WHERE id = 1", 1, .missing),
            ("DELETE FROM log WHERE id = 8", 8, .missing),
            ("DELETE FROM log WHERE id > 5", 6, .missing),
            ("DELETE FROM log", 1, .missing),
            ("UPDATE log SET id = -id WHERE id IN (3, 4)", 0, .added),
            ("UPDATE log SET body = (SELECT l.body FROM log l WHERE l.id = 9 - log.id) WHERE id IN (4, 5)", 4, .changed),
            ("UPDATE log SET body = (SELECT body FROM log WHERE id = 2) WHERE id = 3", 3, .changed),
            ("INSERT INTO log SELECT 9, body FROM log WHERE id = 8", 9, .added),
            ("INSERT INTO log VALUES (0, x'00')", 0, .added),
            ("INSERT INTO log SELECT 12, body FROM log WHERE id = 8", 12, .added),
            ("UPDATE log SET body = zeroblob(1000000) WHERE id = 6", 6, .changed),
            ("UPDATE log SET body = x'' WHERE id = 8", 8, .changed),
            ("UPDATE log SET body = substr(body, 1, length(body) - 1) WHERE id = 2", 2, .changed),
            ("UPDATE log SET body = CAST(body || x'00' AS BLOB) WHERE id = 2", 2, .changed),
        ])
    func tampering(statement: String, sequence: UInt64, kind: LogFault.Kind) throws {
        let home = try Home()
        try home.create()
        let vault = try fill(home)
        try home.tamper(statement)
        let report = try home.report()
        #expect(report.fault == LogFault(sequence: sequence, kind: kind))
        #expect(report.entries.map(\.sequence) == Array(1..<min(max(sequence, 1), 9)))
        #expect(try vault.value("a", "x") == "another")
        // It is still found after later entries, unless it was after the end.
        try add("f", to: vault)
        let after = try home.report()
        if sequence < 9 {
            #expect(after.fault?.sequence == sequence)
        } else {
            #expect(after.fault == nil)
            #expect(after.entries.map(\.event)[8] == .strayRows(first: sequence))
            #expect(after.entries.count == 10)
        }
    }

    @Test("every flipped bit of an entry is noticed")
    func flips() throws {
        let home = try homeWithALog()
        let database = try VaultSchema.open(home.vault)
        let count = try database.number("SELECT length(body) FROM log WHERE id = 5")
        let whole = try database.text("SELECT hex(body) FROM log WHERE id = 5")
        for index in 0..<Int(count) {
            for bit in [0, 7] {
                var bytes = try Hex.decode(whole.lowercased())
                bytes[index] ^= 1 << UInt8(bit)
                try home.tamper("UPDATE log SET body = x'\(Hex.encode(bytes))' WHERE id = 5")
                #expect(try home.report().fault == LogFault(sequence: 5, kind: .changed), "\(index) \(bit)")
            }
        }
        try home.tamper("UPDATE log SET body = x'\(whole)' WHERE id = 5")
        #expect(try home.report().fault == nil)
    }

    @Test("a log without its last entries, put back alone, is noticed, and so is a log of another history")
    func putBack() throws {
        let home = try homeWithALog()
        try home.save("before")
        let old = try VaultSchema.open(home.vault).text("SELECT hex(body) FROM log WHERE id = 8")
        try file(home).record(.unlocked(slot: 1))
        let other = try VaultSchema.open(home.vault).text("SELECT hex(body) FROM log WHERE id = 9")
        try home.putBack("before")
        #expect(try home.report().fault == LogFault(sequence: 9, kind: .missing))
        // The same position in another history, as in a copy of the vault on the same device.
        let log = AuditLog(try home.device().make(), vault: try home.vaultID())
        let last = try AuditEntry(decoding: Hex.decode(old.lowercased()), log.key, home.vaultID())
        let forked = AuditEntry(
            after: last.mark, oldest: 1, time: 7, .unlocked(slot: 2), log.key, try home.vaultID())
        try home.tamper("INSERT INTO log VALUES (9, x'\(Hex.encode(forked.encoded))')")
        #expect(try home.report().fault == LogFault(sequence: 9, kind: .changed))
        try home.tamper("UPDATE log SET body = x'\(other)' WHERE id = 9")
        #expect(try home.report().fault == nil)
    }

    @Test("a crash between the commit and the mark is no fault, and the next entry follows")
    func crash() throws {
        let home = try Home()
        try home.create()
        let keys = try fill(home).classKeys()
        let mark = home.deviceFolder + "/vault-\(Hex.encode(try home.vaultID())).mark"
        let before = try Data(contentsOf: URL(filePath: mark))
        try VaultFile.open(home.vault, device: home.device()).record(.unlocked(slot: 1))
        try VaultFile.open(home.vault, device: home.device()).record(.unlocked(slot: 2))
        try before.write(to: URL(filePath: mark))
        #expect(try home.report().fault == nil)
        #expect(try home.report().entries.count == 10)
        let vault = try home.open(keys)
        try add("f", to: vault)
        let report = try home.report()
        #expect(report.fault == nil && report.entries.count == 11)
    }

    @Test("10,000 entries are kept, and the older ones are known to be gone")
    func bound() throws {
        let home = try Home()
        try home.create()
        let file = try VaultFile.open(home.vault, device: home.device())
        let log = AuditLog(try home.device().make(), vault: try home.vaultID())
        let marks = try home.logMarks()
        let database = try VaultSchema.open(home.vault)
        var seen = try #require(try marks.read())
        seen[MarkIndex.log] = try database.transaction(.write) { () throws(VaultError) in
            try log.append(
                [AuditEvent](repeating: .unlocked(slot: 1), count: 10_050), after: seen[MarkIndex.log], now: 1,
                in: database)
        }
        try marks.write(seen)
        #expect(try database.number("SELECT count(*) FROM log") == 10_000)
        try file.record(.unlocked(slot: 2))
        let report = try home.report()
        #expect(report.fault == nil && report.entries.count == 10_000)
        #expect(report.entries.first?.sequence == 53 && report.entries.last?.oldest == 53)
        try home.tamper("DELETE FROM log WHERE id = 53")
        #expect(try home.report().fault == LogFault(sequence: 53, kind: .missing))
        // Entries beyond the limit are not missed, but a cut end is.
        try home.tamper("DELETE FROM log WHERE id > 10000")
        try home.add("a", [:])
        #expect(try home.report().fault == LogFault(sequence: 10_001, kind: .missing))
        #expect(try home.report().entries.first?.sequence == 55)
    }

    @Test("a change of more than 64 items is one entry")
    func many() throws {
        let home = try Home()
        try home.create()
        let vault = try home.unlock()
        for count in [64, 65] {
            try vault.edit { edit throws(VaultError) in
                for number in 0..<count {
                    try edit.add(ItemName("\(count)-\(number)"), level: nil) { _ throws(VaultError) in }
                }
            }
        }
        let events = try home.events()
        #expect(events.count == 67)
        #expect(events.last == .manyItems(added: 65, changed: 0, purged: 0))
    }

    @Test("the log of another vault, or under another device key, is refused")
    func otherLogs() throws {
        let home = try homeWithALog()
        let other = try homeWithALog()
        let theirs = try VaultSchema.open(other.vault).text("SELECT hex(body) FROM log WHERE id = 8")
        try home.tamper("UPDATE log SET body = x'\(theirs)' WHERE id = 8")
        #expect(try home.report().fault == LogFault(sequence: 8, kind: .changed))
        try FileManager.default.removeItem(atPath: home.deviceFolder)
        #expect(throws: VaultError.noLogHere) { _ = try home.report() }
        _ = try home.device().make()
        #expect(throws: VaultError.noLogHere) { _ = try home.report() }
    }

    @Test("every event is read back from its bytes, and other bytes are refused")
    func codec() throws {
        let item = AuditEvent.ItemVersionID(id: Random.bytes(16), level: .highest, revision: 9)
        let events: [AuditEvent] = [
            .vaultCreated, .vaultRestored(takenAt: -1), .backupTaken(portable: false), .backupTaken(portable: true),
            .itemAdded(item), .itemChanged(item), .itemTrashed(item), .itemRestored(item), .itemPurged(item),
            .levelChanged(item, from: .whenUnlocked), .manyItems(added: 1, changed: 2, purged: 3),
            .unlocked(slot: 7), .wrongSecret(slot: 8), .rollbackAccepted,
            .repeated(.init(isUnlock: true, slot: 1, count: 2, first: -1, replaced: Random.bytes(32))),
            .repeated(.init(isUnlock: false, slot: 9, count: .max, first: 1, replaced: Random.bytes(32))),
            .slotAdded(id: 1, .password),
            .slotChanged(id: 2, .recovery), .slotRemoved(id: 3, .password), .policyChanged(Random.bytes(12)),
            .rekeyed(epoch: 4), .strayRows(first: 5), .fileReplaced,
        ]
        for event in events {
            let detail = event.detail
            #expect(detail.count <= AuditEntry.maximumDetail)
            #expect(try AuditEvent(kind: event.kind, detail: detail) == event)
            for bytes in [detail + [0], Array(detail.dropLast()), detail + detail] where bytes != detail {
                #expect(throws: MalformedBytes.self, "\(event)") { _ = try AuditEvent(kind: event.kind, detail: bytes) }
            }
        }
        let kinds = Set(events.map(\.kind))
        for kind in UInt8.min...UInt8.max where !kinds.contains(kind) {
            #expect(throws: MalformedBytes.self, "\(kind)") { _ = try AuditEvent(kind: kind, detail: []) }
        }
        for (kind, detail) in [(UInt8(3), [UInt8(0)]), (3, [3]), (48, [0, 0, 0, 1, 0]), (48, [0, 0, 0, 1, 99])] {
            #expect(throws: MalformedBytes.self) { _ = try AuditEvent(kind: kind, detail: detail) }
        }
        let run = [UInt8](repeating: 0, count: 45)
        for head: [UInt8] in [[31, 0, 0, 0, 1, 0, 0, 0, 2], [33, 0, 0, 0, 1, 0, 0, 0, 1], [32, 0, 0, 0, 1, 0, 0, 0, 0]] {
            #expect(throws: MalformedBytes.self) { _ = try AuditEvent(kind: 35, detail: head + run.dropFirst(5)) }
        }
        var levels = item.id + [0x20]
        levels += [UInt8](repeating: 0, count: 8)
        #expect(throws: MalformedBytes.self) { _ = try AuditEvent(kind: 16, detail: levels) }
    }

    @Test("the log's bytes have no name, value or password")
    func canary() throws {
        let home = try Home()
        try home.create()
        let canary = "canary-\(UUID().uuidString)"
        try home.add("name-" + canary, ["field-" + canary: "value-" + canary])
        #expect(throws: VaultError.cannotUnlock) { _ = try home.unlock("password-" + canary, slot: 1) }
        let vault = try home.unlock()
        try vault.edit { edit throws(VaultError) in
            try edit.put(
                secret("other-" + canary), at: FieldPath(ItemName("name-" + canary), FieldName("field-" + canary)))
        }
        try vault.edit { edit throws(VaultError) in try edit.purge(ItemName("name-" + canary)) }
        let bytes = try home.report().entries.flatMap(\.encoded)
        #expect(bytes.count > 400)
        // The scan finds an item's id, which is there.
        let told = try home.events().compactMap { if case .itemAdded(let item) = $0 { item.id } else { nil } }
        #expect(Data(bytes).firstRange(of: Data(told[0])) != nil)
        for part in [canary, "name-", "field-", "value-", "other-", "password-", String(canary.suffix(12))] {
            #expect(Data(bytes).firstRange(of: Data(part.utf8)) == nil, "\(part)")
        }
    }
}

extension Home {
    func vaultID() throws -> [UInt8] {
        try VaultFile.readHeader(try VaultSchema.open(vault)).id
    }

    func logMarks() throws -> HighWaterFile {
        try device().highWater(.vault, id: vaultID(), under: device().make())
    }
}
