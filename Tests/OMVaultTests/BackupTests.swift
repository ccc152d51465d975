// Backups: made, damaged, forged, restored here and elsewhere, older and newer than the marks.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import TestSupport
import Testing

@testable import OMItems
@testable import OMVault

/// A vault with items of every level, versions, trash and a tombstone, and its recovery code.
final class BackupHome {
    let home: Home
    let code: RecoveryCode
    var path: String { home.root + "/backup.omvb" }

    static let portable = ["always", "after", "unlocked"]
    static let deviceOnly = ["always here", "after here", "unlocked here"]

    init(items: Int = 0) throws {
        home = try Home()
        var kept: RecoveryCode?
        try home.create { kept = try? RecoveryCode(typed: $0.text()) }
        code = kept!
        for (name, level) in zip(Self.portable + Self.deviceOnly, [0, 2, 4, 1, 3, 5]) {
            try home.add(name, ["x": "first of \(name)"], level: ProtectionLevel.allCases[level])
            try home.unlock().edit { edit throws(VaultError) in
                try edit.put(secret("value of \(name)"), at: FieldPath(ItemName(name), FieldName("x")))
            }
        }
        try home.add("trashed", ["x": "y"])
        try home.add("trashed here", ["x": "y"], level: .highest)
        try home.add("gone", ["x": "y"])
        try home.unlock().edit { edit throws(VaultError) in
            for number in 0..<items {
                try edit.add(ItemName("many \(number)"), level: nil) { draft throws(VaultError) in
                    try draft.put(secret("\(number)"), at: FieldName("x"))
                }
            }
            try edit.trash(ItemName("trashed"))
            try edit.trash(ItemName("trashed here"))
            try edit.purge(ItemName("gone"))
        }
    }

    @discardableResult
    func backUp(portable: Bool = false, to path: String? = nil) throws -> BackupSummary {
        try home.unlock().backUp(to: path ?? self.path, portable: portable)
    }

    var bytes: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(filePath: path))) }
    }

    func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }

    /// The backup, opened with the vault's password, or with its recovery code.
    func open(_ device: DeviceFolder?, recovery: Bool = false) throws -> UnlockedBackup {
        let backup = try BackupFile.open(path)
        let slot = backup.slots[recovery ? 1 : 0]
        let key = recovery ? try slot.key(stretching: code.secret) : try slot.key(stretching: secret("pass word"))
        return try backup.unlock(slot, with: key, device: device)
    }

    /// Removes the vault, as a lost disk would.
    func loseVault() throws {
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: home.vault + end) }
    }
}

@Suite struct BackupTests {
    @Test("a restore on the same device brings back items, versions, trash, slots and all levels")
    func sameDevice() throws {
        let site = try BackupHome(items: 40)
        let home = site.home
        let before = try home.unlock().items()
        let history = try home.unlock().history(ItemName("unlocked here"))
        let summary = try site.backUp()
        #expect(summary.itemCount == 48 && summary.olderVersions == 8 && !summary.isPortable)
        #expect(try BackupFile.open(site.path).summary == summary)
        try site.loseVault()
        let report = try site.open(home.device()).restore(
            to: home.vault, device: home.device(), replacesLiving: true)
        #expect(report.isFromThisDevice && report.lost.isEmpty)
        let vault = try home.unlock()
        #expect(try vault.items() == before)
        #expect(try vault.items(trashed: true).map(\.name.text) == ["trashed", "trashed here"])
        #expect(try vault.history(ItemName("unlocked here")) == history)
        for name in BackupHome.portable + BackupHome.deviceOnly {
            #expect(try vault.value(name, "x") == "value of \(name)")
        }
        // It is then an ordinary vault, and its log starts again after the old entries.
        try home.add("new", ["x": "y"])
        let log = try home.report()
        #expect(log.fault == nil && log.entries.count == 3)
        #expect(log.entries[0].event == .vaultRestored(takenAt: summary.takenAt))
        #expect(log.entries[0].sequence > 20)
    }

    @Test("on another device every portable item opens with the recovery code, and the others are counted and named")
    func otherDevice() throws {
        let site = try BackupHome(items: 40)
        try site.backUp()
        let other = try Home()
        let new = try NewSlot(password: Password(secret("another")), .floor)
        #expect(throws: VaultError.otherDeviceKey) {
            _ = try other.device().make()
            _ = try site.open(other.device())
        }
        let report = try site.open(other.device(), recovery: true)
            .restore(to: other.vault, device: other.device(), password: new)
        #expect(!report.isFromThisDevice)
        #expect(
            Set(report.lost)
                == Set(
                    zip(BackupHome.deviceOnly, [1, 3, 5]).map {
                        LostItem(
                            name: try! ItemName($0), level: ProtectionLevel.allCases[$1], isTrashed: false)
                    } + [LostItem(name: try ItemName("trashed here"), level: .highest, isTrashed: true)]))
        #expect(report.slots.map(\.kind) == [.recovery, .password])
        let vault = try other.unlock("another", slot: 1)
        for name in BackupHome.portable { #expect(try vault.value(name, "x") == "value of \(name)") }
        #expect(try vault.items().count == 43 && vault.items(trashed: true).count == 1)
        for name in BackupHome.deviceOnly {
            #expect(throws: VaultError.noItem(try ItemName(name))) { _ = try vault.item(ItemName(name)) }
        }
        // Both always levels now belong to this device, and device-only items can be added again.
        try vault.edit { edit throws(VaultError) in
            try edit.add(ItemName("always here"), level: ProtectionLevel(.always, deviceOnly: true)) { draft throws(VaultError) in
                try draft.put(secret("mine"), at: FieldName("x"))
            }
        }
        let open = try VaultFile.open(other.vault, device: other.device()).openAlways()
        #expect(try open.value("always", "x") == "value of always" && open.value("always here", "x") == "mine")
        #expect(try other.report().fault == nil)
    }

    @Test("R41 a portable backup has no device-only item, and nothing that the device key opens")
    func portableBytes() throws {
        let site = try BackupHome(items: 40)
        let home = site.home
        let database = try VaultSchema.open(home.vault)
        let header = try VaultFile.readHeader(database)
        // It must not contain wraps, states, entries, branches and records of the three levels.
        var parts: [(String, [UInt8])] = header.wraps.filter { $0.under != .root }
            .map { ("wrap \($0.level) \($0.under)", $0.box.bytes) }
        for query in [
            "SELECT 'state', state FROM levels WHERE level > 16", "SELECT 'key', key FROM entries WHERE level > 16",
            "SELECT 'digest', digest FROM entries WHERE level > 16",
            "SELECT 'record', body FROM records WHERE substr(hex(body), 5, 1) = '1'",
            "SELECT 'id', substr(body, 5, 16) FROM records WHERE substr(hex(body), 5, 1) = '1'",
        ] {
            var find = try database.prepare(query)
            while try find.step() { parts.append((find.text(0), find.bytes(1))) }
            find.reset()
        }
        #expect(parts.count(where: { $0.0 == "record" }) == 8)
        try site.backUp()
        let whole = Data(try site.bytes)
        // The scan finds them in the vault.
        for (name, part) in parts { #expect(whole.firstRange(of: Data(part)) != nil || name == "digest", "\(name)") }
        try FileManager.default.removeItem(atPath: site.path)
        let summary = try site.backUp(portable: true)
        #expect(summary.isPortable && summary.itemCount == 44 && summary.items.keys.allSatisfy { !$0.isDeviceOnly })
        let portable = Data(try site.bytes)
        for (name, part) in parts { #expect(portable.firstRange(of: Data(part)) == nil, "\(name)") }
        for name in BackupHome.portable + BackupHome.deviceOnly + ["trashed here"] {
            #expect(portable.firstRange(of: Data(name.utf8)) == nil && whole.firstRange(of: Data(name.utf8)) == nil)
        }
        // A restore at home gives the device-only levels new keys too.
        try site.loseVault()
        let report = try site.open(home.device()).restore(
            to: home.vault, device: home.device(), replacesLiving: true)
        #expect(report.lost.isEmpty && report.isFromThisDevice)
        let vault = try home.unlock()
        #expect(try vault.items().count == 43)
        try home.add("here again", ["x": "y"], level: .highest)
        #expect(try VaultFile.open(home.vault, device: home.device()).openAlways().value("always", "x") == "value of always")
    }

    @Test("R41 a portable backup with a forged device-only wrap or record is refused")
    func forgedPortable() throws {
        let site = try BackupHome()
        try site.backUp()
        let whole = try Stream(site.bytes)
        try FileManager.default.removeItem(atPath: site.path)
        try site.backUp(portable: true)
        let portable = try Stream(site.bytes)
        // The portable backup with the header of the whole one, which has all wraps, and with one of its levels.
        var forged = portable
        forged.parts[0] = whole.parts[0]
        try site.write(forged.bytes)
        #expect(throws: VaultError.corrupt(.backup)) { _ = try site.open(site.home.device()) }
        forged = portable
        let level = try #require(whole.parts.firstIndex { $0.type == 3 && $0.body[0] == 0x11 })
        forged.parts.insert(whole.parts[level], at: portable.parts.firstIndex { $0.type == 3 && $0.body[0] == 2 }!)
        try site.write(forged.bytes)
        #expect(throws: VaultError.corrupt(.backup)) { _ = try BackupFile.open(site.path) }
    }

    @Test("a backup whose chunks are in another order, at another place, twice, or of another item is refused without a key")
    func chunkOrder() throws {
        let site = try BackupHome()
        try site.home.addLarge("a", [("l", largeBytes(600_000))])
        try site.home.addLarge("b", [("l", largeBytes(70_000))])
        try site.home.addLarge("b here", [("l", largeBytes(70_000))], level: .highest)
        try site.backUp()
        let genuine = try Stream(site.bytes)
        let chunks = genuine.parts.indices.filter { genuine.parts[$0].type == 8 }
        try #require(chunks.count == 5)
        func isRefused(_ name: String, _ change: (inout Stream) -> Void) throws {
            var stream = genuine
            change(&stream)
            try site.write(stream.bytes)
            #expect(throws: VaultError.corrupt(.backup), "\(name)") { _ = try BackupFile.open(site.path) }
        }
        // The first of three chunks in a row.
        let first = try #require(chunks.first { genuine.parts[$0 + 2].type == 8 })
        try isRefused("swapped") { $0.parts.swapAt(first, first + 1) }
        try isRefused("twice") { $0.parts.insert(genuine.parts[first], at: first) }
        try isRefused("before its record") { $0.parts.swapAt(first, first - 1) }
        try isRefused("of another item") { stream in
            let other = chunks.first { !(first...first + 2).contains($0) }!
            stream.parts[first] = genuine.parts[other]
        }
        try isRefused("behind the name") { stream in
            let here = chunks.first { genuine.parts[$0 + 1].type == 7 }!
            stream.parts.swapAt(here, here + 1)
        }
        try isRefused("in a backup of format 1") { $0.head[4] = UInt8(ascii: "1") }
        try isRefused("malformed") { $0.parts[first].body[0] = 2 }
        // A missing one is seen with a key only.
        var stream = genuine
        stream.parts.remove(at: first)
        try site.write(stream.bytes)
        #expect(throws: VaultError.corrupt(.backup)) { _ = try site.open(site.home.device()) }
    }

    /// `OMVAULT_WHOLE=1` takes every byte. Otherwise it is each seventh, and all of the first part's head.
    @Test("every flipped byte of a backup and every truncation is found without a key")
    func damage() throws {
        let site = try BackupHome()
        try site.backUp()
        let bytes = try site.bytes
        #expect(throws: Never.self) { _ = try Self.verify(bytes) }
        let places = bytes.indices.filter { $0 < 64 || $0 % Sweep.count(1, sample: 7) == 0 }
        for index in places {
            var flipped = bytes
            flipped[index] ^= index % 3 == 0 ? 0x80 : 1
            #expect(throws: VaultError.self, "\(index)") { _ = try Self.verify(flipped) }
        }
        for count in places {
            #expect(throws: VaultError.self, "\(count)") { _ = try Self.verify(Array(bytes.prefix(count))) }
        }
        for more in [[0], [9], bytes] {
            #expect(throws: VaultError.corrupt(.backup)) { _ = try Self.verify(bytes + more) }
        }
    }

    private static func verify(_ bytes: [UInt8]) throws -> BackupFile {
        try BackupFile.read(Bytes(bytes))
    }

    private final class Bytes: BackupSource {
        private let bytes: [UInt8]
        private var used = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func read(_ count: Int) throws(VaultError) -> [UInt8] {
            defer { used = min(used + count, bytes.count) }
            return Array(bytes[used..<min(used + count, bytes.count)])
        }

        func rewind() throws(VaultError) { used = 0 }
    }

    @Test("a forgery with its own digest is refused once a slot is open")
    func forgery() throws {
        let site = try BackupHome(items: 40)
        try site.backUp()
        let genuine = try Stream(site.bytes)
        #expect(genuine.bytes == (try site.bytes))
        let home = site.home
        func isRefused(
            _ name: String, as error: VaultError = .corrupt(.backup), _ change: (inout Stream) throws -> Void
        ) throws {
            var stream = genuine
            try change(&stream)
            try site.write(stream.bytes)
            #expect(throws: error, "\(name)") { _ = try site.open(home.device()) }
        }
        let unlocked = genuine.parts.indices.filter { index in
            genuine.parts[index].type == 6 && genuine.parts[index].body[2] == 3 && genuine.parts[index - 1].type == 5
        }
        try isRefused("two records swapped") { $0.parts.swapAt(unlocked[1], unlocked[2]) }
        try isRefused("an entry dropped") { $0.parts.removeSubrange(unlocked[1] - 1...unlocked[1]) }
        try isRefused("a slot replaced", as: .corrupt(.header)) { stream in
            let slot = try KeySlot(decoding: stream.parts[2].body)
            stream.parts[2].body =
                KeySlot(
                    try NewSlot(recovery: RecoveryCode.random(), .floor), id: slot.id, created: 0, root: .random(),
                    in: .somewhere(try home.vaultID()), device: DeviceKey(.random())
                ).encoded
        }
        try isRefused("a slot dropped", as: .corrupt(.header)) { $0.parts.remove(at: 2) }
        try isRefused("another time") { $0.head[13] ^= 1 }
        try isRefused("a state of the same level, older") { stream in
            try home.add("later", ["x": "y"])
            let later = home.root + "/later.omvb"
            try site.backUp(to: later)
            let other = try Stream([UInt8](Data(contentsOf: URL(filePath: later))))
            let index = try #require(stream.parts.firstIndex { $0.type == 3 && $0.body[0] == 3 })
            stream.parts[index] = try #require(other.parts.first { $0.type == 3 && $0.body[0] == 3 })
        }
        try isRefused("an older version dropped") { stream in
            let index = try #require(stream.parts.indices.last { stream.parts[$0].type == 6 && stream.parts[$0 - 1].type == 6 })
            stream.parts.remove(at: index)
        }
        try isRefused("a name dropped") { stream in stream.parts.remove(at: stream.parts.firstIndex { $0.type == 7 }!) }
        // With a right seal too, as only the owner could write it. The parts are still checked themselves.
        try site.loseVault()
        try site.write(genuine.bytes)
        let root = try site.open(home.device()).root.duplicate()
        func isRefusedSealed(_ name: String, _ change: (inout Stream) throws -> Void) throws {
            var stream = genuine
            try change(&stream)
            stream.reseal(root, try BackupFile.open(site.path).header.id)
            try site.write(stream.bytes)
            #expect(throws: VaultError.self, "\(name), sealed") {
                try site.open(home.device()).restore(
                    to: home.vault, device: home.device(), acceptsRollback: true, replacesLiving: true)
            }
            #expect(!FileManager.default.fileExists(atPath: home.vault), "\(name), sealed")
            try site.write(genuine.bytes)
        }
        try isRefusedSealed("two records swapped") { $0.parts.swapAt(unlocked[1], unlocked[2]) }
        try isRefusedSealed("an entry dropped") { $0.parts.removeSubrange(unlocked[1] - 1...unlocked[1]) }
        try isRefusedSealed("a branch dropped") { stream in stream.parts.removeAll { $0.type == 4 } }
        try isRefusedSealed("an older version dropped") { stream in
            let index = try #require(stream.parts.indices.last { stream.parts[$0].type == 6 && stream.parts[$0 - 1].type == 6 })
            stream.parts.remove(at: index)
        }
        #expect(throws: Never.self) {
            try site.open(home.device()).restore(
                to: home.vault, device: home.device(), acceptsRollback: true, replacesLiving: true)
        }
    }

    @Test("a backup older than the marks is refused, and after a requested restore the newer state is refused")
    func older() throws {
        let site = try BackupHome()
        let home = site.home
        try site.backUp()
        try home.add("later", ["x": "y"])
        try home.save("newer")
        try site.loseVault()
        #expect(throws: VaultError.rolledBack(.level)) {
            try site.open(home.device()).restore(
                to: home.vault, device: home.device(), replacesLiving: true)
        }
        #expect(!FileManager.default.fileExists(atPath: home.vault))
        try home.putBack("newer")
        #expect(try home.get("later", "x") == "y")
        try site.loseVault()
        try site.open(home.device()).restore(
            to: home.vault, device: home.device(), acceptsRollback: true, replacesLiving: true)
        #expect(throws: VaultError.noItem(try ItemName("later"))) { _ = try home.get("later", "x") }
        try home.save("restored")
        try home.putBack("newer")
        #expect(throws: VaultError.rolledBack(.header)) { _ = try home.get("later", "x") }
        try home.putBack("restored")
        #expect(try home.get("unlocked", "x") == "value of unlocked")
        // This backup is older than the vault that was restored from it.
        try site.loseVault()
        #expect(throws: VaultError.rolledBack(.header)) {
            try site.open(home.device()).restore(
                to: home.vault, device: home.device(), replacesLiving: true)
        }
    }

    @Test("a backup of a known vault is not restored beside it, unless the caller allows its replacement")
    func living() throws {
        let site = try BackupHome()
        let home = site.home
        try site.backUp()
        let other = home.root + "/data/other.omv"
        #expect(try BackupFile.open(site.path).isVaultKnown(home.device()))
        #expect(throws: VaultError.vaultKnownHere) { try site.open(home.device()).restore(to: other, device: home.device()) }
        #expect(!FileManager.default.fileExists(atPath: other))
        #expect(try home.get("unlocked", "x") == "value of unlocked")
        // Unreadable marks belong to a vault that was here.
        let marks = try home.marks()
        try home.replaceMarks((marks.0, Data(count: 1024)))
        #expect(throws: VaultError.vaultKnownHere) {
            try site.open(home.device()).restore(to: other, device: home.device(), acceptsRollback: true)
        }
        try home.replaceMarks(marks)
        let report = try site.open(home.device()).restore(to: other, device: home.device(), replacesLiving: true)
        #expect(report.isLatestHere)
        #expect(throws: VaultError.rolledBack(.header)) { _ = try home.get("unlocked", "x") }
        // Without marks nothing stops the restore.
        let elsewhere = try Home()
        #expect(try !BackupFile.open(site.path).isVaultKnown(elsewhere.device()))
        #expect(throws: Never.self) {
            try site.open(elsewhere.device(), recovery: true).restore(to: elsewhere.vault, device: elsewhere.device())
        }
    }

    @Test("a restore reports that the password of the backup may have changed since")
    func revived() throws {
        let site = try BackupHome()
        let home = site.home
        try site.backUp()
        let vault = try home.unlock()
        let slot = try vault.settings().slots[0]
        _ = try vault.replaceSlot(slot, with: try NewSlot(password: Password(secret("another")), .floor))
        try site.loseVault()
        let report = try site.open(home.device()).restore(
            to: home.vault, device: home.device(), acceptsRollback: true, replacesLiving: true)
        #expect(!report.isLatestHere && report.slots.contains(slot))
        #expect(throws: Never.self) { _ = try home.unlock() }
    }

    @Test("a restored vault whose marks were lost in a crash is accepted, because its header was announced")
    func crashBehindTheName() throws {
        let site = try BackupHome()
        let home = site.home
        try site.backUp()
        let marks = try home.highWater()
        try site.loseVault()
        let before = try #require(try marks.read())
        try site.open(home.device()).restore(to: home.vault, device: home.device(), replacesLiving: true)
        var seen = before
        seen[MarkIndex.announced] = try #require(try marks.read())[MarkIndex.header]
        try marks.write(seen)
        #expect(try home.get("unlocked", "x") == "value of unlocked")
    }

    @Test("an unfinished restore is refused after the next change of the vault, or after the next restore")
    func withdrawn() throws {
        let site = try BackupHome()
        let home = site.home
        try site.backUp()
        let marks = try home.highWater()
        let draft = home.root + "/data/draft.omv"
        for isRestored in [false, true] {
            // The state after a restore that was killed before its vault had a name.
            var seen = try #require(try marks.read())
            try site.open(home.device()).restore(
                to: draft, device: home.device(), acceptsRollback: true, replacesLiving: true)
            seen[MarkIndex.announced] = try #require(try marks.read())[MarkIndex.header]
            try marks.write(seen)
            #expect(throws: Never.self) { _ = try VaultFile.open(draft, device: home.device()) }
            if isRestored {
                try site.loseVault()
                try site.open(home.device()).restore(
                    to: home.vault, device: home.device(), acceptsRollback: true, replacesLiving: true)
            } else {
                try home.add("later", [:])
            }
            #expect(try marks.read()?[MarkIndex.announced] == HighWaterMark.beginning)
            #expect(throws: VaultError.corrupt(.header)) {
                _ = try VaultFile.open(draft, device: home.device())
            }
            #expect(try home.get("unlocked", "x") == "value of unlocked")
            try FileManager.default.removeItem(atPath: draft)
        }
    }

    @Test("a failed restore deletes no marks, and a finished restore writes new ones")
    func keptMarks() throws {
        let site = try BackupHome()
        let home = site.home
        try site.backUp()
        try site.loseVault()
        let (path, whole) = try home.marks()
        for bytes in [whole, Data(count: 1024), Data(count: 7)] {
            try home.replaceMarks((path, bytes))
            #expect(throws: VaultError.noVault) {
                try site.open(home.device(), recovery: true).restore(
                    to: home.root + "/no/folder.omv", device: home.device(), acceptsRollback: true, replacesLiving: true)
            }
            #expect(try home.marks().1 == bytes)
        }
        try site.open(home.device()).restore(
            to: home.vault, device: home.device(), acceptsRollback: true, replacesLiving: true)
        #expect(try home.marks().1.count == 1024)
        #expect(try home.get("unlocked", "x") == "value of unlocked")
    }

    @Test(
        "the recovery code opens another device's vault for reading, and an older copy of a restored vault is refused"
    )
    func foreignVault() throws {
        let site = try BackupHome()
        try site.backUp()
        let other = try Home()
        _ = try other.device().make()
        try site.home.save("copy")
        try FileManager.default.copyItem(atPath: site.home.root + "/copy", toPath: other.vault)
        func recovered(accepting: Bool = false) throws -> Vault {
            let file = try VaultFile.open(other.vault, device: other.device(), acceptsRollback: accepting)
            return try file.unlock(file.slots[1], with: try file.slots[1].key(stretching: site.code.secret))
        }
        let vault = try recovered()
        for name in BackupHome.portable { #expect(try vault.value(name, "x") == "value of \(name)") }
        let missing = VaultError.noItem(try ItemName("unlocked here"))
        #expect(throws: missing) { _ = try vault.item(ItemName("unlocked here")) }
        #expect(throws: VaultError.readOnlyHere) {
            try vault.edit { edit throws(VaultError) in try edit.trash(ItemName("unlocked")) }
        }
        #expect(try vault.verify(deep: true).findings.isEmpty)
        #expect(throws: VaultError.otherDeviceKey) { _ = try other.unlock() }
        // Attack: after the restore, use the other device's copy, which is older.
        try FileManager.default.removeItem(atPath: other.vault)
        try site.open(other.device(), recovery: true).restore(to: other.vault, device: other.device())
        try FileManager.default.removeItem(atPath: other.vault)
        try FileManager.default.copyItem(atPath: site.home.root + "/copy", toPath: other.vault)
        #expect(throws: VaultError.unseenHere) { _ = try recovered().value("unlocked", "x") }
        #expect(try recovered(accepting: true).value("unlocked", "x") == "value of unlocked")
    }

    @Test("a restore replaces no existing vault or file, and refuses a backup without a portable slot")
    func refusals() throws {
        let site = try BackupHome()
        let home = site.home
        try site.backUp()
        #expect(throws: VaultError.storage(.exists)) { try site.backUp() }
        #expect(throws: VaultError.vaultExists) {
            try site.open(home.device()).restore(
                to: home.vault, device: home.device(), replacesLiving: true)
        }
        #expect(throws: VaultError.storage(.missing)) { try site.backUp(to: home.root + "/no/folder") }
        #expect(throws: VaultError.storage(.missing)) { _ = try BackupFile.open(home.root + "/nothing") }
        #expect(throws: VaultError.storage(.hazardous(.notRegular, path: "/dev/zero"))) {
            _ = try BackupFile.open("/dev/zero")
        }
        _ = try home.unlock().removeSlot(2)
        #expect(throws: VaultError.noPortableSlot) { try site.backUp(to: home.root + "/other") }
        #expect(throws: VaultError.noPortableSlot) { try site.backUp(portable: true, to: home.root + "/other") }
        #expect(!FileManager.default.fileExists(atPath: home.root + "/other"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.root).sorted() == ["backup.omvb", "data", "device"])
        let log = try home.events()
        #expect(log.count { $0 == .backupTaken(portable: false) } == 1)
        #expect(!log.contains(.backupTaken(portable: true)))
    }

    @Test("a vault that fails its check is not backed up")
    func damagedVault() throws {
        for statement in [
            "UPDATE records SET body = zeroblob(400) WHERE id = 3",
            "DELETE FROM records WHERE id = (SELECT previous FROM records WHERE previous IS NOT NULL LIMIT 1)",
            "DELETE FROM entries WHERE level = 3", "DELETE FROM branches",
        ] {
            let site = try BackupHome(items: 20)
            try site.home.tamper(statement)
            #expect(throws: VaultError.self, "\(statement)") { try site.backUp() }
            #expect(!FileManager.default.fileExists(atPath: site.path))
        }
    }

    @Test("guesses at a backup are counted together with guesses at the vault")
    func guesses() throws {
        let site = try BackupHome()
        try site.backUp()
        let backup = try BackupFile.open(site.path)
        let device = try site.home.device()
        #expect(throws: VaultError.cannotUnlock) {
            _ = try backup.unlock(
                backup.slots[0], with: try backup.slots[0].key(stretching: secret("wrong")), device: device)
        }
        #expect(throws: VaultError.delayed(seconds: 1)) { try backup.checkUse(of: backup.slots[0], device: device) }
        #expect(throws: VaultError.delayed(seconds: 1)) { _ = try site.home.unlock() }
    }
}

/// A backup taken apart and joined again, by a second reader of the format's page.
struct Stream {
    var head: [UInt8]
    var parts: [(type: UInt8, body: [UInt8])] = []
    private var seal: [UInt8] = []

    init(_ bytes: [UInt8]) throws {
        head = Array(bytes.prefix(14))
        var rest = bytes.dropFirst(14)
        while let type = rest.popFirst() {
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            parts.append((type, Array(rest.dropFirst(4).prefix(count))))
            rest = rest.dropFirst(4 + count)
        }
        let end = try #require(parts.last)
        try #require(end.type == 9 && end.body.count == 64)
        parts.removeLast()
        seal = Array(end.body.prefix(32))
    }

    private var body: [UInt8] {
        parts.reduce(head) { bytes, part in
            let count = part.body.count
            return bytes + [part.type] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + part.body
        }
    }

    /// With a matching digest.
    var bytes: [UInt8] {
        body + [9, 0, 0, 0, 64] + seal + PublicHash.hash(PublicHash.hash(body) + seal)
    }

    mutating func reseal(_ root: borrowing Key<Deriving>, _ vault: [UInt8]) {
        seal = BackupKeys(root, vault: vault).seal(PublicHash.hash(body))
    }
}
