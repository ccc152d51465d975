// Wrong passwords of a vault: counted and delayed, without any loss of data.

import Foundation
import OMSecrets
import OMStorage
import Synchronization
import TestSupport
import Testing

@testable import OMItems
@testable import OMVault

/// A wall clock in milliseconds that moves only when the test moves it.
private final class WallClock: Sendable {
    private let time = Mutex<Int64>(1_700_000_000_000)

    var now: Int64 { time.withLock { $0 } }
    func move(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

@Suite struct PasswordDelayTests {
    private let home: Home
    private let clock = WallClock()

    init() throws {
        home = try Home()
        try home.create()
    }

    private func file() throws -> VaultFile {
        let clock = clock
        return try VaultFile.open(home.vault, device: home.device(), clock: { clock.now })
    }

    private func attempt(_ password: String) throws {
        let file = try file()
        _ = try file.unlock(file.slots[0], with: try file.slots[0].key(stretching: secret(password)))
    }

    private var counter: String {
        get throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: home.deviceFolder)
            let name = names.first { $0.hasPrefix("password-") && $0.hasSuffix(".mark") }
            return home.deviceFolder + "/" + (try #require(name))
        }
    }

    private func expectDelayed(_ seconds: Int, _ password: String = "pass word", _ comment: Comment = "") {
        #expect(throws: VaultError.delayed(seconds: seconds), comment) { try attempt(password) }
        #expect(throws: VaultError.delayed(seconds: seconds), comment) {
            let file = try file()
            try file.checkUse(of: file.slots[0])
        }
    }

    @Test("each wrong password doubles the wait from one second to sixty, and a right one ends it")
    func doubling() throws {
        for delay in [1, 2, 4, 8, 16, 32, 60, 60, 60] as [Int64] {
            #expect(throws: VaultError.cannotUnlock) { try attempt("wrong") }
            expectDelayed(Int(delay), "wrong", "at once")
            clock.move(delay * 1000 - 1)
            expectDelayed(1, "pass word", "a millisecond early, also for the right one")
            clock.move(1)
        }
        try attempt("pass word")
        #expect(throws: VaultError.cannotUnlock) { try attempt("wrong") }
        expectDelayed(1)
    }

    @Test("a recovery code and a key file need no wait, and do not end the wait")
    func otherSlots() throws {
        let keyFile = VaultKeyFile.random()
        _ = try home.unlock().addSlot(NewSlot(keyFile: keyFile))
        #expect(throws: VaultError.cannotUnlock) { try attempt("wrong") }
        let file = try file()
        #expect(throws: VaultError.cannotUnlock) { _ = try file.unlock(file.slots[2], with: .random()) }
        #expect(throws: Never.self) { _ = try file.unlock(file.slots[2], with: keyFile.key()) }
        expectDelayed(1)
    }

    @Test("all password slots of a vault share one count")
    func shared() throws {
        _ = try home.unlock().addSlot(try NewSlot(password: Password(secret("second")), .floor))
        #expect(throws: VaultError.cannotUnlock) { try attempt("wrong") }
        let file = try file()
        #expect(throws: VaultError.delayed(seconds: 1)) {
            _ = try file.unlock(file.slots[2], with: try file.slots[2].key(stretching: secret("second")))
        }
    }

    @Test("a clock that was set back does not shorten the wait")
    func clockSetBack() throws {
        for _ in 0..<3 {
            #expect(throws: VaultError.cannotUnlock) { try attempt("wrong") }
            clock.move(60_000)
        }
        clock.move(-86_400_000)
        expectDelayed(4)
        clock.move(3999)
        expectDelayed(1)
        clock.move(1)
        try attempt("pass word")
    }

    @Test("a deleted, damaged or cut count gives the longest wait")
    func deleted() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: counter))
        let attacks = [nil, Data(), Data(count: 1024), Data(whole.prefix(512)), Data(whole.reversed())]
        for attack in attacks {
            let path = try counter
            try FileManager.default.removeItem(atPath: path)
            if let attack {
                _ = FileManager.default.createFile(
                    atPath: path, contents: attack, attributes: [.posixPermissions: 0o600])
            }
            expectDelayed(60, "pass word", "\(attack?.count ?? -1)")
            clock.move(60_000)
            try attempt("pass word")
        }
    }

    @Test("a count that is put back from a copy gives the longest wait, and is honest again after it")
    func putBack() throws {
        try attempt("pass word")
        let copy = try Data(contentsOf: URL(fileURLWithPath: counter))
        #expect(throws: VaultError.cannotUnlock) { try attempt("wrong") }
        try copy.write(to: URL(fileURLWithPath: try counter))
        expectDelayed(60, "pass word", "put back")
        clock.move(60_000)
        try attempt("pass word")
        try attempt("pass word")
        // This also holds if the attempt ended before its result, because the count was written before the check.
        let later = try Data(contentsOf: URL(fileURLWithPath: counter))
        let marks = try home.device().highWater(.password, id: file().id, under: home.device().make())
        let counting = PasswordCounter(marks, vault: try home.highWater(), clock: { [clock] in clock.now })
        #expect(throws: VaultError.noVault) { try counting.attempt { () throws(VaultError) in throw .noVault } }
        try later.write(to: URL(fileURLWithPath: try counter))
        expectDelayed(60, "pass word", "put back before the verdict")
    }

    @Test("the charge is on the disk before the check, and a right password takes it back")
    func chargeFirst() throws {
        let marks = try home.device().highWater(.password, id: file().id, under: home.device().make())
        let counter = PasswordCounter(marks, clock: { 1_700_000_000_000 })
        let path = try self.counter
        func failed() throws -> [UInt8] {
            // The newer of the two slots: the failed attempts follow the generation of the first mark.
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            let newer = bytes[31] > bytes[512 + 31] ? 0 : 512
            return Array(bytes[newer + 40..<newer + 48])
        }
        #expect(try failed().last == 0)
        let during = try counter.attempt { () throws(VaultError) in
            do { return try failed() } catch { throw .cannotUnlock }
        }
        #expect(during == [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(try failed().last == 0)
        #expect(throws: VaultError.cannotUnlock) {
            try counter.attempt { () throws(VaultError) in throw .cannotUnlock }
        }
        #expect(try failed().last == 1)
    }

    @Test("simultaneous right passwords all open the vault, though each is charged")
    func atOnce() async throws {
        let (path, device) = (home.vault, try home.device())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try await onOwnThread {
                        let file = try VaultFile.open(path, device: device)
                        let key = try file.slots[0].key(stretching: secret("pass word"))
                        try file.checkUse(of: file.slots[0])
                        _ = try file.unlock(file.slots[0], with: key)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
