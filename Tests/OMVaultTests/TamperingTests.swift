import Foundation
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import Synchronization
import TestSupport
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct TamperingTests {
    private func homeWithTwoItems() throws -> Home {
        let home = try Home()
        try home.create()
        try home.add("a", ["x": "value of a"])
        try home.add("b", ["x": "value of b"])
        return home
    }

    private func expectCorrupt(_ part: VaultError.Part, _ home: Home, _ comment: Comment) {
        for name in ["a", "b"] {
            #expect(throws: VaultError.corrupt(part), comment) { try home.get(name, "x") }
        }
    }

    @Test("two records swapped by hand are refused before a value is shown")
    func swappedRecords() throws {
        let home = try homeWithTwoItems()
        try home.tamper(
            "CREATE TEMP TABLE kept AS SELECT id, body FROM records",
            "UPDATE records SET body = (SELECT k.body FROM temp.kept k WHERE k.id <> records.id LIMIT 1)")
        expectCorrupt(.record, home, "bodies")

        let other = try homeWithTwoItems()
        try other.tamper(
            "CREATE TEMP TABLE kept AS SELECT key, record FROM entries",
            "UPDATE entries SET record = (SELECT k.record FROM temp.kept k WHERE k.key <> entries.key)")
        expectCorrupt(.record, other, "row numbers")

        let third = try homeWithTwoItems()
        try third.tamper(
            "CREATE TEMP TABLE kept AS SELECT key, record, digest FROM entries",
            "UPDATE entries SET (record, digest) = (SELECT k.record, k.digest FROM temp.kept k WHERE k.key <> entries.key)"
        )
        expectCorrupt(.tree, third, "whole entries")
    }

    @Test("a record put back to an older version is refused, alone or with its entry")
    func replayedRecord() throws {
        let home = try homeWithTwoItems()
        try home.save("old")
        let path = FieldPath(try ItemName("a"), try FieldName("x"))
        try home.unlock().edit { edit throws(VaultError) in try edit.put(secret("newer value"), at: path) }
        try home.tamper(
            "ATTACH '\(home.root)/old' AS old",
            "UPDATE records SET body = (SELECT o.body FROM old.entries e JOIN old.records o ON o.id = e.record"
                + " JOIN main.entries m ON m.key = e.key WHERE m.record = records.id)"
                + " WHERE id IN (SELECT record FROM main.entries)")
        #expect(throws: VaultError.corrupt(.record)) { try home.get("a", "x") }
        try home.tamper(
            "ATTACH '\(home.root)/old' AS old",
            "UPDATE entries SET digest = (SELECT e.digest FROM old.entries e WHERE e.key = entries.key)")
        #expect(throws: VaultError.corrupt(.tree)) { try home.get("a", "x") }
        #expect(throws: VaultError.corrupt(.tree)) { try home.unlock().items() }
    }

    @Test("a deleted, added or renamed entry is refused, even if another item is asked for")
    func deletedRecord() throws {
        for statement in [
            "DELETE FROM entries WHERE key = (SELECT min(key) FROM entries)",
            "INSERT INTO entries SELECT level, x'00000000000000000000000000000000', digest, record FROM entries LIMIT 1",
            "UPDATE entries SET key = x'00000000000000000000000000000000' WHERE key = (SELECT min(key) FROM entries)",
            "UPDATE entries SET level = 1",
            "INSERT INTO branches SELECT level, x'', zeroblob(512) FROM levels",
            "DELETE FROM entries",
        ] {
            let home = try homeWithTwoItems()
            try home.tamper(statement)
            expectCorrupt(.tree, home, "\(statement)")
        }
        let home = try homeWithTwoItems()
        try home.tamper("DELETE FROM records")
        expectCorrupt(.record, home, "records")
    }

    @Test("a missing, foreign or changed state of a level is refused")
    func levelStates() throws {
        for statement in [
            "DELETE FROM levels WHERE level = 3",
            "UPDATE levels SET state = (SELECT state FROM levels WHERE level = 2) WHERE level = 3",
            "UPDATE levels SET state = zeroblob(80) WHERE level = 3",
            "UPDATE levels SET state = x'00' WHERE level = 3",
            "UPDATE levels SET level = 99 WHERE level = 3",
        ] {
            let home = try homeWithTwoItems()
            try home.tamper(statement)
            expectCorrupt(.level, home, "\(statement)")
        }
    }

    @Test("an old vault put back is noticed, read only on request, and never changed")
    func oldVaultPutBack() throws {
        let home = try homeWithTwoItems()
        try home.save("old")
        try home.add("c", ["x": "3"])
        try home.putBack("old")
        #expect(throws: VaultError.rolledBack(.level)) { try home.get("a", "x") }
        #expect(throws: VaultError.rolledBack(.level)) { try home.unlock().items() }
        #expect(throws: VaultError.rolledBack(.level)) { try home.add("d", [:]) }
        let vault = try home.unlock(acceptsRollback: true)
        #expect(try vault.value("a", "x") == "value of a")
        #expect(throws: VaultError.readOnlyHere) { try vault.edit { _ throws(VaultError) in } }
        #expect(throws: VaultError.rolledBack(.level)) { try home.get("a", "x") }
    }

    @Test("two histories of the same length are told apart")
    func fork() throws {
        let home = try homeWithTwoItems()
        try home.save("before")
        let marksBefore = try home.marks()
        try home.add("c", ["x": "one"])
        let marks = try home.marks()
        try home.putBack("before")
        try home.replaceMarks(marksBefore)
        try home.add("c", ["x": "two"])
        #expect(try home.get("c", "x") == "two")
        try home.replaceMarks(marks)
        #expect(throws: VaultError.rolledBack(.level)) { try home.get("a", "x") }
    }

    @Test("a vault without its marks counts as never seen here")
    func marksDeleted() throws {
        let home = try homeWithTwoItems()
        try home.replaceMarks(nil)
        #expect(throws: VaultError.unseenHere) { try home.get("a", "x") }
        #expect(try home.unlock(acceptsRollback: true).value("a", "x") == "value of a")
    }

    @Test("a vault newer than its marks is accepted once and recorded, and then its earlier state is refused")
    func aheadOfMarks() throws {
        let home = try homeWithTwoItems()
        try home.save("before")
        let marks = try home.marks()
        try home.add("c", ["x": "3"])
        try home.replaceMarks(marks)
        #expect(try home.get("c", "x") == "3")
        try home.putBack("before")
        #expect(throws: VaultError.rolledBack(.level)) { try home.get("a", "x") }
    }

    @Test("a slot with other bytes does not open, and a slot cannot be added, removed or swapped")
    func slots() throws {
        for statement in [
            "DELETE FROM slots WHERE id = 2",
            "INSERT INTO slots SELECT 3, body FROM slots WHERE id = 2",
            "UPDATE slots SET body = (SELECT body FROM slots WHERE id = 1) WHERE id = 2",
            """
            UPDATE header SET body = CAST(
                substr(body, 1, 60) || CASE substr(body, 61, 1) WHEN x'ff' THEN x'00' ELSE x'ff' END || substr(body, 62) AS BLOB)
            """,
            "UPDATE header SET body = substr(body, 1, length(body) - 1)",
            "UPDATE header SET body = CAST(body || x'00' AS BLOB)",
            "DELETE FROM header",
        ] {
            let home = try homeWithTwoItems()
            try home.tamper(statement)
            #expect(throws: VaultError.self, "\(statement)") { try home.get("a", "x") }
        }
    }

    @Test("without the device key the recovery code opens every portable item, and names the device-bound items")
    func recovery() throws {
        let home = try Home()
        var typed = SecretBytes(count: 0) { _ in }
        try home.create { typed = $0.text() }
        try home.add("portable", ["x": "1"])
        try home.add("bound", ["x": "2"], level: .highest)
        let file = try VaultFile.open(home.vault, device: nil)
        let slot = file.slots[1]
        #expect(throws: VaultError.deviceKeyMissing) {
            _ = try file.unlock(file.slots[0], with: try file.slots[0].key(stretching: secret("pass word")))
        }
        let vault = try file.unlock(slot, with: try slot.key(stretching: RecoveryCode(typed: typed).secret))
        #expect(try vault.items().map(\.name.text) == ["portable"])
        #expect(vault.levels.allSatisfy { !$0.isDeviceOnly } && vault.levels.count == 3)
        #expect(throws: VaultError.readOnlyHere) { try vault.edit { _ throws(VaultError) in } }
    }

    @Test("another device's key is told apart from a wrong password")
    func otherDevice() throws {
        let home = try homeWithTwoItems()
        try FileManager.default.removeItem(atPath: home.deviceFolder)
        #expect(throws: VaultError.otherDeviceKey) {
            _ = try home.device().make()
            _ = try home.get("a", "x")
        }
    }

    @Test("an always item planted under a protected item's name is reported, and replaces nothing")
    func plantedName() throws {
        let home = try homeWithTwoItems()
        let path = FieldPath(try ItemName("a"), try FieldName("x"))
        try VaultFile.open(home.vault, device: home.device()).openAlways().edit { edit throws(VaultError) in
            try edit.add(path.item, level: ProtectionLevel(.always)) { draft throws(VaultError) in
                try draft.put(secret("planted"), at: path.field)
            }
        }
        let expected = VaultError.ambiguous(path.item, [ProtectionLevel(.whenUnlocked), ProtectionLevel(.always)])
        #expect(throws: expected) { try home.get("a", "x") }
        #expect(throws: expected) {
            try home.unlock().edit { edit throws(VaultError) in try edit.put(secret("n"), at: path) }
        }
        #expect(throws: expected) { try home.unlock().edit { edit throws(VaultError) in try edit.purge(path.item) } }
        #expect(try home.unlock().items().count { $0.name == path.item } == 2)
        #expect(try home.get("b", "x") == "value of b")
    }

    /// The root is a leaf of two items, then a branch whose leaves have about three items each.
    @Test("branches planted below a leaf stay dead when it splits", arguments: [(0, 40), (40, 700)])
    func plantedBranches(before: Int, after: Int) throws {
        let home = try homeWithTwoItems()
        let vault = try home.unlock()
        func add(_ numbers: Range<Int>) throws {
            try vault.edit { edit throws(VaultError) in
                for number in numbers { try edit.add(ItemName("item \(number)"), level: nil) { _ throws(VaultError) in } }
            }
        }
        if before > 0 { try add(0..<before) }
        let nibbles = (0..<16).map { "0" + String($0, radix: 16) }
        let prefixes = before == 0 ? nibbles : nibbles.flatMap { parent in nibbles.map { parent + $0 } }
        try home.tamper("INSERT INTO branches VALUES " + prefixes.map { "(3, x'\($0)', zeroblob(512))" }.joined(separator: ", "))
        try add(before..<after)
        #expect(try vault.items().count == 2 + after)
        #expect(try home.unlock().verify(deep: true).findings.isEmpty)
    }

    @Test("blobs longer than any of ours are refused without being read")
    func oversizedBlobs() throws {
        for (statement, error) in [
            ("UPDATE header SET body = zeroblob(20000000)", VaultError.corrupt(.header)),
            ("UPDATE slots SET body = zeroblob(20000000)", .corrupt(.slot)),
            ("UPDATE levels SET state = zeroblob(20000000) WHERE level = 3", .corrupt(.level)),
            ("UPDATE records SET body = zeroblob(20000000)", .corrupt(.record)),
            ("INSERT INTO branches VALUES (3, x'', zeroblob(20000000))", .corrupt(.tree)),
            ("UPDATE entries SET digest = zeroblob(20000000)", .corrupt(.tree)),
            (
                "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
                    + "INSERT INTO slots SELECT i, (SELECT body FROM slots WHERE id = 1) FROM n", .corrupt(.slot)
            ),
        ] {
            let home = try homeWithTwoItems()
            try home.tamper(statement)
            #expect(throws: error, "\(statement)") { try home.get("a", "x") }
        }
    }

    @Test("any changed byte of a header or slot gives one error, before a password prompt")
    func changedHeader() throws {
        let home = try homeWithTwoItems()
        try home.save("kept")
        for (table, filter) in [("header", ""), ("slots", " WHERE id = 1")] {
            let text = try VaultSchema.open(home.vault).text("SELECT hex(body) FROM \(table)\(filter)")
            let whole = try Hex.decode(text.lowercased())
            #expect(whole.count == (table == "header" ? VaultHeader.count : KeySlot.count))
            for offset in whole.indices {
                try home.putBack("kept")
                var changed = whole
                changed[offset] ^= 1
                try home.tamper("UPDATE \(table) SET body = x'\(Hex.encode(changed))'\(filter)")
                let part: VaultError.Part = table == "slots" && (try? KeySlot(decoding: changed))?.id != 1 ? .slot : .header
                let expected: VaultError =
                    switch (table, offset) {
                    case ("header", 1...16): .unseenHere
                    // Generation 1 becomes 0.
                    case ("header", 32): .rolledBack(.header)
                    case ("header", 50..<82): .otherDeviceKey
                    default: .corrupt(part)
                    }
                #expect(throws: expected, "\(table) \(offset)") {
                    let file = try VaultFile.open(home.vault, device: home.device())
                    // A vault of another device, by its fingerprint. It is refused without the slot's key.
                    _ = try file.unlock(file.slots[0], with: .random())
                }
            }
        }
        try home.putBack("kept")
        #expect(try home.get("a", "x") == "value of a")
    }

    @Test("a forged header does not steer a process with only class keys, in a new item's level or in the history")
    func forgedHeaderWithClassKeys() throws {
        let home = try Home()
        try home.create()
        try home.add("old", ["f": "1"])
        let keys = try home.unlock().classKeys()
        let vault = try home.open(keys)
        // Generation 2 (offset 25, 8 bytes), default level `always` (offset 37), history 0 (39, 2 bytes); the seal is wrong.
        try home.tamper(
            "UPDATE header SET body = CAST(substr(body, 1, 25) || x'0000000000000063' || substr(body, 34, 4) || x'01' "
                + "|| substr(body, 39, 1) || x'0000' || substr(body, 42) AS BLOB)")
        var refusal: VaultError?
        do {
            try vault.edit { edit throws(VaultError) in
                try edit.add(ItemName("new"), level: nil) { draft throws(VaultError) in
                    try draft.put(secret("2"), at: FieldName("f"))
                }
            }
        } catch { refusal = error }
        #expect(refusal == .rekeyed)
        #expect(throws: VaultError.corrupt(.header)) { _ = try home.open(keys) }
        #expect(throws: VaultError.corrupt(.header)) { _ = try home.unlock() }
    }

    @Test("a slot changed under a raised generation is refused before the stretch, and no password is charged")
    func changedSlotUnderANewerHeader() throws {
        let home = try homeWithTwoItems()
        let counter = try home.passwordCount()
        // The salt of slot 1; generation 99 at offset 25.
        try home.tamper(
            "UPDATE slots SET body = CAST(substr(body, 1, 18) || zeroblob(16) || substr(body, 35) AS BLOB) WHERE id = 1",
            "UPDATE header SET body = CAST(substr(body, 1, 25) || x'0000000000000063' || substr(body, 34) AS BLOB)")
        for slot in [0, 1] { #expect(throws: VaultError.corrupt(.header)) { _ = try home.unlock(slot: slot) } }
        #expect(throws: VaultError.corrupt(.header)) { _ = try VaultFile.open(home.vault, device: home.device()).openAlways() }
        #expect(try home.passwordCount() == counter)
        // A read on request: only the seal can show the change, and the slot then opens nothing.
        #expect(throws: VaultError.cannotUnlock) { _ = try home.unlock(acceptsRollback: true) }
    }

    @Test("an announced header that crashed before its mark is accepted, and another header of its number is refused")
    func announcedHeader() throws {
        let home = try homeWithTwoItems()
        try home.save("before")
        let marks = try home.highWater()
        let before = try #require(try marks.read())
        let keys = try home.classKeys()
        _ = try home.unlock().changePolicy { $0.keepsTicket = true }
        var seen = try #require(try marks.read())
        #expect(seen[MarkIndex.header].generation == 2)
        // The state after a crash behind the commit.
        (seen[MarkIndex.announced], seen[MarkIndex.header]) = (seen[MarkIndex.header], before[MarkIndex.header])
        let announced = seen[MarkIndex.announced]
        try marks.write(seen)
        let file = try VaultFile.open(home.vault, device: home.device())
        let (isNoted, keepsTicket) = (file.isNoted, file.policy.keepsTicket)
        #expect(isNoted && keepsTicket)
        // A process without the root key may continue, and records it.
        try home.open(keys).edit { edit throws(VaultError) in try edit.trash(ItemName("b")) }
        #expect(try marks.read()?[MarkIndex.header].generation == 2)
        // The state after a crash before the commit.
        try home.putBack("before")
        seen = try #require(try marks.read())
        for index in [MarkIndex.header] + (1...6) { seen[index] = before[index] }
        seen[MarkIndex.announced] = announced
        try marks.write(seen)
        #expect(try home.get("a", "x") == "value of a")
        // The number is announced, the header is not.
        try home.tamper("UPDATE header SET body = CAST(substr(body, 1, 25) || x'0000000000000002' || substr(body, 34) AS BLOB)")
        #expect(throws: VaultError.corrupt(.header)) { _ = try home.unlock() }
    }

    @Test("the eight marks of an earlier build are read, and any other number is refused")
    func numberOfMarks() throws {
        let home = try homeWithTwoItems()
        let marks = try home.highWater()
        let whole = try #require(try marks.read())
        #expect(whole.count == 11)
        try marks.write(Array(whole.prefix(8)))
        #expect(try home.get("a", "x") == "value of a")
        #expect(try marks.read()?.count == 11)
        for count in [7, 9, 10] {
            try marks.write(Array(whole.prefix(count)))
            #expect(throws: VaultError.corrupt(.header), "\(count)") { _ = try home.get("a", "x") }
        }
    }

    @Test("an honest change of the slots never looks like a forged header to a simultaneous unlock", .onOwnThreads)
    func honestChanges() async throws {
        let home = try homeWithTwoItems()
        let (path, device) = (home.vault, try home.device())
        let done = Counter(), opened = Counter(), isOver = Counter()
        async let changes: Void = onOwnThread {
            defer { _ = done.add(1) }
            guard let file = try? VaultFile.open(path, device: device),
                let key = try? file.slots[0].key(stretching: secret("pass word")),
                let vault = try? file.unlock(file.slots[0], with: key)
            else { return }
            var number = 0
            while isOver.add(0) == 0, number < 60 || opened.add(0) <= 10 {
                _ = try? vault.changePolicy { $0.keepsTicket = number % 2 == 0 }
                number += 1
            }
        }
        // Otherwise a vault that does not open would leave the changes without an end.
        defer { _ = isOver.add(1) }
        var last = UInt64(0)
        while done.add(0) == 0 {
            let file = try VaultFile.open(path, device: device)
            #expect(file.header.generation >= last)
            last = file.header.generation
            _ = opened.add(1)
        }
        await changes
        #expect(last > 1)
    }

    @Test("a lost device key is not silently replaced while its marks are there")
    func lostDeviceKey() throws {
        let home = try homeWithTwoItems()
        try FileManager.default.removeItem(atPath: home.deviceFolder + "/device.key")
        #expect(throws: StorageError.deviceKeyMissing) { _ = try home.device().make() }
        #expect(throws: VaultError.deviceKeyMissing) { try home.get("a", "x") }
    }

    @Test("without marks the header's own seal shows a change")
    func headerSeal() throws {
        let home = try Home()
        var typed = SecretBytes(count: 0) { _ in }
        try home.create { typed = $0.text() }
        // The default level, byte 37, changes from when-unlocked to always, for the next added item.
        try home.tamper("UPDATE header SET body = CAST(substr(body, 1, 37) || x'01' || substr(body, 39) AS BLOB)")
        let file = try VaultFile.open(home.vault, device: nil)
        #expect(file.policy.defaultLevel == ProtectionLevel(.always))
        let slot = file.slots[1]
        #expect(throws: VaultError.corrupt(.header)) {
            _ = try file.unlock(slot, with: try slot.key(stretching: RecoveryCode(typed: typed).secret))
        }
    }

    @Test("a slot with another slot's commitment does not open, though its box would")
    func slotCommitment() throws {
        let vault = Random.bytes(16)
        let file = VaultKeyFile.random()
        let scope = SlotScope.somewhere(vault)
        let slot = KeySlot(
            NewSlot(keyFile: file), id: 1, created: 0, root: .random(), in: scope, device: DeviceKey(.random()))
        let key = file.key()
        #expect(throws: Never.self) { _ = try slot.unwrap(with: key, device: nil) }
        for offset in 58..<90 {
            var bytes = slot.encoded
            bytes[offset] ^= 1
            let changed = try KeySlot(decoding: bytes, in: scope)
            #expect(throws: VaultError.cannotUnlock, "\(offset)") {
                _ = try changed.unwrap(with: key, device: nil)
            }
        }
    }

    @Test("a process that waited for a replaced lock file excludes the processes that lock the new one", .onOwnThreads)
    func replacedLock() async throws {
        let home = try Home()
        let folder = try PrivateFolder.make(home.root + "/locks")
        let path = folder.path + "/a.lock"
        let held = Counter()
        let lock = folder.lock("a.lock")
        var waiting: Task<[Void], any Error>?
        try lock.hold { () throws(StorageError) in
            waiting = Task { @Sendable in
                try await atOnce(4) { _ in
                    try lock.hold { () throws(StorageError) in
                        // One at a time, whichever file was there when they began to wait.
                        #expect(held.add(1) == 1)
                        for _ in 0..<100 { _ = access(path, F_OK) }
                        _ = held.add(-1)
                    }
                }
            }
            // They open the file and wait, and then another file replaces it.
            eventuallyHere {
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)) == path
                }) ?? 0 == 5
            }
            unlink(path)
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        _ = try await waiting?.value
        #expect(held.add(0) == 0)
    }

    @Test("a slot that was removed from the vault opens nothing")
    func removedSlot() throws {
        let (home, other) = (try homeWithTwoItems(), try homeWithTwoItems())
        let slot = try VaultFile.open(other.vault, device: other.device()).slots[0]
        let file = try VaultFile.open(home.vault, device: home.device())
        let key = try slot.key(stretching: secret("pass word"))
        #expect(throws: VaultError.cannotUnlock) { _ = try file.unlock(slot, with: key) }
    }

    @Test("only always items are read without a password")
    func always() throws {
        let home = try homeWithTwoItems()
        try home.add("open", ["x": "always"], level: ProtectionLevel(.always))
        let vault = try VaultFile.open(home.vault, device: home.device()).openAlways()
        #expect(try vault.value("open", "x") == "always")
        #expect(try vault.items().map(\.name.text) == ["open"])
        #expect(throws: VaultError.noItem(try ItemName("a"))) { try vault.value("a", "x") }
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    func add(_ number: Int) -> Int {
        value.withLock {
            $0 += number
            return $0
        }
    }
}

extension Home {
    private var marksFile: String {
        get throws {
            let name = try FileManager.default.contentsOfDirectory(atPath: deviceFolder)
                .first { $0.hasPrefix("vault-") && $0.hasSuffix(".mark") }
            return deviceFolder + "/" + (name ?? "vault-none.mark")
        }
    }

    /// The bytes of the count of wrong passwords.
    func passwordCount() throws -> Data {
        let name = try FileManager.default.contentsOfDirectory(atPath: deviceFolder)
            .first { $0.hasPrefix("password-") && $0.hasSuffix(".mark") }
        return try Data(contentsOf: URL(fileURLWithPath: deviceFolder + "/" + (name ?? "none")))
    }

    func highWater() throws -> HighWaterFile { try logMarks() }

    func marks() throws -> (String, Data) { (try marksFile, try Data(contentsOf: URL(fileURLWithPath: try marksFile))) }

    func replaceMarks(_ marks: (String, Data)?) throws {
        if let (path, bytes) = marks {
            try? FileManager.default.removeItem(atPath: path)
            _ = FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600])
        } else {
            try FileManager.default.removeItem(atPath: try marksFile)
        }
    }
}
