// The slot that a recovery code opens which its device never had. Format: docs/formats/vault-format.md, "Shared recovery slot".

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import TestSupport
import Testing

@testable import OMItems
@testable import OMVault

@Suite("Shared recovery slots") struct SharedRecoverySlotTests {
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Golden/sync")
        .standardized

    /// The public key of a code, as sync.md says.
    private func wrappingKey(_ code: borrowing RecoveryCode, _ vault: [UInt8]) -> [UInt8] {
        MontgomeryPoint.publicKey(of: HKDF.key(from: code.secret, Context(.syncRecovery, .bytes(vault), .number(2))))
    }

    /// A vault of format 2, since an item has a `:` in its name.
    private func home() throws -> Home {
        let home = try Home()
        try home.create()
        try home.add("a:b", ["x": "1"])
        return home
    }

    private func share(_ code: borrowing RecoveryCode, with home: Home) throws -> KeySlot {
        let vault = try home.unlock()
        return try vault.putSlot(NewSlot(recoveryKey: wrappingKey(code, vault.id))).slot
    }

    private func unlock(_ file: borrowing VaultFile, _ code: borrowing RecoveryCode) throws(VaultError) -> Vault {
        let secret = code.secret.duplicate()
        return try file.unlock(anyOf: KeySlot.tried(.recovery, of: file.slots)) { slot throws(VaultError) in
            try slot.key(stretching: secret)
        }
    }

    private func bytes(of key: borrowing Key<Deriving>) -> [UInt8] {
        key.withExposedBytes { span in span.indices.map { span[$0] } }
    }

    @Test("a code that the device never had opens its file, there and on another device, and another code does not")
    func opens() throws {
        let home = try home()
        let code = RecoveryCode.random()
        let slot = try share(code, with: home)
        #expect(slot.id == 3 && slot.kind == .sharedRecovery && slot.stretch == nil && !slot.isDeviceBound)
        for device in [try home.device(), nil] {
            let file = try VaultFile.open(home.vault, device: device)
            let vault = try unlock(file, code)
            #expect(try vault.value("a:b", "x") == "1" && vault.openedBy == slot)
            #expect(throws: VaultError.cannotUnlock) { _ = try unlock(file, .random()) }
        }
    }

    @Test("the slot of the second implementation opens with its code, in its place, and in no other")
    func secondImplementation() async throws {
        struct Golden: Decodable {
            let code, vault, device, root, slot: String
            let epoch, id: UInt32
        }
        let stored = try Data(contentsOf: Self.golden.appending(path: "slot.json"))
        let ran = try await run(["/usr/bin/python3", Self.golden.appending(path: "slot.py").path], in: TestFolder())
        #expect(Data(ran.output.utf8) == stored, "\(ran)")
        let golden = try JSONDecoder().decode(Golden.self, from: stored)
        let code = try RecoveryCode(typed: secret(golden.code))
        let scope = SlotScope(
            vault: try Hex.decode(golden.vault), device: try Hex.decode(golden.device), epoch: golden.epoch)
        let encoded = try Hex.decode(golden.slot)
        func root(_ slot: [UInt8], in scope: SlotScope) throws(VaultError) -> [UInt8] {
            let slot = try KeySlot(decoding: slot, in: scope)
            return bytes(of: try slot.unwrap(with: slot.key(stretching: code.secret), device: nil))
        }
        #expect(try root(encoded, in: scope) == Hex.decode(golden.root))
        // Attack: it is put into the file of another device, into another vault, or back to where it was before a rekey.
        let zeros = [UInt8](repeating: 0, count: 32)
        let others = [
            SlotScope(vault: Array(zeros.prefix(16)), device: scope.device, epoch: scope.epoch),
            SlotScope(vault: scope.vault, device: zeros, epoch: scope.epoch),
            SlotScope(vault: scope.vault, device: scope.device, epoch: scope.epoch + 1),
        ]
        for other in others { #expect(throws: VaultError.cannotUnlock) { try root(encoded, in: other) } }
        // Attack: it gets another id, or other keys. Each byte of it is proven.
        for offset in encoded.indices.dropFirst(2) where !(6..<34).contains(offset) && !(42..<58).contains(offset) {
            var changed = encoded
            changed[offset] ^= 1
            #expect(throws: VaultError.cannotUnlock, "\(offset)") { try root(changed, in: scope) }
        }
    }

    @Test("the slot of another device's file with the same vault id and code opens nothing")
    func ofAnotherDevice() throws {
        let (home, other) = (try home(), try Home())
        let code = RecoveryCode.random()
        try VaultFile.create(
            other.vault, id: home.unlock().id, device: other.device(),
            policy: VaultPolicy(defaultLevel: .whenUnlocked, stretch: .floor),
            slots: [NewSlot(password: Password(secret("pass word")), .floor), NewSlot(recovery: .random(), .floor)])
        try other.add("a:b", ["x": "2"])
        let slot = try share(code, with: home)
        #expect(try share(code, with: other).id == slot.id)
        #expect(try unlock(VaultFile.open(other.vault, device: nil), code).value("a:b", "x") == "2")
        try other.tamper("UPDATE slots SET body = x'\(Hex.encode(slot.encoded))' WHERE id = 3")
        #expect(throws: VaultError.corrupt(.header)) { _ = try VaultFile.open(other.vault, device: other.device()) }
        // Where no mark says so, the slot itself does.
        #expect(throws: VaultError.cannotUnlock) { _ = try unlock(VaultFile.open(other.vault, device: nil), code) }
    }

    @Test("a rekey without the code gives a slot that the same code opens, and the slot from before opens nothing")
    func rekeyed() throws {
        let home = try home()
        let code = RecoveryCode.random()
        let before = try share(code, with: home)
        let vault = try home.unlock()
        let slots = [
            Vault.RekeyedSlot(id: 1, try NewSlot(password: Password(secret("pass word")), .floor)),
            Vault.RekeyedSlot(id: 3, try #require(try NewSlot(sharing: before))),
        ]
        let seen = try vault.settings().slots
        _ = try vault.rekey(slots: slots, expecting: seen)
        let after = try VaultFile.open(home.vault, device: home.device())
        #expect(after.slots.map(\.id) == [1, 3] && after.slots[1].recoveryKey == before.recoveryKey)
        #expect(try unlock(after, code).value("a:b", "x") == "1")
        try home.tamper("UPDATE slots SET body = x'\(Hex.encode(before.encoded))' WHERE id = 3")
        #expect(throws: VaultError.cannotUnlock) { _ = try unlock(VaultFile.open(home.vault, device: nil), code) }
    }

    @Test("there is one such slot: another code takes its place, and the first code opens nothing any more")
    func replaced() throws {
        let home = try home()
        let first = RecoveryCode.random()
        let second = RecoveryCode.random()
        let before = try share(first, with: home)
        let after = try share(second, with: home)
        #expect(after.id == before.id && after != before)
        let file = try VaultFile.open(home.vault, device: home.device())
        #expect(file.slots.count { $0.kind == .sharedRecovery } == 1)
        #expect(throws: VaultError.cannotUnlock) { _ = try unlock(file, first) }
        #expect(try unlock(file, second).value("a:b", "x") == "1")
        // A login may be wiped, and this slot is there then.
        let login = NewSlot(login: Random.bytes(16), key: .random())
        _ = try home.unlock().addSlot(login)
        for id in [2, 1] as [UInt32] { _ = try unlock(VaultFile.open(home.vault, device: home.device()), second).removeSlot(id) }
        #expect(throws: VaultError.onlyLoginSlots) {
            _ = try unlock(VaultFile.open(home.vault, device: home.device()), second).removeSlot(3)
        }
    }

    @Test("a whole and a portable backup open with the code, and so does what is restored, here and on another device")
    func backups() throws {
        let home = try home()
        let code = RecoveryCode.random()
        let slot = try share(code, with: home)
        _ = try home.unlock().removeSlot(2)
        for isPortable in [false, true] {
            let path = "\(home.root)/\(isPortable).omvb"
            _ = try home.unlock().backUp(to: path, portable: isPortable)
            let backup = try BackupFile.open(path)
            let other = try Home()
            let key = try #require(backup.slots.last).key(stretching: code.secret)
            let new = try NewSlot(password: Password(secret("pass word")), .floor)
            let report = try backup.unlock(backup.slots[1], with: key, device: other.device())
                .restore(to: other.vault, device: other.device(), password: new)
            let shared = try #require(report.slots.first { $0.kind == .sharedRecovery })
            #expect(shared.id == slot.id && shared.created == slot.created && shared.recoveryKey == slot.recoveryKey)
            for device in [try other.device(), nil] {
                #expect(try unlock(VaultFile.open(other.vault, device: device), code).value("a:b", "x") == "1")
            }
        }
        let here = home.root + "/here.omv"
        let backup = try BackupFile.open(home.root + "/false.omvb")
        _ = try backup.unlock(backup.slots[1], with: backup.slots[1].key(stretching: code.secret), device: home.device())
            .restore(to: here, device: home.device(), replacesLiving: true)
        #expect(try unlock(VaultFile.open(here, device: home.device()), code).value("a:b", "x") == "1")
    }

    @Test("a vault and a backup of format 1 with such a slot are refused")
    func firstFormat() throws {
        let home = try home()
        _ = try share(.random(), with: home)
        let path = home.root + "/b.omvb"
        _ = try home.unlock().backUp(to: path, portable: false)
        var stream = try Stream([UInt8](Data(contentsOf: URL(filePath: path))))
        stream.head[4] = UInt8(ascii: "1")
        for isWithSlot in [true, false] {
            if !isWithSlot { stream.parts.removeAll { $0.type == 2 && $0.body[1] == KeySlot.Kind.sharedRecovery.rawValue } }
            try Data(stream.bytes).write(to: URL(filePath: path))
            let isRefused = (try? BackupFile.open(path)) == nil
            #expect(isRefused == isWithSlot)
        }
        try home.tamper("DROP TABLE chunks", "PRAGMA user_version = 1")
        #expect(throws: VaultError.corrupt(.slot)) { _ = try VaultFile.open(home.vault, device: home.device()) }
    }

    @Test("a key with which every shared secret is zero makes no slot, and a slot with one opens nothing")
    func lowOrder() throws {
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(throws: VaultError.corrupt(.slot)) { _ = try NewSlot(recoveryKey: zeros) }
        let scope = SlotScope.somewhere()
        let code = RecoveryCode.random()
        var bytes = KeySlot(
            try NewSlot(recoveryKey: wrappingKey(code, scope.vault)), id: 1, created: 0, root: .random(), in: scope,
            device: DeviceKey(.random())
        ).encoded
        bytes.replaceSubrange(58..<90, with: zeros)
        let slot = try KeySlot(decoding: bytes, in: scope)
        #expect(throws: VaultError.cannotUnlock) { _ = try slot.key(stretching: code.secret) }
    }
}
