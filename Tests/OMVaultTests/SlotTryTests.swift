// One secret tried at several slots: the slots of a try, and its effect on the count of wrong passwords.

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

@Suite("One try at several slots") struct SlotTryTests {
    private static let passwords = (1...8).map { "password \($0)" }

    private let home: Home

    /// A vault with eight password slots, all at the floor.
    init() throws {
        home = try Home()
        try create(Self.passwords)
    }

    private func create(_ passwords: [String]) throws {
        try VaultFile.create(
            home.vault, device: home.device(), policy: VaultPolicy(defaultLevel: .whenUnlocked, stretch: .floor),
            slots: try passwords.map { try NewSlot(password: Password(secret($0)), .floor) })
    }

    private func file() throws -> VaultFile { try VaultFile.open(home.vault, device: home.device()) }

    private func unlock(_ password: String) throws -> UInt32? { try Self.unlock(home.vault, home.device(), password) }

    private static func unlock(_ path: String, _ device: DeviceFolder, _ password: String) throws -> UInt32? {
        let file = try VaultFile.open(path, device: device)
        return try file.unlock(anyOf: KeySlot.tried(.password, of: file.slots)) { slot throws(VaultError) in
            try slot.key(stretching: secret(password))
        }.openedBy?.id
    }

    /// The number of all charged attempts, and of those that failed since the last right password.
    private func count() throws -> [UInt64] {
        let marks = try home.device().highWater(.password, id: file().id, under: home.device().make())
        let mark = try #require(try marks.read()?.first)
        return [mark.generation, mark.digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }]
    }

    @Test("the password of each of eight slots opens the vault, as one attempt that is taken back")
    func eachOpens() async throws {
        for (index, password) in Self.passwords.enumerated() {
            #expect(try unlock(password) == UInt32(index + 1))
            #expect(try count() == [UInt64(index + 1), 0])
        }
    }

    @Test("a wrong password at eight slots is charged once")
    func oneCharge() async throws {
        #expect(throws: VaultError.cannotUnlock) { try unlock("wrong") }
        #expect(try count() == [1, 1])
        #expect(throws: VaultError.delayed(seconds: 1)) { try unlock("password 8") }
        #expect(try count() == [1, 1])
    }

    @Test("a wrong password at eight slots is one entry of the audit log")
    func oneEntry() async throws {
        let before = try file().auditReport().entries.count
        #expect(throws: VaultError.cannotUnlock) { try unlock("wrong") }
        let entries = try file().auditReport().entries
        #expect(entries.count == before + 1 && entries.last?.event == .wrongSecret(slot: 8))
    }

    @Test("all slots of a try are stretched before its charge, and outside the lock")
    func stretchedOutside() async throws {
        let file = try file()
        let marks = try home.device().highWater(.password, id: file.id, under: home.device().make())
        let stretched = Mutex<[UInt32]>([])
        let before = try count()
        _ = try file.unlock(anyOf: KeySlot.tried(.password, of: file.slots)) { slot throws(VaultError) in
            // This would be busy if the try held the lock.
            try storing { () throws(StorageError) in try marks.lock.hold(wait: 0) { () throws(StorageError) in } }
            #expect((try? count()) == before)
            stretched.withLock { $0.append(slot.id) }
            return try slot.key(stretching: secret("password 3"))
        }
        #expect(stretched.withLock { $0 } == Array(1...8))
    }

    @Test("a vault refuses a ninth password slot, and accepts other slots")
    func ninth() async throws {
        let vault = try home.unlock("password 1")
        #expect(throws: VaultError.tooManyPasswordSlots) {
            try Vault.checkRoom(for: .password, among: vault.settings().slots)
        }
        #expect(throws: VaultError.tooManyPasswordSlots) {
            try vault.addSlot(NewSlot(password: Password(secret("password 9")), .floor))
        }
        #expect(try vault.addSlot(NewSlot(keyFile: VaultKeyFile.random())).id == 9)
    }

    @Test("a ninth password slot of an earlier release opens by its id only")
    func ninthByID() async throws {
        try FileManager.default.removeItem(atPath: home.vault)
        try create(Self.passwords + ["password 9"])
        #expect(throws: VaultError.cannotUnlock) { try unlock("password 9") }
        try FileManager.default.removeItem(atPath: home.vault)
        try create(Self.passwords + ["password 9"])
        #expect(try home.unlock("password 9", slot: 8).openedBy?.id == 9)
    }

    @Test("simultaneous right passwords of eight slots all open the vault")
    func atOnce() async throws {
        let (path, device) = (home.vault, try home.device())
        let opened = try await withThrowingTaskGroup(of: UInt32?.self) { group in
            for password in Self.passwords {
                group.addTask { try await onOwnThread { try Self.unlock(path, device, password) } }
            }
            return try await group.reduce(into: Set<UInt32>()) { found, id in if let id { found.insert(id) } }
        }
        #expect(opened == Set(1...8))
    }

    // MARK: - Which slots

    /// A slot of 162 bytes that asks for this stretch.
    private func slot(_ id: UInt32, _ kind: KeySlot.Kind, MiB: UInt32, passes: UInt32, lanes: UInt32 = 1) throws -> KeySlot {
        let stretch: Argon2id.Parameters? =
            kind.isStretched ? try Argon2id.Parameters(memoryKiB: MiB << 10, passes: passes, lanes: lanes) : nil
        let zeros = [UInt8](repeating: 0, count: 16)
        let head = SlotHeader(kind, id: id, stretch, salt: zeros, created: 0, subject: zeros)
        return try KeySlot(decoding: head.encoded + [UInt8](repeating: 0, count: 104))
    }

    @Test(
        "the work of all slots of a try stays within 1 GiB filled four times, and the first slot is always tried",
        arguments: [
            // 64 slots of this stretch, and the number of them that are tried.
            (.recovery, 1024, 16, 1), (.recovery, 1024, 4, 1), (.recovery, 1024, 2, 2), (.recovery, 1024, 1, 4),
            (.recovery, 64, 3, 21), (.recovery, 8, 1, 64), (.keyFile, 0, 0, 64),
            (.password, 1024, 16, 1), (.password, 512, 2, 4), (.password, 64, 3, 8), (.password, 8, 1, 8),
        ] as [(KeySlot.Kind, UInt32, UInt32, Int)])
    func work(kind: KeySlot.Kind, MiB: UInt32, passes: UInt32, count: Int) async throws {
        let slots = try (1...64).map { try slot($0, kind, MiB: MiB, passes: passes) }
        #expect(KeySlot.tried(kind, of: slots) == Array(slots.prefix(count)))
    }

    @Test("slots of other kinds, and slots with more lanes than this build computes, are left out")
    func leftOut() async throws {
        let slots = [
            try slot(1, .recovery, MiB: 1024, passes: 16), try slot(2, .password, MiB: 8, passes: 1, lanes: 4),
            try slot(5, .password, MiB: 8, passes: 1), try slot(7, .password, MiB: 8, passes: 1),
        ]
        #expect(KeySlot.tried(.password, of: slots).map(\.id) == [5, 7])
        #expect(KeySlot.tried(.password, of: Array(slots.prefix(2))).map(\.id) == [2])
        #expect(KeySlot.tried(.keyFile, of: slots).isEmpty)
    }

    @Test("a backup opens with the password of any of its slots, as one attempt")
    func backup() async throws {
        let path = home.root + "/a.omvb"
        let vault = try home.unlock("password 1")
        _ = try vault.addSlot(NewSlot(keyFile: VaultKeyFile.random()))
        _ = try vault.backUp(to: path, portable: false)
        let before = try count()[0]
        let backup = try BackupFile.open(path)
        let slots = KeySlot.tried(.password, of: backup.slots)
        _ = try backup.unlock(anyOf: slots, device: home.device()) { slot throws(VaultError) in
            try slot.key(stretching: secret("password 7"))
        }
        #expect(try count() == [before + 1, 0])
        #expect(throws: VaultError.cannotUnlock) {
            _ = try backup.unlock(anyOf: slots, device: home.device()) { slot throws(VaultError) in
                try slot.key(stretching: secret("wrong"))
            }
        }
        #expect(try count() == [before + 2, 1])
    }
}
