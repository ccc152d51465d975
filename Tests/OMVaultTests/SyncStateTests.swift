import Foundation
import OMItems
import OMParcels
import OMRecords
import OMSecrets
import OMStorage
import TestSupport
import Testing

@testable import OMVault

@Suite("A vault that syncs") struct SyncStateTests {
    private let home: Home
    private let salt = [UInt8](repeating: 9, count: 16)

    init() throws {
        home = try Home()
        try home.create()
    }

    private func begin(device: UInt32 = 7, founder: UInt32 = 7, issued: UInt64 = 1) throws {
        try home.unlock().editSync { access throws(VaultError) in
            try access.begin(SyncSelf(device: device, founder: founder, salt: salt, issued: issued))
        }
    }

    private func parts(_ name: String) throws -> SyncedParts? {
        try home.unlock().read { snapshot throws(VaultError) in
            try snapshot.open(ItemName(name), revision: nil).content.synced
        }
    }

    private func tombstones() throws -> [SyncedParts] {
        try home.unlock().readSync { access throws(VaultError) in
            var found: [SyncedParts] = []
            for place in try access.places() {
                let version = try access.version(at: place)
                if version.content.state == .purged, let parts = version.content.parts { found.append(parts) }
            }
            return found
        }
    }

    private func own() throws -> SyncSelf {
        try #require(try home.unlock().readSync { access throws(VaultError) in access.own })
    }

    private func change(_ value: String) throws {
        try home.unlock().edit { edit throws(VaultError) in
            try edit.put(secret(value), at: FieldPath(ItemName("a"), FieldName("x")))
        }
    }

    @Test("each edit at a portable level has the next dot, and one at a device-only level has none")
    func dots() throws {
        try home.add("a", ["x": "1"])
        #expect(try parts("a") == nil)
        try begin()
        try change("2")
        // The version from before counts as the founder's edit 1.
        #expect(try parts("a")?.seen.dots == [Dot(device: 7, count: 2)])
        try home.add("b", ["x": "1"], level: ProtectionLevel(.always, deviceOnly: false))
        try home.add("c", ["x": "1"], level: ProtectionLevel(.always, deviceOnly: true))
        #expect(try parts("b")?.dot == Dot(device: 7, count: 3))
        #expect(try parts("c") == nil)
        #expect(try own().issued == 3)
        #expect(try home.unlock().verify(deep: true).findings.isEmpty)
    }

    @Test("a device that is not the founder keeps the founder's edit in what it edits")
    func secondDevice() throws {
        try home.add("a", ["x": "1"])
        try begin(device: 9, founder: 7, issued: 0)
        try change("2")
        #expect(try parts("a")?.seen.dots == [Dot(device: 7, count: 1), Dot(device: 9, count: 1)])
    }

    @Test("a lowered item has a lowering from each level that it passed, and a raised one has none from below")
    func lowering() throws {
        try home.add("a", ["x": "1"])
        try begin()
        func set(_ level: ProtectionLevel.Availability, deviceOnly: Bool = false) throws {
            try home.unlock().edit { edit throws(VaultError) in
                try edit.setLevel(ItemName("a"), ProtectionLevel(level, deviceOnly: deviceOnly))
            }
        }
        try set(.always)
        let lowered = try #require(try parts("a"))
        #expect(lowered.lowerings.map(\.claimed.from) == [.whenUnlocked, .afterFirstUnlock])
        #expect(lowered.lowerings.allSatisfy { $0.claimed.seen == lowered.seen && $0.isUnproven })
        try set(.whenUnlocked)
        #expect(try parts("a")?.lowerings.isEmpty == true)
    }

    @Test("an item that moves between a portable and a device-only level gets another id, and its old one a tombstone")
    func deviceOnly() throws {
        try home.add("a", ["x": "1"])
        try begin()
        try change("2")
        let id = try home.unlock().item(ItemName("a")).id
        try home.unlock().edit { edit throws(VaultError) in
            try edit.setLevel(ItemName("a"), ProtectionLevel(.whenUnlocked, deviceOnly: true))
        }
        #expect(try home.get("a", "x") == "2")
        #expect(try home.unlock().item(ItemName("a")).id != id)
        #expect(try home.unlock().history(ItemName("a")).count == 2)
        #expect(try parts("a") == nil)
        #expect(try tombstones().map(\.dot) == [Dot(device: 7, count: 3)])
    }

    @Test("a purged item leaves a tombstone with all that its last version included")
    func purge() throws {
        try home.add("a", ["x": "1"])
        try begin()
        try home.unlock().edit { edit throws(VaultError) in try edit.purge(ItemName("a")) }
        #expect(try tombstones().map(\.seen.dots) == [[Dot(device: 7, count: 2)]])
        #expect(try home.unlock().verify(deep: true).findings.isEmpty)
    }

    @Test("a state of sync that was put back, changed or dropped is refused")
    func putBack() throws {
        try home.add("a", ["x": "1"])
        try home.save("before")
        try begin()
        try home.save("begun")
        try change("2")
        try home.unlock().editSync { access throws(VaultError) in try access.set(.link, [0], [1, 2, 3]) }
        func refused(_ error: VaultError, _ statements: String...) throws {
            try home.save("whole")
            for statement in statements { try home.tamper(statement) }
            #expect(throws: error, "\(statements)") {
                try home.unlock().readSync { access throws(VaultError) in try access.checkRows() }
            }
            try home.putBack("whole")
        }
        try refused(.corrupt(.sync), "DELETE FROM sync_rows")
        try refused(.corrupt(.sync), "UPDATE sync_rows SET body = x'010204'")
        try refused(.corrupt(.sync), "UPDATE sync_rows SET kind = 1")
        try refused(.corrupt(.sync), "INSERT INTO sync_rows VALUES (2, x'01', x'01')")
        try refused(.corrupt(.sync), "DELETE FROM sync_self")
        try refused(.corrupt(.sync), "UPDATE sync_self SET body = substr(body, 1, 112) || x'00'")
        // The row of an earlier state of the same file: the items are those of now.
        let old = try VaultSchema.open(home.root + "/begun").text("SELECT hex(body) FROM sync_self")
        try refused(.rolledBack(.sync), "UPDATE sync_self SET body = x'\(old)'")
        #expect(throws: VaultError.rolledBack(.sync)) {
            try home.tamper("UPDATE sync_self SET body = x'\(old)'")
            try change("3")
        }
    }

    @Test("the file from before the vault began to sync takes no edit")
    func beforeSync() throws {
        try home.add("a", ["x": "1"])
        try home.save("before")
        try begin()
        try home.putBack("before")
        #expect(throws: VaultError.rolledBack(.sync)) { try change("2") }
    }

    @Test("a crash between the commit and the marks is no rollback")
    func crash() throws {
        try home.add("a", ["x": "1"])
        try begin()
        let marks = try #require(
            try FileManager.default.contentsOfDirectory(atPath: home.deviceFolder)
                .first { $0.hasPrefix("vault-") && $0.hasSuffix(".mark") })
        let path = URL(filePath: home.deviceFolder + "/" + marks)
        let before = try Data(contentsOf: path)
        try change("2")
        try before.write(to: path)
        try change("3")
        #expect(try own().issued == 3)
    }

    @Test("a backup restores to a vault that does not sync, whose next edit has no parts of sync")
    func restored() throws {
        let site = try BackupHome()
        try site.home.unlock().editSync { access throws(VaultError) in
            try access.begin(SyncSelf(device: 7, founder: 7, salt: salt, issued: 1))
        }
        func set(_ value: String, in home: Home) throws {
            try home.unlock().edit { edit throws(VaultError) in
                try edit.put(secret(value), at: FieldPath(ItemName("unlocked"), FieldName("x")))
            }
        }
        try set("2", in: site.home)
        try site.backUp()
        try site.loseVault()
        let other = site.home
        _ = try site.open(other.device()).restore(to: other.vault, device: other.device(), replacesLiving: true)
        #expect(try other.get("unlocked", "x") == "2")
        #expect(try other.unlock().readSync { access throws(VaultError) in access.own } == nil)
        try set("3", in: other)
        let content = try other.unlock().read { snapshot throws(VaultError) in
            try snapshot.open(ItemName("unlocked"), revision: nil).content.synced
        }
        #expect(content == nil)
    }

    @Test("a vault that syncs gets no new keys without the other devices")
    func rekey() throws {
        try begin()
        let slots = try home.unlock().settings().slots
        let kept = Vault.RekeyedSlot(id: 1, try NewSlot(password: Password(secret("pass word")), .floor))
        #expect(throws: VaultError.vaultSyncs) { _ = try home.unlock().rekey(slots: [kept], expecting: slots) }
    }

    @Test("a vault that is released leaves no descriptor of its file open")
    func released() throws {
        try home.add("a", ["x": String(repeating: "large ", count: 20_000)])
        try begin()
        try change(String(repeating: "larger", count: 20_000))
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
                return target?.hasPrefix(home.root) ?? false
            }
        }
        #expect(try descriptors() == 0)
        _ = try home.unlock().readSync { access throws(VaultError) in try access.checkRows() }
        _ = try home.unlock().chunk(0, of: FieldPath(ItemName("a"), FieldName("x")))
        _ = try home.unlock().rememberingKey(of: ProtectionLevel(.always, deviceOnly: true))
        try home.unlock().withDeviceKey { _ throws(VaultError) in }
        try home.unlock().withRootKey { _ throws(VaultError) in }
        try home.unlock().withClassKey(of: .always) { _ throws(VaultError) in }
        #expect(try descriptors() == 0)
    }
}
