// The slots that open a vault: added, changed and removed, and attacks on them.

import Foundation
import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct SlotTests {
    private func password(_ text: String) throws -> NewSlot { try NewSlot(password: Password(secret(text)), .floor) }

    private func open(_ home: Home) throws -> VaultFile { try VaultFile.open(home.vault, device: home.device()) }

    private func unlock(_ home: Home, _ id: UInt32, _ text: String) throws -> Vault {
        let file = try open(home)
        let slot = try #require(file.slots.first { $0.id == id })
        return try file.unlock(slot, with: try slot.key(stretching: secret(text)))
    }

    @Test("an added password, key file and login open the vault, and wrong ones do not")
    func added() throws {
        let home = try Home()
        try home.create()
        try home.add("a", ["x": "1"])
        let keyFile = VaultKeyFile.random()
        let unlocking = Key<Unlocking>.random()
        let id = Random.bytes(16)
        let vault = try home.unlock()
        #expect(try vault.addSlot(password("second")).id == 3)
        #expect(try vault.addSlot(NewSlot(keyFile: keyFile)).id == 4)
        let login = try vault.addSlot(NewSlot(login: id, key: unlocking))
        #expect(login.id == 5 && login.login == id && login.stretch == nil && login.isDeviceBound)

        #expect(try unlock(home, 3, "second").value("a", "x") == "1")
        let file = try open(home)
        #expect(file.slots.map(\.id) == [1, 2, 3, 4, 5])
        #expect(try file.unlock(file.slots[3], with: keyFile.key()).value("a", "x") == "1")
        #expect(try file.unlock(file.slots[4], with: unlocking).value("a", "x") == "1")
        #expect(throws: VaultError.cannotUnlock) { _ = try file.unlock(file.slots[3], with: .random()) }
        #expect(throws: VaultError.staleLogin(5)) { _ = try file.unlock(file.slots[4], with: .random()) }
        #expect(throws: VaultError.cannotUnlock) { _ = try file.slots[3].key(stretching: secret("x")) }
        // On another device the key file opens the vault, and the device-bound slots do not.
        let elsewhere = try VaultFile.open(home.vault, device: nil)
        #expect(try elsewhere.unlock(elsewhere.slots[3], with: keyFile.key()).value("a", "x") == "1")
        #expect(throws: VaultError.deviceKeyMissing) { _ = try elsewhere.unlock(elsewhere.slots[4], with: unlocking) }
    }

    @Test("a login that was enrolled again gets a new slot under the same id")
    func stale() throws {
        let home = try Home()
        try home.create()
        let id = Random.bytes(16)
        _ = try home.unlock().addSlot(NewSlot(login: id, key: .random()))
        let later = Key<Unlocking>.random()
        #expect(throws: VaultError.staleLogin(3)) { _ = try open(home).unlock(open(home).slots[2], with: later) }
        #expect(try home.unlock().addSlot(NewSlot(login: id, key: later)).id == 3)
        #expect(try home.unlock().addSlot(NewSlot(login: Random.bytes(16), key: .random())).id == 4)
        #expect(try open(home).slots.count == 4)
        #expect(throws: Never.self) { _ = try open(home).unlock(open(home).slots[2], with: later) }
    }

    @Test("the last slot stays, and so does the last password or recovery slot beside a login slot")
    func rules() throws {
        let home = try Home()
        try home.create()
        let vault = try home.unlock()
        _ = try vault.addSlot(NewSlot(login: Random.bytes(16), key: .random()))
        let keyFile = try vault.addSlot(NewSlot(keyFile: VaultKeyFile.random()))
        #expect(throws: VaultError.noSlot(9)) { try vault.removeSlot(9) }
        _ = try vault.removeSlot(2)
        #expect(throws: VaultError.onlyLoginSlots) { try vault.removeSlot(1) }
        _ = try vault.removeSlot(3)
        _ = try vault.removeSlot(1)
        #expect(throws: VaultError.onlyLoginSlots) {
            _ = try vault.addSlot(NewSlot(login: Random.bytes(16), key: .random()))
        }
        #expect(throws: VaultError.lastSlot) { try vault.removeSlot(keyFile.id) }
        #expect(try vault.settings().slots.map(\.id) == [keyFile.id])
    }

    @Test("a changed password opens, the old one does not, and a slot that changed meanwhile stays unchanged")
    func changed() throws {
        let home = try Home()
        try home.create()
        let vault = try home.unlock()
        let old = try open(home).slots[0]
        _ = try vault.replaceSlot(old, with: password("new"))
        #expect(throws: Never.self) { _ = try unlock(home, 1, "new") }
        #expect(throws: VaultError.cannotUnlock) { _ = try home.unlock() }
        #expect(throws: VaultError.slotChanged(1)) { _ = try vault.replaceSlot(old, with: password("newer")) }
    }

    @Test("a vault has at most 64 slots")
    func tooMany() throws {
        let home = try Home()
        try home.create()
        let vault = try home.unlock()
        for _ in 3...64 { _ = try vault.addSlot(NewSlot(keyFile: VaultKeyFile.random())) }
        #expect(throws: VaultError.tooManySlots) { try vault.addSlot(NewSlot(keyFile: VaultKeyFile.random())) }
        #expect(try open(home).slots.count == 64)
    }

    // MARK: - Attackers

    @Test("a removed slot that is put back is refused, as its row or with the older vault")
    func putBack() throws {
        let home = try Home()
        try home.create()
        try home.add("a", ["x": "1"])
        try home.save("old")
        let slot = try open(home).slots[1]
        _ = try home.unlock().removeSlot(2)
        #expect(try home.get("a", "x") == "1")
        #expect(throws: VaultError.cannotUnlock) { _ = try open(home).unlock(slot, with: .random()) }
        try home.save("without")
        try home.tamper("INSERT INTO slots VALUES (2, x'\(Hex.encode(slot.encoded))')")
        #expect(throws: VaultError.corrupt(.header)) { _ = try open(home) }
        try home.putBack("old")
        #expect(throws: VaultError.rolledBack(.header)) { _ = try open(home) }
        try home.putBack("without")
        #expect(try home.get("a", "x") == "1")
    }

    @Test("a slot of another vault, weaker stretching and a forged policy are refused, with and without the marks")
    func forged() throws {
        let attacks = [
            // The recovery slot of a vault whose code the attacker knows.
            "UPDATE slots SET body = CAST(substr(body, 1, 2) || substr(body, 3) AS BLOB) WHERE id = 9",
            // 8 MiB become 9; 1 pass becomes 2.
            "UPDATE slots SET body = CAST(substr(body, 1, 6) || x'00002400' || substr(body, 11) AS BLOB) WHERE id = 1",
            "UPDATE slots SET body = CAST(substr(body, 1, 10) || x'00000002' || substr(body, 15) AS BLOB) WHERE id = 1",
            // The default level becomes always, the ticket is on, no history, one pass.
            "UPDATE header SET body = CAST(substr(body, 1, 37) || x'01' || substr(body, 39) AS BLOB)",
            "UPDATE header SET body = CAST(substr(body, 1, 38) || x'01' || substr(body, 40) AS BLOB)",
            "UPDATE header SET body = CAST(substr(body, 1, 39) || x'0000' || substr(body, 42) AS BLOB)",
            "UPDATE header SET body = CAST(substr(body, 1, 45) || x'00000002' || substr(body, 50) AS BLOB)",
        ]
        let newer = "UPDATE header SET body = CAST(substr(body, 1, 25) || x'0000000000000009' || substr(body, 34) AS BLOB)"
        for attack in attacks {
            let home = try Home()
            let file = VaultKeyFile.random()
            try home.create()
            _ = try home.unlock().addSlot(NewSlot(keyFile: file))
            if attack == attacks[0] {
                let other = try Home()
                try other.create()
                let slot = try VaultFile.open(other.vault, device: other.device()).slots[1]
                try home.tamper("UPDATE slots SET body = x'\(Hex.encode(slot.encoded))' WHERE id = 2")
            } else {
                try home.tamper(attack)
            }
            #expect(throws: VaultError.corrupt(.header), "\(attack)") { _ = try open(home) }
            // A generation above the mark does not help, because it was not announced.
            try home.tamper(newer)
            #expect(throws: VaultError.corrupt(.header), "\(attack)") { _ = try open(home) }
            // On another device, and with an accepted rollback, only the header's seal shows the change, at the unlock.
            for device in [nil, try home.device()] {
                let opened = try VaultFile.open(home.vault, device: device, acceptsRollback: device != nil)
                let isNoted = opened.isNoted
                #expect(!isNoted)
                #expect(throws: VaultError.corrupt(.header), "\(attack)") {
                    _ = try opened.unlock(opened.slots[2], with: file.key())
                }
            }
        }
    }

    @Test("two processes that add slots at once both succeed")
    func race() async throws {
        let home = try Home()
        try home.create()
        let (path, device) = (home.vault, try home.device())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await onOwnThread {
                        let file = try VaultFile.open(path, device: device)
                        let key = try file.slots[0].key(stretching: secret("pass word"))
                        let vault = try file.unlock(file.slots[0], with: key)
                        for _ in 0..<10 { _ = try vault.addSlot(NewSlot(keyFile: VaultKeyFile.random())) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try open(home).slots.map(\.id) == (1...22).map { UInt32($0) })
        #expect(throws: Never.self) { _ = try home.unlock() }
    }

    // MARK: - Policy

    @Test("a changed policy is logged and survives the next open, and values outside the bounds are refused")
    func policy() throws {
        let home = try Home()
        try home.create()
        let vault = try home.unlock()
        _ = try vault.changePolicy { policy throws(VaultError) in
            policy.defaultLevel = .highest
            policy.keepsTicket = true
            try policy.keepVersions(1000)
            try policy.stretch(memoryKiB: 16 << 10, passes: 2)
        }
        let file = try open(home)
        let (isNoted, policy) = (file.isNoted, file.policy)
        #expect(isNoted && policy.defaultLevel == .highest && policy.keepsTicket)
        #expect(policy.history == 1000 && policy.stretch.memoryKiB == 16 << 10)
        #expect(throws: VaultError.unchanged) { try vault.changePolicy { $0.keepsTicket = true } }
        for count in [-1, 1001, 65_536, .max] {
            #expect(throws: VaultError.policyOutOfBounds) {
                try vault.changePolicy { policy throws(VaultError) in try policy.keepVersions(count) }
            }
        }
        for (memory, passes): (UInt32, UInt32) in [(8191, 1), (1 << 20 | 1, 1), (8192, 0), (8192, 17), (0, 0)] {
            #expect(throws: VaultError.policyOutOfBounds) {
                try vault.changePolicy { policy throws(VaultError) in
                    try policy.stretch(memoryKiB: memory, passes: passes)
                }
            }
        }
        // The new policy applies to the next item, even in a vault that was unlocked before.
        let later = try home.unlock()
        _ = try vault.changePolicy { $0.defaultLevel = .whenUnlocked }
        try later.edit { edit throws(VaultError) in try edit.add(ItemName("a"), level: nil) { _ throws(VaultError) in } }
        #expect(try later.item(ItemName("a")).level == .whenUnlocked)
    }

    @Test("the next unlock stretches a slot below the policy longer, once, and never for less")
    func restretch() throws {
        let home = try Home()
        try home.create()
        let vault = try home.unlock()
        let before = try open(home).slots
        #expect(try vault.raiseStretch(of: before[0], secret("pass word")) == nil)
        _ = try vault.changePolicy { policy throws(VaultError) in try policy.stretch(memoryKiB: 8 << 10, passes: 2) }
        #expect(try !vault.settings().policy.isMet(by: before[0]))
        let raised = try #require(try vault.raiseStretch(of: before[0], secret("pass word")))
        #expect(raised.id == 1 && raised.stretch?.passes == 2 && raised.stretch?.memoryKiB == 8 << 10)
        // Another process that unlocked at the same time is too late, and leaves the slot.
        #expect(try vault.raiseStretch(of: before[0], secret("pass word")) == nil)
        #expect(try vault.raiseStretch(of: raised, secret("pass word")) == nil)
        #expect(try open(home).slots == [raised, before[1]])
        #expect(throws: Never.self) { _ = try home.unlock() }
        // More memory and fewer passes: the larger of both.
        _ = try vault.changePolicy { policy throws(VaultError) in try policy.stretch(memoryKiB: 16 << 10, passes: 1) }
        let both = try #require(try vault.raiseStretch(of: raised, secret("pass word")))
        #expect(both.stretch?.passes == 2 && both.stretch?.memoryKiB == 16 << 10)
        #expect(throws: Never.self) { _ = try home.unlock() }
    }
}
