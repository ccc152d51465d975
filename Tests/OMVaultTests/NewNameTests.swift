// Items with new names and copies: their histories, the names of older versions, and everything that is done with them later.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMItems
@testable import OMVault

extension Home {
    @discardableResult
    fileprivate func rename(_ old: String, _ new: String, ifRevision: UInt64? = nil) throws -> Item {
        try unlock().edit { edit throws(VaultError) in
            try edit.rename(ItemName(old), to: ItemName(new), ifRevision: ifRevision)
        }
    }

    @discardableResult
    fileprivate func copy(
        _ old: String, _ new: String, level: ProtectionLevel? = nil, ifRevision: UInt64? = nil
    ) throws -> Item {
        try unlock().edit { edit throws(VaultError) in
            try edit.copy(ItemName(old), to: ItemName(new), level: level, ifRevision: ifRevision)
        }
    }

    fileprivate func setX(_ name: String, _ value: String) throws {
        try unlock().edit { edit throws(VaultError) in
            try edit.put(secret(value), at: FieldPath(ItemName(name), FieldName("x")))
        }
    }

    /// Every version as `revision name value`, the newest first.
    fileprivate func versions(_ name: String) throws -> [String] {
        let vault = try unlock(), name = try ItemName(name)
        return try vault.history(name).map { version in
            guard case .secrets(let item, let values) = try vault.secrets(name, revision: version.revision) else {
                throw VaultError.unchanged
            }
            let x = values.withSecret(try FieldName("x")) { value in
                value.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
            }
            return "\(item.revision) \(item.name.text) \(x ?? "")"
        }
    }

    /// Every version opens, and no record is left over.
    fileprivate func expectWhole(versions: Int? = nil, _ location: SourceLocation = #_sourceLocation) throws {
        let report = try unlock().verify(deep: true)
        #expect(report.findings.isEmpty && report.strays == 0, sourceLocation: location)
        if let versions { #expect(report.versions == versions, sourceLocation: location) }
    }
}

private func named(_ text: String) -> ItemName { ItemName(checked: text) }

@Suite("New names") struct NewNameTests {
    private func filled(versions: Int = 3, level: ProtectionLevel? = nil) throws -> Home {
        let home = try Home()
        try home.create()
        try home.addVersions(versions, level: level)
        return home
    }

    // MARK: - Renaming

    @Test("a renamed item keeps its id and its history, each older version keeps its name, and the old name is free")
    func rename() throws {
        let home = try filled()
        let before = try home.unlock().item(named("a"))
        let item = try home.rename("a", "b")
        #expect(try home.events().last == .itemChanged(.init(item)))
        #expect(item.name == named("b") && item.id == before.id && item.revision == 4 && item.created == before.created)
        #expect(try home.versions("b") == ["4 b 3", "3 a 3", "2 a 2", "1 a 1"])
        #expect(throws: VaultError.noItem(named("a"))) { try home.get("a", "x") }
        #expect(throws: VaultError.noRevision(9, of: named("b"))) {
            _ = try home.unlock().secret(FieldPath(named("b"), FieldName("x")), revision: 9)
        }
        #expect(try home.unlock().items() == [item])
        try home.add("a", ["x": "another"])
        #expect(try home.get("a", "x") == "another" && home.get("b", "x") == "3")
        try home.expectWhole(versions: 5)
    }

    @Test("a name that is taken, the same name, another revision and a missing item are refused, and nothing is changed")
    func refused() throws {
        let home = try filled()
        try home.add("b", ["x": "other"])
        try home.add("trashed", ["x": "gone"])
        try home.unlock().edit { edit throws(VaultError) in try edit.trash(named("trashed")) }
        let items = try home.unlock().items()
        #expect(throws: VaultError.itemExists(named("b"))) { try home.rename("a", "b") }
        #expect(throws: VaultError.itemExists(named("b"))) { try home.copy("a", "b") }
        #expect(throws: VaultError.itemExists(named("a"))) { try home.copy("a", "a") }
        #expect(throws: VaultError.unchanged) { try home.rename("a", "a") }
        #expect(throws: VaultError.changedMeanwhile(named("a"), revision: 3)) { try home.rename("a", "c", ifRevision: 2) }
        #expect(throws: VaultError.changedMeanwhile(named("a"), revision: 3)) { try home.copy("a", "c", ifRevision: 4) }
        for missing in ["none", "trashed"] {
            #expect(throws: VaultError.noItem(named(missing))) { try home.rename(missing, "c") }
            #expect(throws: VaultError.noItem(named(missing))) { try home.copy(missing, "c") }
        }
        #expect(try home.unlock().items() == items && home.rows("records") == 6)
        // A name in the trash is free, and the same revision is no obstacle.
        try home.rename("a", "trashed", ifRevision: 3)
        try home.copy("b", "a", ifRevision: 1)
        #expect(try home.get("trashed", "x") == "3" && home.get("a", "x") == "other")
    }

    @Test("a rename of an item with a full history drops the oldest version")
    func fullHistory() throws {
        let home = try filled(versions: 12)
        try home.rename("a", "b")
        #expect(try home.history("b") == (3...13).reversed().map { UInt64($0) })
        #expect(try home.versions("b").suffix(2) == ["4 a 4", "3 a 3"] && home.rows("records") == 11)
        try home.expectWhole(versions: 11)
    }

    @Test("an earlier version that is restored keeps the present name, also if its own name is another item's now")
    func restoredVersion() throws {
        let home = try filled()
        try home.rename("a", "b")
        try home.add("a", ["x": "another"])
        let item = try home.unlock().edit { edit throws(VaultError) in try edit.restore(named("b"), revision: 1) }
        #expect(item.name == named("b"))
        #expect(try home.versions("b") == ["5 b 1", "4 b 3", "3 a 3", "2 a 2", "1 a 1"])
        #expect(try home.versions("a") == ["1 a another"])
        try home.expectWhole(versions: 6)
    }

    @Test("a renamed item goes to the trash and comes back under its present name, with any of its versions")
    func trash() throws {
        let home = try filled()
        try home.rename("a", "b")
        try home.unlock().edit { edit throws(VaultError) in try edit.trash(named("b")) }
        #expect(throws: VaultError.noItem(named("a"))) {
            try home.unlock().edit { edit throws(VaultError) in try edit.restore(named("a")) }
        }
        try home.unlock().edit { edit throws(VaultError) in try edit.restore(named("b"), revision: 2) }
        #expect(try home.versions("b") == ["6 b 2", "5 b 3", "4 b 3", "3 a 3", "2 a 2", "1 a 1"])
        try home.rename("b", "a")
        try home.unlock().edit { edit throws(VaultError) in try edit.trash(named("a")) }
        try home.unlock().edit { edit throws(VaultError) in try edit.restore(named("a")) }
        #expect(try home.get("a", "x") == "2")
        try home.expectWhole(versions: 9)
    }

    @Test("several renames are one change: one after the other, and none if one is refused")
    func several() throws {
        let home = try filled()
        try home.add("b", ["x": "second"])
        let vault = try home.unlock()
        #expect(throws: VaultError.itemExists(named("b"))) {
            _ = try vault.perform(.rename([NewName(named("a"), named("b")), NewName(named("b"), named("c"))], ifRevision: nil))
        }
        #expect(throws: VaultError.noItem(named("none"))) {
            let moves = [NewName(named("a"), named("c")), NewName(named("none"), named("d"))]
            _ = try vault.perform(.rename(moves, ifRevision: nil))
        }
        #expect(try vault.items().map(\.name.text) == ["a", "b"] && home.rows("records") == 4)
        let moves = [NewName(named("b"), named("c")), NewName(named("a"), named("b"))]
        guard case .items(let items) = try vault.perform(.rename(moves, ifRevision: nil)) else { throw VaultError.unchanged }
        #expect(items.map(\.name.text) == ["c", "b"] && items.map(\.revision) == [2, 4])
        #expect(try home.get("b", "x") == "3" && home.get("c", "x") == "second")
        let copies = [NewName(named("b"), named("d")), NewName(named("d"), named("e"))]
        guard case .items(let made) = try vault.perform(.copy(copies, level: nil, ifRevision: nil)) else {
            throw VaultError.unchanged
        }
        #expect(made.map(\.name.text) == ["d", "e"] && Set(made.map(\.id)).count == 2)
        #expect(try home.versions("e") == ["4 e 3", "3 a 3", "2 a 2", "1 a 1"])
        #expect(throws: VaultError.itemExists(named("e"))) {
            let copies = [NewName(named("b"), named("f")), NewName(named("b"), named("e"))]
            _ = try vault.perform(.copy(copies, level: nil, ifRevision: nil))
        }
        #expect(try vault.items().map(\.name.text) == ["b", "c", "d", "e"])
        try home.expectWhole(versions: 14)
    }

    // MARK: - Copying

    @Test("a copy is an item of its own with every version, revision and time of the item, and no sealed byte of it")
    func copy() throws {
        let home = try Home()
        try home.create()
        let vault = try home.unlock()
        for (time, value) in [(100, "1"), (200, "2"), (300, "3")] as [(Int64, String)] {
            try vault.edit(now: time) { edit throws(VaultError) in
                if time == 100 { try edit.add(named("a"), level: .highest) { _ throws(VaultError) in } }
                try edit.put(secret(value), at: FieldPath(named("a"), FieldName("x")))
            }
        }
        let source = try vault.item(named("a"))
        let boxes = try home.boxes()
        let copy = try home.copy("a", "b")
        #expect(try home.events().last == .itemAdded(.init(copy)))
        #expect(copy.id != source.id && copy.name == named("b") && copy.level == .highest)
        #expect(copy.created == 100 && copy.modified == 300 && copy.revision == source.revision)
        #expect(try vault.history(named("b")) == vault.history(named("a")))
        #expect(try home.versions("b") == ["4 b 3", "3 a 2", "2 a 1", "1 a "])
        #expect(try home.versions("a") == ["4 a 3", "3 a 2", "2 a 1", "1 a "])
        #expect(try Set(home.boxes()).count == 8 && Set(home.boxes()).isSuperset(of: boxes))
        try home.expectWhole(versions: 8)
        // Each goes on alone, and neither needs the other.
        try home.setX("b", "of b")
        try home.setX("a", "of a")
        try vault.edit { edit throws(VaultError) in try edit.purge(named("a")) }
        #expect(try home.versions("b") == ["5 b of b", "4 b 3", "3 a 2", "2 a 1", "1 a "])
        try home.expectWhole(versions: 5)
    }

    @Test("a copy of a shortened history begins with the oldest version that is left")
    func shortened() throws {
        let home = try filled(versions: 25)
        try home.copy("a", "b")
        #expect(try home.history("b") == (15...25).reversed().map { UInt64($0) })
        #expect(throws: VaultError.noRevision(14, of: named("b"))) {
            _ = try home.unlock().secret(FieldPath(named("b"), FieldName("x")), revision: 14)
        }
        try home.setX("b", "26")
        #expect(try home.history("b") == (16...26).reversed().map { UInt64($0) })
        let vault = try home.unlock()
        _ = try vault.changePolicy { policy throws(VaultError) in try policy.keepVersions(2) }
        #expect(try home.history("b") == [26, 25, 24] && home.history("a") == [25, 24, 23])
        try home.copy("b", "c")
        #expect(try home.versions("c") == ["26 c 26", "25 b 25", "24 a 24"])
        _ = try vault.changePolicy { policy throws(VaultError) in try policy.keepVersions(0) }
        try home.copy("c", "d")
        #expect(try home.versions("d") == ["26 d 26"])
        try home.expectWhole(versions: 4)
    }

    @Test(
        "a copy has the level of its item, and every version another level only if that is given",
        arguments: ProtectionLevel.allCases)
    func level(_ level: ProtectionLevel) throws {
        let home = try filled(level: level)
        #expect(try home.copy("a", "same").level == level)
        let database = try VaultSchema.open(home.vault)
        #expect(try database.number("SELECT count(*) FROM entries WHERE level = \(level.code)") == 2)
        for other in ProtectionLevel.allCases where other != level {
            #expect(try home.copy("a", "at \(other.code)", level: other).level == other)
            #expect(try home.versions("at \(other.code)") == ["3 at \(other.code) 3", "2 a 2", "1 a 1"])
            let records = "SELECT count(*) FROM records WHERE substr(body, 3, 1) = x'\(Hex.encode([other.code]))'"
            #expect(try database.number(records) == 3)
        }
        try home.expectWhole(versions: 21)
    }

    @Test("an item whose history is damaged is not copied, and nothing is changed")
    func damaged() throws {
        let home = try filled(versions: 4)
        try home.tamper("UPDATE records SET body = zeroblob(376) WHERE id = 2")
        #expect(throws: VaultError.corrupt(.record)) { try home.copy("a", "b") }
        #expect(try home.unlock().items().map(\.name.text) == ["a"] && home.rows("records") == 4)
        // Its newest versions are still whole, and a rename needs no other.
        try home.rename("a", "b")
        #expect(try home.get("b", "x") == "4")
    }

    // MARK: - Later

    @Test("a renamed item and a copy move to other levels, get new keys and are backed up with all their versions")
    func later() throws {
        let home = try filled()
        try home.rename("a", "b")
        try home.copy("b", "c")
        try home.rename("c", "d")
        let (b, d) = (["4 b 3", "3 a 3", "2 a 2", "1 a 1"], ["5 d 3", "4 c 3", "3 a 3", "2 a 2", "1 a 1"])
        #expect(try home.versions("b") == b && home.versions("d") == d)
        for name in ["b", "d"] {
            try home.unlock().edit { edit throws(VaultError) in try edit.setLevel(named(name), .highest) }
        }
        #expect(try home.versions("b") == ["5 b 3"] + b && home.versions("d") == ["6 d 3"] + d)
        let vault = try home.unlock()
        let slots = try vault.settings().slots
        let kept: [Vault.RekeyedSlot] = [
            .init(id: 1, try NewSlot(password: Password(secret("pass word")), .floor)),
            .init(id: 2, try NewSlot(recovery: .random(), .floor)),
        ]
        #expect(try vault.rekey(slots: kept, expecting: slots) == .complete)
        #expect(try home.versions("b") == ["5 b 3"] + b && home.versions("d") == ["6 d 3"] + d)
        try home.copy("d", "portable", level: .whenUnlocked)
        try home.expectWhole(versions: 17)
        let backup = home.root + "/backup.omvb"
        let summary = try home.unlock().backUp(to: backup, portable: false)
        #expect(summary.itemCount == 3 && summary.olderVersions == 14)
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: home.vault + end) }
        let file = try BackupFile.open(backup)
        let slot = file.slots[0]
        let opened = try file.unlock(slot, with: slot.key(stretching: secret("pass word")), device: home.device())
        try opened.restore(to: home.vault, device: home.device(), replacesLiving: true)
        #expect(try home.versions("b") == ["5 b 3"] + b && home.versions("d") == ["6 d 3"] + d)
        try home.expectWhole(versions: 17)
    }

    @Test("with some levels locked, an item there is not found, a name there is not seen, and no copy gets there")
    func lockedLevels() throws {
        let home = try filled(level: ProtectionLevel(.afterFirstUnlock))
        try home.add("hidden", ["x": "secret"])
        let vault = try home.open(try home.classKeys().afterLock)
        for request in 0..<2 {
            #expect(throws: VaultError.noItem(named("hidden"))) {
                try vault.edit { edit throws(VaultError) in
                    if request == 0 {
                        try edit.rename(named("hidden"), to: named("b"))
                    } else {
                        try edit.copy(named("hidden"), to: named("b"))
                    }
                }
            }
        }
        #expect(throws: VaultError.levelLocked(.whenUnlocked)) {
            try vault.edit { edit throws(VaultError) in try edit.copy(named("a"), to: named("b"), level: .whenUnlocked) }
        }
        try vault.edit { edit throws(VaultError) in
            try edit.rename(named("a"), to: named("b"))
            try edit.copy(named("b"), to: named("hidden"))
        }
        #expect(try home.versions("b") == ["4 b 3", "3 a 3", "2 a 2", "1 a 1"])
        // As after an add that could not see the locked level: both items are refused by name, and nothing is lost.
        let both = VaultError.ambiguous(named("hidden"), [.whenUnlocked, ProtectionLevel(.afterFirstUnlock)])
        #expect(throws: both) { try home.get("hidden", "x") }
        #expect(throws: both) { try home.rename("b", "hidden") }
        try home.expectWhole(versions: 9)
    }

    @Test("the version of an earlier name is refused under that name, though all digests of the tree fit")
    func putBack() throws {
        let home = try filled()
        try home.rename("a", "b")
        let vault = try home.unlock()
        let state = vault.state
        // Attack: the holder of class keys gives the newest version the entry of the item's earlier name. The seal of the
        // record has the new name, and stops him.
        try state.database.transaction(.write) { () throws(VaultError) in
            let snapshot = try Snapshot(state, seen: try vault.readMarks())
            guard let (level, entry) = try snapshot.find(named("b")), let keys = state.keys[level] else { return }
            try snapshot.remove(entry, level)
            try snapshot.insert(TreeEntry(key: keys.key(of: named("a")), digest: entry.digest, row: entry.row), level)
            _ = try snapshot.finish(now: 1)
        }
        #expect(throws: VaultError.corrupt(.record)) { try home.get("a", "x") }
        #expect(throws: VaultError.corrupt(.record)) { try home.unlock().items() }
    }
}

extension AuditEvent.ItemVersionID {
    fileprivate init(_ item: Item) { self.init(id: item.id, level: item.level, revision: item.revision) }
}
