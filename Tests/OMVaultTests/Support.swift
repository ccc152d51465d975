import Foundation
import OMRecords
import OMSecrets
import OMStorage
import TestSupport

@testable import OMItems
@testable import OMVault

/// A home with one vault in it, stretched at the floor.
final class Home {
    private let folder: TestFolder
    var root: String { folder.path }
    var vault: String { root + "/data/a.omv" }
    var deviceFolder: String { root + "/device" }

    init() throws { folder = try TestFolder(containing: ["data"]) }

    func device() throws -> DeviceFolder { try DeviceFolder.make(deviceFolder) }

    /// Makes the vault, and gives its recovery code to `keep`.
    func create(keep: (borrowing RecoveryCode) -> Void = { _ in }) throws {
        let code = RecoveryCode.random()
        keep(code)
        try VaultFile.create(
            vault, device: device(), policy: VaultPolicy(defaultLevel: .whenUnlocked, stretch: .floor),
            slots: [try NewSlot(password: Password(secret("pass word")), .floor), try NewSlot(recovery: code, .floor)])
    }

    func unlock(_ password: String = "pass word", slot: Int = 0, acceptsRollback: Bool = false) throws -> Vault {
        let file = try VaultFile.open(vault, device: device(), acceptsRollback: acceptsRollback)
        let slot = file.slots[slot]
        return try file.unlock(slot, with: try slot.key(stretching: secret(password)))
    }

    func add(_ name: String, _ fields: [String: String], level: ProtectionLevel? = nil) throws {
        try unlock().edit { edit throws(VaultError) in
            try edit.add(ItemName(name), level: level) { draft throws(VaultError) in
                for (field, value) in fields { try draft.put(secret(value), at: FieldName(field)) }
            }
        }
    }

    /// The class keys, and the vault opened with them as in the agent. This is no unlock, so the log gets no entry.
    func classKeys() throws -> ClassKeys { try unlock().classKeys() }

    func open(_ keys: ClassKeys) throws -> Vault { try VaultFile.open(vault, device: device()).open(with: keys) }

    func get(_ name: String, _ field: String) throws -> String { try unlock().value(name, field) }

    /// Changes the file without the vault.
    func tamper(_ statements: String...) throws {
        let database = try VaultSchema.open(vault)
        for statement in statements { try database.execute(statement) }
    }

    /// Keeps a copy of the vault's files, or puts it back.
    func save(_ name: String) throws {
        let database = try VaultSchema.open(vault)
        _ = try database.truncateLog()
        try? FileManager.default.removeItem(atPath: root + "/" + name)
        try FileManager.default.copyItem(atPath: vault, toPath: root + "/" + name)
    }

    func putBack(_ name: String) throws {
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: vault + end) }
        try FileManager.default.copyItem(atPath: root + "/" + name, toPath: vault)
    }
}

extension Vault {
    func value(_ name: String, _ field: String) throws -> String {
        try secret(FieldPath(ItemName(name), FieldName(field))).withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }
}

extension SlotScope {
    /// That of a vault on a device that no test looks at.
    static func somewhere(_ vault: [UInt8] = Random.bytes(16)) -> SlotScope {
        SlotScope(vault: vault, device: [UInt8](repeating: 0, count: 32), epoch: 1)
    }
}

extension KeySlot {
    /// A slot whose place no test looks at.
    init(decoding bytes: [UInt8]) throws(VaultError) { try self.init(decoding: bytes, in: .somewhere()) }
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }
