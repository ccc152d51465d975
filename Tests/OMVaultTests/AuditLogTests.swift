// The audit log: what is told, and that no entry goes, moves or changes unnoticed.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import Testing

@testable import OMVault

extension Home {
    func trail() throws -> AuditTrail { try VaultFile.open(vault, device: device(), acceptsRollback: true).auditTrail() }

    func events() throws -> [AuditEvent] { try trail().entries.map(\.event) }
}

@Suite struct AuditLogTests {
    /// Entries: 1 made, 2 to 6 added, 7 changed, 8 removed.
    private func homeWithALog() throws -> Home {
        let home = try Home()
        try home.create()
        for name in ["a", "b", "c", "d", "e"] { try home.add(name, ["x": "value of \(name)"]) }
        try home.unlock().edit { edit throws(VaultError) in
            try edit.put(secret("another"), at: FieldPath(ItemName("a"), FieldName("x")))
        }
        try home.unlock().edit { edit throws(VaultError) in try edit.purge(ItemName("b")) }
        return home
    }

    @Test("every change writes its entry, in ids and numbers")
    func entries() throws {
        let home = try homeWithALog()
        let trail = try home.trail()
        #expect(trail.fault == nil)
        #expect(trail.entries.map(\.sequence) == Array(1...8))
        #expect(trail.entries.allSatisfy { $0.oldest == 1 })
        let a = try home.unlock().item(ItemName("a"))
        let events = trail.entries.map(\.event)
        #expect(events[0] == .vaultCreated)
        #expect(events[1] == .itemAdded(.init(id: a.id, level: .whenUnlocked, revision: 1)))
        #expect(events[6] == .itemChanged(.init(id: a.id, level: .whenUnlocked, revision: 2)))
        guard case .itemPurged(let gone) = events[7] else { throw VaultError.unchanged }
        #expect(gone.revision == 2 && gone.id != a.id)
    }

    @Test("a change that fails, and one that changes nothing, write none")
    func failures() throws {
        let home = try homeWithALog()
        #expect(throws: VaultError.itemExists(try ItemName("c"))) { try home.add("c", [:]) }
        #expect(throws: VaultError.noItem(try ItemName("q"))) {
            try home.unlock().edit { edit throws(VaultError) in
                try edit.purge(ItemName("c"))
                try edit.purge(ItemName("q"))
            }
        }
        try home.unlock().edit { _ throws(VaultError) in }
        #expect(try home.trail().entries.count == 8)
    }

    @Test("a wrong password and an accepted rollback are entries; what was rolled back leaves a hole")
    func eventsWithoutAChange() throws {
        let home = try homeWithALog()
        #expect(throws: VaultError.cannotUnlock) { _ = try home.unlock("wrong", slot: 1) }
        try VaultFile.open(home.vault, device: home.device()).record(.unlocked(slot: 1))
        #expect(try home.events().suffix(2) == [.wrongSecret(slot: 2), .unlocked(slot: 1)])
        try home.save("old")
        try home.add("f", ["x": "y"])
        try home.add("g", ["x": "y"])
        try home.putBack("old")
        let vault = try home.unlock(acceptsRollback: true)
        #expect(throws: VaultError.noItem(try ItemName("f"))) { _ = try vault.item(ItemName("f")) }
        #expect(try vault.value("a", "x") == "another")
        let trail = try home.trail()
        #expect(trail.fault == AuditFault(sequence: 11, kind: .missing) && trail.entries.count == 10)
        let database = try Database.open(home.vault, VaultSchema.schema)
        #expect(try database.number("SELECT max(id) FROM log") == 13)
        #expect(try database.number("SELECT count(*) FROM log") == 11)
        // Nothing else was noted by that: the rollback is still refused.
        #expect(throws: VaultError.rolledBack(.level)) { _ = try home.get("a", "x") }
    }

    @Test(
        "an entry dropped, moved, changed, cut off, repeated or added is named, and the items are still read",
        arguments: [
            ("DELETE FROM log WHERE id = 4", 4, AuditFault.Kind.missing),
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
            ("UPDATE log SET body = body || x'00' WHERE id = 2", 2, .changed),
        ])
    func tampering(statement: String, sequence: UInt64, kind: AuditFault.Kind) throws {
        let home = try homeWithALog()
        try home.tamper(statement)
        let trail = try home.trail()
        #expect(trail.fault == AuditFault(sequence: sequence, kind: kind))
        #expect(trail.entries.map(\.sequence) == Array(1..<min(max(sequence, 1), 9)))
        #expect(try home.get("a", "x") == "another")
        // And still found behind later entries, if it was not behind the end.
        try home.add("f", ["x": "y"])
        let after = try home.trail()
        if sequence < 9 {
            #expect(after.fault?.sequence == sequence)
        } else {
            #expect(after.fault == nil)
            #expect(after.entries.map(\.event)[8] == .strayRows(first: sequence))
            #expect(after.entries.count == 10)
        }
    }

    @Test("every bit of an entry is judged")
    func flips() throws {
        let home = try homeWithALog()
        let database = try Database.open(home.vault, VaultSchema.schema)
        let count = try database.number("SELECT length(body) FROM log WHERE id = 5")
        let whole = try database.text("SELECT hex(body) FROM log WHERE id = 5")
        for index in 0..<Int(count) {
            for bit in [0, 7] {
                var bytes = try Hex.decode(whole.lowercased())
                bytes[index] ^= 1 << UInt8(bit)
                try home.tamper("UPDATE log SET body = x'\(Hex.encode(bytes))' WHERE id = 5")
                #expect(try home.trail().fault == AuditFault(sequence: 5, kind: .changed), "\(index) \(bit)")
            }
        }
        try home.tamper("UPDATE log SET body = x'\(whole)' WHERE id = 5")
        #expect(try home.trail().fault == nil)
    }

    @Test("a log without its last entries, put back together with nothing else, is noticed; so is another history's")
    func putBack() throws {
        let home = try homeWithALog()
        try home.save("before")
        let old = try Database.open(home.vault, VaultSchema.schema).text("SELECT hex(body) FROM log WHERE id = 8")
        try VaultFile.open(home.vault, device: home.device()).record(.unlocked(slot: 1))
        let other = try Database.open(home.vault, VaultSchema.schema).text("SELECT hex(body) FROM log WHERE id = 9")
        try home.putBack("before")
        #expect(try home.trail().fault == AuditFault(sequence: 9, kind: .missing))
        // The same place in another history, as a copy of the vault on the same device could have it.
        let log = AuditLog(try home.device().make(), vault: try home.vaultID())
        let last = try AuditEntry(decoding: Hex.decode(old.lowercased()), log.key, home.vaultID())
        let forked = AuditEntry(
            after: last.mark, oldest: 1, time: 7, .unlocked(slot: 2), log.key, try home.vaultID())
        try home.tamper("INSERT INTO log VALUES (9, x'\(Hex.encode(forked.encoded))')")
        #expect(try home.trail().fault == AuditFault(sequence: 9, kind: .changed))
        try home.tamper("UPDATE log SET body = x'\(other)' WHERE id = 9")
        #expect(try home.trail().fault == nil)
    }

    @Test("a crash between the commit and the mark is no fault, and the next entry follows")
    func crash() throws {
        let home = try homeWithALog()
        let mark = home.deviceFolder + "/vault-\(Hex.encode(try home.vaultID())).mark"
        let before = try Data(contentsOf: URL(filePath: mark))
        try VaultFile.open(home.vault, device: home.device()).record(.unlocked(slot: 1))
        try VaultFile.open(home.vault, device: home.device()).record(.unlocked(slot: 2))
        try before.write(to: URL(filePath: mark))
        #expect(try home.trail().fault == nil)
        #expect(try home.trail().entries.count == 10)
        try home.add("f", ["x": "y"])
        let trail = try home.trail()
        #expect(trail.fault == nil && trail.entries.count == 11)
    }

    @Test("10,000 entries are kept, and those before are known to be gone")
    func bound() throws {
        let home = try Home()
        try home.create()
        let file = try VaultFile.open(home.vault, device: home.device())
        let log = AuditLog(try home.device().make(), vault: try home.vaultID())
        let marks = try home.logMarks()
        let database = try Database.open(home.vault, VaultSchema.schema)
        var seen = try #require(try marks.read())
        seen[MarkIndex.log] = try database.transaction(.write) { () throws(VaultError) in
            try log.append(
                [AuditEvent](repeating: .unlocked(slot: 1), count: 10_050), after: seen[MarkIndex.log], now: 1,
                in: database)
        }
        try marks.write(seen)
        #expect(try database.number("SELECT count(*) FROM log") == 10_000)
        try file.record(.unlocked(slot: 2))
        let trail = try home.trail()
        #expect(trail.fault == nil && trail.entries.count == 10_000)
        #expect(trail.entries.first?.sequence == 53 && trail.entries.last?.oldest == 53)
        try home.tamper("DELETE FROM log WHERE id = 53")
        #expect(try home.trail().fault == AuditFault(sequence: 53, kind: .missing))
        // What is not kept any more is not missed; the end that was cut off is.
        try home.tamper("DELETE FROM log WHERE id > 10000")
        try file.record(.unlocked(slot: 3))
        #expect(try home.trail().fault == AuditFault(sequence: 10_001, kind: .missing))
        #expect(try home.trail().entries.first?.sequence == 54)
    }

    @Test("more than 64 items in one change are one entry")
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
        #expect(events.count == 66)
        #expect(events.last == .manyItems(added: 65, changed: 0, purged: 0))
    }

    @Test("the log of another vault, or under another device key, is not this one's")
    func strangers() throws {
        let home = try homeWithALog()
        let other = try homeWithALog()
        let theirs = try Database.open(other.vault, VaultSchema.schema).text("SELECT hex(body) FROM log WHERE id = 8")
        try home.tamper("UPDATE log SET body = x'\(theirs)' WHERE id = 8")
        #expect(try home.trail().fault == AuditFault(sequence: 8, kind: .changed))
        try FileManager.default.removeItem(atPath: home.deviceFolder)
        #expect(throws: VaultError.noLogHere) { _ = try home.trail() }
        _ = try home.device().make()
        #expect(throws: VaultError.noLogHere) { _ = try home.trail() }
    }

    @Test("every event is read back from its bytes, and no other bytes are one")
    func codec() throws {
        let item = AuditEvent.ItemTrace(id: Random.bytes(16), level: .highest, revision: 9)
        let events: [AuditEvent] = [
            .vaultCreated, .vaultRestored(takenAt: -1), .backupTaken(portable: false), .backupTaken(portable: true),
            .itemAdded(item), .itemChanged(item), .itemTrashed(item), .itemRestored(item), .itemPurged(item),
            .levelChanged(item, from: .whenUnlocked), .manyItems(added: 1, changed: 2, purged: 3),
            .unlocked(slot: 7), .wrongSecret(slot: 8), .rollbackAccepted, .slotAdded(id: 1, .password),
            .slotChanged(id: 2, .recovery), .slotRemoved(id: 3, .password), .policyChanged(Random.bytes(12)),
            .rekeyed(epoch: 4), .strayRows(first: 5),
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
        var levels = item.id + [0x20]
        levels += [UInt8](repeating: 0, count: 8)
        #expect(throws: MalformedBytes.self) { _ = try AuditEvent(kind: 16, detail: levels) }
    }

    @Test("no name, value or password stands in the log's bytes")
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
        let bytes = try home.trail().entries.flatMap(\.encoded)
        #expect(bytes.count > 400)
        // The scan finds what is there: an item's id.
        let told = try home.events().compactMap { if case .itemAdded(let item) = $0 { item.id } else { nil } }
        #expect(Data(bytes).firstRange(of: Data(told[0])) != nil)
        for part in [canary, "name-", "field-", "value-", "other-", "password-", String(canary.suffix(12))] {
            #expect(Data(bytes).firstRange(of: Data(part.utf8)) == nil, "\(part)")
        }
    }
}

extension Home {
    func vaultID() throws -> [UInt8] {
        try VaultFile.readHeader(try Database.open(vault, VaultSchema.schema)).id
    }

    func logMarks() throws -> HighWaterFile {
        try device().highWater(.vault, id: vaultID(), under: device().make())
    }
}
