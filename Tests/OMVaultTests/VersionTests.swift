// History, trash, changed levels and deleted bytes, each with an attack or with a reader that delays it.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMItems
@testable import OMVault

extension Home {
    /// An item `a` whose field `x` was "1", then "2" … up to `count`.
    func addVersions(_ count: Int, level: ProtectionLevel? = nil) throws {
        try add("a", ["x": "1"], level: level)
        for number in 2...max(count, 2) where number <= count { try set("\(number)") }
    }

    func set(_ value: String, ifRevision: UInt64? = nil) throws {
        try unlock().edit { edit throws(VaultError) in
            var change = ItemChange()
            try change.set.put(secret(value), at: FieldName("x"))
            try edit.update(ItemName("a"), change, ifRevision: ifRevision)
        }
    }

    func history(_ name: String = "a") throws -> [UInt64] { try unlock().history(ItemName(name)).map(\.revision) }

    func rows(_ table: String) throws -> Int64 {
        try VaultSchema.open(vault).number("SELECT count(*) FROM \(table)")
    }

    /// The sealed bytes of every record, without the clear bytes before them.
    func boxes() throws -> [Data] {
        let database = try VaultSchema.open(vault)
        var each = try database.prepare("SELECT body FROM records")
        var boxes: [Data] = []
        while try each.step() { boxes.append(Data(each.bytes(0).dropFirst(80))) }
        return boxes
    }

    /// The number of `boxes` with a piece left in a file of the vault.
    func left(_ boxes: [Data]) throws -> Int {
        let files = try ["", "-wal"].compactMap { end in
            FileManager.default.fileExists(atPath: vault + end)
                ? try Data(contentsOf: URL(fileURLWithPath: vault + end)) : nil
        }
        return boxes.filter { $0.contains { $0 != 0 } }.count { box in
            stride(from: 0, to: box.count - 32, by: max(64, box.count / 16)).contains { start in
                files.contains { $0.range(of: box[start..<start + 32]) != nil }
            }
        }
    }
}

extension Vault {
    func value(_ revision: UInt64) throws -> String {
        try secret(FieldPath(ItemName("a"), FieldName("x")), revision: revision).withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }
}

// swift-format-ignore: NeverUseForceTry
private let name = try! ItemName("a")

@Suite struct VersionTests {
    @Test("every change keeps the previous version, ten of them, and drops the oldest")
    func history() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(4)
        #expect(try home.history() == [4, 3, 2, 1])
        for number in UInt64(1)...4 { #expect(try home.unlock().value(number) == "\(number)") }
        for number in 5...25 { try home.set("\(number)") }
        #expect(try home.history() == (15...25).reversed().map { UInt64($0) })
        #expect(try home.unlock().value(15) == "15")
        for revision in [0, 14, 26, UInt64.max] {
            #expect(throws: VaultError.noRevision(revision, of: name)) { try home.unlock().value(revision) }
        }
        #expect(try home.rows("records") == 11)
        #expect(try home.unlock().verify(deep: true).findings.isEmpty)
    }

    @Test(
        "a history that is cut, reordered, swapped or another item's is refused, and the newest version is still read",
        arguments: [
            "UPDATE records SET previous = NULL WHERE id = 4",
            "UPDATE records SET previous = 2 WHERE id = 4",
            "UPDATE records SET previous = 4 WHERE id = 4",
            "UPDATE records SET previous = 5 WHERE id = 4",
            "UPDATE records SET previous = NULL WHERE id = 2",
            "DELETE FROM records WHERE id = 1",
            "UPDATE records SET id = CASE id WHEN 1 THEN 20 ELSE 21 END WHERE id IN (1, 2); "
                + "UPDATE records SET id = CASE id WHEN 20 THEN 2 ELSE 1 END WHERE id IN (20, 21)",
            "UPDATE records SET body = (SELECT o.body FROM records o WHERE o.id = 5) WHERE id = 2",
            "UPDATE records SET body = zeroblob(376) WHERE id = 3",
        ])
    func tamperedHistory(statements: String) throws {
        let home = try Home()
        try home.create()
        try home.addVersions(4)
        try home.add("b", ["x": "other"])
        #expect(try home.history() == [4, 3, 2, 1])
        for statement in statements.split(separator: "; ") { try home.tamper(String(statement)) }
        #expect(throws: VaultError.corrupt(.record)) { try home.history() }
        #expect(throws: VaultError.corrupt(.record)) { try home.unlock().value(1) }
        #expect(try home.get("a", "x") == "4")
        let report = try home.unlock().verify(deep: true)
        #expect(report.findings.map(\.item) == [name] && report.items == 2)
        #expect(report.findings.first?.readable.first == 4 && report.findings.first?.readable.contains(1) == false)
        // Damaged records can be removed, all of them.
        let boxes = try home.boxes()
        try home.unlock().edit { edit throws(VaultError) in try edit.purge(name) }
        #expect(try home.get("b", "x") == "other" && home.rows("pending") == 0)
        // The bytes of b alone, which were in a too in one case.
        #expect(try home.left(boxes) == (statements.contains("o.id = 5") ? 2 : 1))
    }

    @Test("an older version under the entry of the newest is refused")
    func replayedVersion() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(3)
        try home.tamper("UPDATE entries SET record = 2")
        #expect(throws: VaultError.corrupt(.record)) { try home.get("a", "x") }
        let report = try home.unlock().verify(deep: true)
        #expect(report.findings.map(\.item) == [name] && report.findings[0].readable == [2, 1] && report.items == 0)
    }

    @Test("an item in the trash frees its name, keeps its history, and comes back with it")
    func trash() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(3)
        try home.unlock().edit { edit throws(VaultError) in try edit.trash(name) }
        #expect(throws: VaultError.noItem(name)) { try home.get("a", "x") }
        #expect(try home.unlock().items().isEmpty)
        #expect(try home.unlock().items(trashed: true).map(\.isTrashed) == [true])
        #expect(try home.history() == [4, 3, 2, 1])
        try home.add("a", ["x": "new"])
        #expect(throws: VaultError.itemExists(name)) {
            try home.unlock().edit { edit throws(VaultError) in try edit.restore(name) }
        }
        try home.unlock().edit { edit throws(VaultError) in try edit.purge(name) }
        try home.unlock().edit { edit throws(VaultError) in try edit.restore(name) }
        #expect(try home.get("a", "x") == "3" && home.history() == [5, 4, 3, 2, 1])
        try home.unlock().edit { edit throws(VaultError) in try edit.restore(name, revision: 1) }
        #expect(try home.get("a", "x") == "1" && home.unlock().item(name).revision == 6)
        #expect(throws: VaultError.unchanged) {
            try home.unlock().edit { edit throws(VaultError) in try edit.restore(name, revision: 6) }
        }
        #expect(throws: VaultError.noRevision(9, of: name)) {
            try home.unlock().edit { edit throws(VaultError) in try edit.restore(name, revision: 9) }
        }
        #expect(try home.unlock().items(trashed: true).isEmpty)
    }

    @Test("the last of several trashed items of one name comes back, or the one with the given id")
    func sameNames() throws {
        let home = try Home()
        try home.create()
        for (value, time) in [("1", 100), ("2", 300), ("3", 200)] as [(String, Int64)] {
            try home.add("a", ["x": value])
            try home.unlock().edit(now: time) { edit throws(VaultError) in try edit.trash(name) }
        }
        let trashed = try home.unlock().items(trashed: true)
        #expect(trashed.count == 3)
        try home.unlock().edit { edit throws(VaultError) in try edit.restore(name) }
        #expect(try home.get("a", "x") == "2")
        let vault = try home.unlock()
        try vault.edit { edit throws(VaultError) in try edit.trash(name) }
        let third = try #require(trashed.first { $0.modified == 200 })
        try vault.edit { edit throws(VaultError) in try edit.restore(name, id: third.id) }
        #expect(try home.get("a", "x") == "3")
        #expect(throws: VaultError.noItem(name)) {
            try vault.edit { edit throws(VaultError) in
                try edit.trash(name)
                try edit.restore(name, id: Random.bytes(16))
            }
        }
        #expect(try vault.edit { edit throws(VaultError) in try edit.purgeTrash() }.count == 2)
        #expect(try vault.items(trashed: true).isEmpty && home.get("a", "x") == "3" && home.rows("pending") == 0)
        #expect(throws: VaultError.noItem(name)) {
            try vault.edit { edit throws(VaultError) in try edit.purgeTrash([name]) }
        }
    }

    @Test("an item that is put back from the trash is refused under its name, though all digests of the tree fit")
    func putBackFromTrash() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(2)
        let vault = try home.unlock()
        try vault.edit { edit throws(VaultError) in try edit.trash(name) }
        let state = vault.state
        // By an attacker who can compute the tree. Only the seal of the record stops him.
        try state.database.transaction(.write) { () throws(VaultError) in
            let snapshot = try Snapshot(state, seen: try vault.readMarks())
            guard let (level, entry, _) = try snapshot.trashed(name).first, let keys = state.keys[level] else { return }
            try snapshot.remove(entry, level)
            try snapshot.insert(TreeEntry(key: keys.key(of: name), digest: entry.digest, row: entry.row), level)
            _ = try snapshot.finish(now: 1)
        }
        #expect(throws: VaultError.corrupt(.record)) { try home.get("a", "x") }
        #expect(throws: VaultError.corrupt(.record)) { try home.unlock().items() }
        // By an attacker who cannot compute it.
        let other = try Home()
        try other.create()
        try other.addVersions(2)
        try other.tamper("CREATE TABLE kept AS SELECT key FROM entries")
        // With an additional table it is not our vault.
        #expect(throws: VaultError.storage(.corrupt)) { try other.get("a", "x") }
    }

    @Test(
        "a change of level moves every version and leaves no byte sealed under the old level",
        arguments: [
            (ProtectionLevel(.always), ProtectionLevel.highest), (.highest, ProtectionLevel(.always)),
            (.whenUnlocked, ProtectionLevel(.afterFirstUnlock)),
        ])
    func changeOfLevel(from old: ProtectionLevel, to new: ProtectionLevel) throws {
        let home = try Home()
        try home.create()
        try home.addVersions(12, level: old)
        try home.set(String(repeating: "long ", count: 8_000))
        try home.add("b", ["x": "stays"], level: old)
        let boxes = try home.boxes()
        #expect(try boxes.count == 12 && home.left(boxes) == 12)
        let vault = try home.unlock()
        let reply = try vault.perform(.setLevel(name, new, ifRevision: 13))
        guard case .changed(let item, let purge) = reply else { throw VaultError.noVault }
        #expect(item.level == new && item.revision == 14 && purge == .complete)
        // The version of the item that stays.
        #expect(try home.left(boxes) == 1 && home.rows("pending") == 0)
        #expect(try home.history() == (4...14).reversed().map { UInt64($0) })
        for number in UInt64(4)...12 { #expect(try vault.value(number) == "\(number)") }
        #expect(try vault.value(14).utf8.count == 40_000)
        #expect(try vault.verify(deep: true).findings.isEmpty && vault.verify(deep: true).strays == 0)
        #expect(throws: VaultError.unchanged) { _ = try vault.perform(.setLevel(name, new, ifRevision: nil)) }
    }

    @Test("the vault says pending while a reader keeps the log alive, and the next open removes the bytes")
    func pendingPurge() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(3)
        let boxes = try home.boxes()
        let reader = try VaultSchema.open(home.vault)
        try reader.execute("BEGIN")
        #expect(try reader.number("SELECT count(*) FROM records") == 3)
        let vault = try home.unlock()
        let reply = try vault.perform(.purge([name], ifRevision: nil))
        guard case .removed(let items, let purge) = reply else { throw VaultError.noVault }
        #expect(items.map(\.revision) == [3] && purge == .pending)
        #expect(try home.left(boxes) == 3 && home.rows("pending") == 1)
        // A reader that comes meanwhile does not wait.
        #expect(try home.unlock().items().isEmpty)
        #expect(try home.rows("pending") == 1)
        try reader.execute("COMMIT")
        _ = try home.unlock()
        #expect(try home.left(boxes) == 0 && home.rows("pending") == 0)
    }

    @Test("a shorter history in the policy shortens every level and the trash at once, and purges the rest")
    func shorterHistory() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(5)
        let vault = try home.unlock()
        for (other, level) in [("open", ProtectionLevel(.always)), ("bound", .highest), ("gone", .whenUnlocked)] {
            try vault.edit { edit throws(VaultError) in
                try edit.add(ItemName(other), level: level) { draft throws(VaultError) in
                    try draft.put(secret("1"), at: FieldName("x"))
                }
                for number in 2...3 {
                    try edit.put(secret("\(number)"), at: FieldPath(ItemName(other), FieldName("x")))
                }
            }
        }
        try vault.edit { edit throws(VaultError) in try edit.trash(ItemName("gone")) }
        let (items, trashed) = (try vault.items(), try vault.items(trashed: true))
        let boxes = try home.boxes()
        #expect(boxes.count == 15)
        // One history longer than the new limit, and one shorter, each with its versions.
        #expect(try vault.changePolicy { policy throws(VaultError) in try policy.keepVersions(3) }.purge == .complete)
        #expect(try home.history() == [5, 4, 3, 2] && home.history("bound") == [3, 2, 1] && home.rows("records") == 14)
        #expect(try vault.value(2) == "2")
        #expect(try vault.changePolicy { policy throws(VaultError) in try policy.keepVersions(0) }.purge == .complete)
        #expect(try vault.items() == items && vault.items(trashed: true) == trashed)
        #expect(try home.history() == [5] && home.history("gone") == [4] && home.rows("records") == 4)
        #expect(try home.get("a", "x") == "5" && home.get("open", "x") == "3" && home.left(boxes) == 0)
        let report = try vault.verify(deep: true)
        #expect(report.findings.isEmpty && report.strays == 0 && report.versions == 4)
        // A longer limit changes nothing.
        #expect(try vault.changePolicy { policy throws(VaultError) in try policy.keepVersions(5) }.purge == nil)
        try home.set("6")
        #expect(try home.history() == [6, 5])
    }

    @Test("a damaged history stops a shorter policy, and nothing is changed")
    func shorterDamagedHistory() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(4)
        try home.tamper("UPDATE records SET body = zeroblob(336) WHERE id = 2")
        let vault = try home.unlock()
        #expect(throws: VaultError.corrupt(.record)) {
            try vault.changePolicy { policy throws(VaultError) in try policy.keepVersions(1) }
        }
        #expect(try vault.settings().policy.history == 10 && home.rows("records") == 4)
    }

    @Test("an item in the trash moves to another level with all versions, stays in the trash, and leaves nothing behind")
    func trashedLevel() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(2, level: ProtectionLevel(.always))
        let vault = try home.unlock()
        try vault.edit(now: 77) { edit throws(VaultError) in try edit.trash(name) }
        try home.add("a", ["x": "second"], level: ProtectionLevel(.always))
        try vault.edit(now: 88) { edit throws(VaultError) in try edit.trash(name) }
        let boxes = try home.boxes()
        #expect(throws: VaultError.changedMeanwhile(name, revision: 3)) {
            try vault.edit { edit throws(VaultError) in try edit.setLevel(name, .highest, ifRevision: 2) }
        }
        let item = try vault.edit { edit throws(VaultError) in try edit.setLevel(name, .highest) }
        #expect(item.isTrashed && item.level == .highest && item.modified == 88)
        #expect(try vault.items(trashed: true).map(\.level) == [.highest, .highest])
        #expect(try vault.items().isEmpty && home.left(boxes) == 0)
        #expect(throws: VaultError.unchanged) {
            try vault.edit { edit throws(VaultError) in try edit.setLevel(name, .highest) }
        }
        // The last of the two that was trashed comes back first, as before.
        try vault.edit { edit throws(VaultError) in try edit.restore(name) }
        #expect(try home.get("a", "x") == "second")
        #expect(try vault.verify(deep: true).findings.isEmpty)
    }

    @Test(
        "an item with a damaged newest record is removed by its id or verify's entry, and no other item goes",
        arguments: [
            """
            UPDATE records SET body = CAST(
                substr(body, 1, 100) || CASE substr(body, 101, 1) WHEN x'00' THEN x'01' ELSE x'00' END || substr(body, 102) AS BLOB)
            WHERE id = 4
            """,
            "UPDATE records SET body = zeroblob(336) WHERE id = 4",
            "DELETE FROM records WHERE id = 4",
            // Attack: make the record look like the other item's, or make the entry name the other's row.
            "UPDATE records SET body = (SELECT o.body FROM records o WHERE o.id = 5) WHERE id = 4",
            "UPDATE entries SET record = 5 WHERE record = 4",
            "UPDATE records SET previous = 5 WHERE id = 4; UPDATE records SET body = zeroblob(336) WHERE id = 4",
        ])
    func damagedNewest(statements: String) throws {
        let home = try Home()
        try home.create()
        try home.addVersions(4)
        try home.add("b", ["x": "other"])
        for statement in statements.split(separator: "; ") { try home.tamper(String(statement)) }
        #expect(throws: VaultError.corrupt(.record)) { try home.get("a", "x") }
        #expect(throws: VaultError.corrupt(.record)) {
            try home.unlock().edit { edit throws(VaultError) in try edit.purge(name) }
        }
        let vault = try home.unlock()
        let finding = try #require(try vault.verify(deep: true).findings.first)
        let place = try #require(finding.entryPath)
        let entry = stride(from: 0, to: 32, by: 2).map { place[$0] << 4 | place[$0 + 1] }
        let missing = VaultError.noItem(try ItemName(String(repeating: "07", count: 16)))
        #expect(throws: missing) {
            _ = try vault.perform(.purgeID([UInt8](repeating: 7, count: 16), level: nil))
        }
        guard case .removed(let items, let purge) = try vault.perform(.purgeID(entry, level: nil)) else {
            throw VaultError.noVault
        }
        #expect(items.isEmpty && purge == .complete)
        #expect(try vault.items().map(\.name.text) == ["b"] && home.get("b", "x") == "other")
        let report = try vault.verify(deep: true)
        #expect(try report.findings.isEmpty && report.items == 1 && report.strays == 0 && home.rows("records") == 1)
    }

    @Test("one of two damaged items is removed alone, and after the second the leftovers of both are gone")
    func twoDamaged() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(4)
        try home.add("b", ["x": "first of b"])
        let vault = try home.unlock()
        try vault.edit { edit throws(VaultError) in
            try edit.put(secret("second of b"), at: FieldPath(ItemName("b"), FieldName("x")))
        }
        let id = try vault.item(ItemName("b")).id
        // Attack: make the damaged record claim that it belongs to b, so that b's leftovers go with it.
        try home.tamper(
            "UPDATE records SET body = CAST(substr(body, 1, 4) || x'\(Hex.encode(id))' || substr(body, 21) AS BLOB) WHERE id = 4")
        for row in [4, 6] {
            try home.tamper(
                "UPDATE records SET body = CAST(substr(body, 1, 100) || x'0000' || substr(body, 103) AS BLOB) WHERE id = \(row)")
        }
        let both = try vault.verify(deep: true).findings
        let place = try #require(both.first { $0.item?.text != "b" }?.entryPath)
        let entry = stride(from: 0, to: 32, by: 2).map { place[$0] << 4 | place[$0 + 1] }
        guard case .removed(let items, _) = try vault.perform(.purgeID(entry, level: nil)) else { throw VaultError.noVault }
        #expect(items.isEmpty)
        #expect(try home.rows("records") == 5)
        let report = try vault.verify(deep: true)
        #expect(report.findings.map { $0.item?.text } == ["b"] && report.findings[0].readable == [1])
        _ = try vault.perform(.purgeID(id, level: nil))
        #expect(try home.rows("records") == 0)
    }

    @Test("its id removes an item with a damaged history, an item in the trash, or a planted item of the same name")
    func purgeByID() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(3)
        try VaultFile.open(home.vault, device: home.device()).openAlways().edit { edit throws(VaultError) in
            try edit.add(name, level: ProtectionLevel(.always)) { draft throws(VaultError) in
                try draft.put(secret("planted"), at: FieldName("x"))
            }
        }
        #expect(throws: VaultError.ambiguous(name, [.whenUnlocked, ProtectionLevel(.always)])) { try home.get("a", "x") }
        let vault = try home.unlock()
        let items = try vault.items()
        let planted = try #require(items.first { $0.level == ProtectionLevel(.always) })
        let own = try #require(items.first { $0.level == .whenUnlocked })
        guard case .removed(let gone, _) = try vault.perform(.purgeID(planted.id, level: nil)) else { throw VaultError.noVault }
        #expect(gone == [planted])
        #expect(try home.get("a", "x") == "3" && vault.verify(deep: true).tombstones == 1)
        try vault.edit { edit throws(VaultError) in try edit.trash(name) }
        let boxes = try home.boxes()
        try home.tamper("UPDATE records SET body = zeroblob(336) WHERE id = 2")
        guard case .removed(let trashed, let purge) = try vault.perform(.purgeID(own.id, level: nil)) else {
            throw VaultError.noVault
        }
        #expect(trashed.map(\.isTrashed) == [true] && purge == .complete)
        #expect(try home.left(boxes) == 1 && vault.items(trashed: true).isEmpty)
        // A tombstone is no item.
        #expect(throws: VaultError.noItem(try ItemName(Hex.encode(own.id)))) {
            _ = try vault.perform(.purgeID(own.id, level: nil))
        }
    }

    @Test("a change for another revision is refused with the current one, for every kind of change")
    func ifRevision() throws {
        let home = try Home()
        try home.create()
        try home.addVersions(3)
        let found = VaultError.changedMeanwhile(name, revision: 3)
        let vault = try home.unlock()
        #expect(throws: found) { try home.set("4", ifRevision: 2) }
        #expect(throws: found) { _ = try vault.perform(.trash([name], ifRevision: 4)) }
        #expect(throws: found) { _ = try vault.perform(.purge([name], ifRevision: 1)) }
        #expect(throws: found) { _ = try vault.perform(.setLevel(name, .highest, ifRevision: 2)) }
        #expect(try home.history() == [3, 2, 1])
        try home.set("4", ifRevision: 3)
        #expect(try home.get("a", "x") == "4")
    }

    @Test("fields of 1 MiB come back from every version, a byte more is refused, and the history stays bounded")
    func largeSecrets() throws {
        let home = try Home()
        try home.create()
        try home.add("a", [:])
        let vault = try home.unlock()
        let path = FieldPath(name, try FieldName("x"))
        for number in UInt8(1)...14 {
            try vault.edit { edit throws(VaultError) in
                try edit.put(SecretBytes(count: 1 << 20) { $0[Int(number)] = number }, at: path)
            }
        }
        #expect(try home.rows("records") == 11)
        for number in UInt8(4)...14 {
            let value = try vault.secret(path, revision: UInt64(number) + 1)
            #expect(value.withBytes { $0.count == 1 << 20 && $0[Int(number)] == number && $0[0] == 0 })
        }
        #expect(throws: VaultError.tooLarge) {
            try vault.edit { edit throws(VaultError) in
                try edit.put(SecretBytes(count: 1 << 20 + 1) { _ in }, at: path)
            }
        }
    }

    @Test("field values refuse anything that an item could not hold")
    func fieldValues() throws {
        var values = FieldValues()
        try values.put(secret("1"), at: FieldName("x"))
        #expect(throws: VaultError.fieldExists(try FieldName("x"))) { try values.put(secret("2"), at: FieldName("x")) }
        #expect(throws: VaultError.tooLarge) { try values.put(.random((1 << 20) + 1), at: FieldName("y")) }
        for number in 1..<256 { try values.put(secret(""), at: FieldName("f\(number)")) }
        #expect(throws: VaultError.tooLarge) { try values.put(secret(""), at: FieldName("z")) }
        #expect(values.names.count == 256)
        #expect(values.withSecret(try FieldName("x")) { $0.isEqual(to: secret("1")) } == true)
        #expect(values.withSecret(try FieldName("none")) { _ in true } == nil)
    }

    @Test("deleting a field keeps the previous version, and a missing field is named")
    func deletedField() throws {
        let home = try Home()
        try home.create()
        try home.add("a", ["x": "1", "y": "2"])
        let vault = try home.unlock()
        let (x, none) = (try FieldName("x"), try FieldName("none"))
        _ = try vault.perform(.update(name, ItemChange(removing: [x]), ifRevision: nil))
        #expect(try vault.item(name).fields.map(\.name.text) == ["y"] && vault.value(1) == "1")
        #expect(throws: VaultError.noField(none, of: name)) {
            _ = try vault.perform(.update(name, ItemChange(removing: [none]), ifRevision: nil))
        }
        #expect(throws: VaultError.unchanged) {
            _ = try vault.perform(.update(name, ItemChange(), ifRevision: nil))
        }
    }
}

@Suite struct VerifyTests {
    private func vault() throws -> Home {
        let home = try Home()
        try home.create()
        try home.addVersions(3)
        for number in 0..<20 { try home.add("item \(number)", ["x": "\(number)"]) }
        return home
    }

    @Test("a vault without damage has no findings, and its items are counted")
    func whole() throws {
        let home = try vault()
        try home.unlock().edit { edit throws(VaultError) in
            try edit.trash(ItemName("item 0"))
            try edit.purge(ItemName("item 1"))
        }
        let report = try home.unlock().verify(deep: true)
        #expect(report.findings.isEmpty && report.strays == 0)
        #expect(report.items == 19 && report.trashed == 1 && report.tombstones == 1 && report.versions == 23)
        #expect(try home.unlock().verify(deep: false).findings.isEmpty)
    }

    @Test("a damaged record is named by its item, and all others are still checked")
    func damagedRecord() throws {
        let home = try vault()
        try home.tamper("UPDATE records SET body = CAST(substr(body, 1, 200) || zeroblob(176) AS BLOB) WHERE id = 3")
        let report = try home.unlock().verify(deep: true)
        #expect(report.findings.count == 1 && report.items == 20 && report.strays == 0)
        let finding = try #require(report.findings.first)
        #expect(finding.error == .corrupt(.record) && finding.item == name && finding.readable == [2, 1])
        #expect(finding.level == .whenUnlocked && finding.entryPath?.count == 32)
        // Without another version there is no name, only a position.
        try home.tamper("UPDATE records SET body = zeroblob(376) WHERE id = 4")
        let both = try home.unlock().verify(deep: true).findings
        #expect(both.count == 2 && both.contains { $0.item == nil && $0.readable.isEmpty && $0.entryPath?.count == 32 })
        #expect(try home.unlock().verify(deep: false).findings.isEmpty)
    }

    @Test("a changed list of items, a damaged level, a level put back and stray records are one finding each")
    func otherDamage() throws {
        let home = try vault()
        try home.save("whole")
        try home.tamper("DELETE FROM entries WHERE key = (SELECT min(key) FROM entries)")
        let tree = try home.unlock().verify(deep: true)
        #expect(tree.findings.map(\.error) == [.corrupt(.tree)] && tree.findings[0].entryPath?.count == 1)
        #expect(tree.items == 20 && tree.strays > 0)

        try home.putBack("whole")
        try home.tamper("UPDATE levels SET state = zeroblob(80) WHERE level = 3")
        let level = try home.unlock().verify(deep: true)
        #expect(level.findings.map(\.error) == [.corrupt(.level)] && level.findings[0].level == .whenUnlocked)

        try home.putBack("whole")
        try home.tamper("INSERT INTO records (body) SELECT body FROM records WHERE id = 1")
        #expect(try home.unlock().verify(deep: true).strays == 1)

        try home.putBack("whole")
        try home.add("later", [:])
        try home.putBack("whole")
        let old = try home.unlock().verify(deep: true)
        #expect(old.findings.map(\.error) == [.rolledBack(.level)] && old.items == 21)
    }
}
