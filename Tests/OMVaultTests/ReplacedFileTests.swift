// A copy in the vault's place, and unlocks that could not be logged in time.

import Foundation
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMItems
@testable import OMVault

extension Home {
    /// Puts a copy with the same bytes in the vault's place, as another file.
    fileprivate func replaceFile() throws {
        try save("copy")
        for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: vault + end) }
        guard rename(root + "/copy", vault) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    fileprivate func isReplaced() throws -> Bool { try VaultFile.open(vault, device: device()).isReplaced }
}

@Suite struct ReplacedFileTests {
    private func home() throws -> Home {
        let home = try Home()
        try home.create()
        try home.add("a", ["x": "value of a"])
        return home
    }

    @Test("the next change of a copy in the vault's place takes it over, and the log says so and continues")
    func takenOver() throws {
        let home = try home()
        let before = try home.report()
        #expect(try !home.isReplaced() && !before.isFileReplaced && !home.unlock().verify(deep: false).isFileReplaced)
        let told = try home.report().entries
        try home.replaceFile()
        #expect(try home.isReplaced() && home.report().isFileReplaced)
        let report = try home.unlock().verify(deep: true)
        #expect(report.isFileReplaced && report.findings.isEmpty)
        #expect(throws: VaultError.cannotUnlock) { _ = try home.unlock("wrong", slot: 1) }
        #expect(try home.get("a", "x") == "value of a")
        // The owner of the copy is unknown, so an unlock of it is in no log.
        #expect(try home.report().entries == told && home.report().fault == nil)
        try home.add("b", [:])
        #expect(try !home.isReplaced())
        let log = try home.report()
        #expect(log.fault == nil && !log.isFileReplaced)
        let events = log.entries.map(\.event).suffix(3)
        #expect(events.prefix(2) == [.fileReplaced, .unlocked(slot: 1)])
        guard case .itemAdded = events.last else { throw VaultError.unchanged }
        _ = try home.unlock()
        #expect(try home.events().last == .unlocked(slot: 1) && home.events().count == log.entries.count + 1)
    }

    @Test("noting a state, such as a read after a crash, takes over no copy and writes nothing into its log")
    func notedOnly() throws {
        let home = try home()
        let marks = try home.marks()
        try home.add("b", ["x": "value of b"])
        // The state after a crash, and an unknown program's rows after the end.
        try home.replaceMarks(marks)
        try home.replaceFile()
        try home.tamper("INSERT INTO log VALUES (99, x'00')")
        let rows = try home.rows("log")
        #expect(try home.get("b", "x") == "value of b")
        #expect(try home.marks().1 != marks.1)
        #expect(try home.isReplaced() && home.rows("log") == rows)
        // The state is still recorded, so the previous state is refused.
        try home.add("c", [:])
        let events = try home.events()
        #expect(try home.report().fault == nil && events.contains(.fileReplaced) && !(try home.isReplaced()))
    }

    @Test("an unlock does not wait for the vault's lock or database, reports this, and the next change logs it")
    func unloggedEvent() throws {
        let home = try home()
        let marks = try home.logMarks()
        let other = try VaultSchema.open(home.vault)
        let before = try home.events()
        let waited = try marks.lock.hold { () throws(VaultError) in
            do { return try home.unlock() } catch { throw error as? VaultError ?? .noVault }
        }
        let isWaitedUntold = waited.isUnlockUnlogged
        #expect(isWaitedUntold)
        #expect(try waited.value("a", "x") == "value of a" && home.events() == before)
        try other.execute("BEGIN IMMEDIATE")
        let second = try home.unlock()
        try other.execute("ROLLBACK")
        var isUntold = second.isUnlockUnlogged
        #expect(try isUntold && home.events() == before)
        // A failed change logs nothing, and a finished change logs it once.
        let taken = VaultError.itemExists(try ItemName("a"))
        #expect(throws: taken) {
            try second.edit { edit throws(VaultError) in try edit.add(ItemName("a"), level: nil) { _ in } }
        }
        isUntold = second.isUnlockUnlogged
        #expect(isUntold)
        for name in ["b", "c"] {
            try second.edit { edit throws(VaultError) in try edit.add(ItemName(name), level: nil) { _ in } }
        }
        isUntold = second.isUnlockUnlogged
        #expect(!isUntold)
        let events = try home.events().dropFirst(before.count)
        #expect(events.count == 3 && events.first == .unlocked(slot: 1))
        #expect(try home.report().fault == nil)
        #expect(Vault.unlockWait.lock + Int(Vault.unlockWait.database) + PasswordCounter.noteWait <= 500)
    }

    @Test("a log that is verified while another process counts wrong secrets is whole")
    func countedMeanwhile() throws {
        let home = try home()
        let file = try VaultFile.open(home.vault, device: home.device())
        try file.record(.wrongSecret(slot: 2))
        let log = AuditLog(try home.device().make(), vault: try home.vaultID())
        let marks = try home.logMarks()
        let database = try VaultSchema.open(home.vault)
        var reads = 0
        func verified(meanwhile: () throws(VaultError) -> Void) throws -> AuditLogReport {
            reads = 0
            return try log.read(in: database) { () throws(VaultError) in
                let seen = try storing { () throws(StorageError) in try marks.read() }
                reads += 1
                if reads == 1 { try meanwhile() }
                return seen?[MarkIndex.log] ?? HighWaterMark.beginning
            }
        }
        let report = try verified { () throws(VaultError) in
            for _ in 1...2 { try file.record(.wrongSecret(slot: 2)) }
        }
        #expect(report.fault == nil && reads == 2)
        guard case .repeated(let run)? = report.entries.last?.event else { throw VaultError.unchanged }
        #expect(run.count == 3)
        // A lasting fault is still reported.
        try home.tamper("UPDATE log SET body = zeroblob(120) WHERE id = (SELECT max(id) FROM log)")
        let last = report.entries.count
        #expect(try verified {}.fault == LogFault(sequence: UInt64(last), kind: .changed))
        #expect(reads == 2)
    }
}
