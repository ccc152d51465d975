// A whole vault under a key file that never changes, so that every seed made from it opens in every run.

import Glibc
import OMRecords
import OMSecrets
import OMStorage
import OMSystem

@testable import OMItems
@testable import OMVault

/// A vault with an item of each level, two versions of one item, one item in the trash, and its device.
struct VaultTemplate: Sendable {
    static let shared = VaultTemplate()

    private let files: [(name: String, bytes: [UInt8])]
    /// Its backups, whole and portable, without their ends.
    private let backups: [[UInt8]]
    /// The sealed contents of the records.
    private let contents: [[UInt8]]
    private let records: [[UInt8]]
    private let parts: [[UInt8]]

    static func field() throws(VaultError) -> FieldName { try FieldName("x") }
    static func name(_ level: ProtectionLevel) throws(VaultError) -> ItemName { try ItemName("item \(level.code)") }

    /// Every byte of its secret is 7.
    static func keyFile() -> VaultKeyFile {
        let secret = SecretBytes(copying: [UInt8](repeating: 7, count: 32))
        let sum = PublicHash.hash(of: secret, context: Context(.keyFileChecksum)).prefix(4)
        let text = "omvault-key-1-" + String(repeating: "07", count: 32) + "-" + Hex.encode(Array(sum)) + "\n"
        guard let file = try? VaultKeyFile(text: SecretBytes(copying: Array(text.utf8))) else {
            preconditionFailure("the text of a key file")
        }
        return file
    }

    private init?() {
        let folder = ScratchFolder.path + "-template"
        defer { ScratchFolder.remove(folder) }
        guard mkdir(folder, 0o700) == 0, let vault = try? Self.make(folder) else { return nil }
        do throws(VaultError) {
            backups = try [false, true].map { isPortable throws(VaultError) in
                let path = "\(folder)/backup-\(isPortable)"
                _ = try vault.backUp(to: path, portable: isPortable)
                return Array(ScratchFolder.read(path).dropLast(5 + BackupPart.endCount))
            }
            (records, contents) = try Self.opened(vault)
            parts = Self.parts(vault.state.header)
        } catch { return nil }
        // The log's pages reach the file only with a checkpoint, which the last close makes.
        _ = consume vault
        files = ["v.omv", "device"].flatMap { Self.files(folder, $0) }
    }

    private static func make(_ folder: String) throws(VaultError) -> Vault {
        let path = folder + "/v.omv"
        let device: DeviceFolder
        do throws(StorageError) { device = try DeviceFolder.make(folder + "/device") } catch {
            throw VaultError(storage: error)
        }
        try VaultFile.create(
            path, device: device, policy: VaultPolicy(defaultLevel: .whenUnlocked), slots: [NewSlot(keyFile: keyFile())])
        let file = try VaultFile.open(path, device: device)
        let vault = try file.unlock(file.slots[0], with: keyFile().key())
        for level in ProtectionLevel.allCases { try put(1, try name(level), level, in: vault) }
        var changed = FieldValues()
        try changed.put(SecretBytes(copying: [4, 5]), at: field())
        _ = try vault.perform(.update(name(.whenUnlocked), ItemChange(set: changed), ifRevision: nil))
        let gone = try ItemName("gone")
        try put(2, gone, .whenUnlocked, in: vault)
        _ = try vault.perform(.trash([gone], ifRevision: nil))
        return vault
    }

    private static func put(
        _ byte: UInt8, _ name: ItemName, _ level: ProtectionLevel, in vault: borrowing Vault
    ) throws(VaultError) {
        var values = FieldValues()
        try values.put(SecretBytes(copying: [byte]), at: field())
        _ = try vault.perform(.add(name, level: level, ItemChange(set: values)))
    }

    private static func opened(_ vault: borrowing Vault) throws(VaultError) -> ([[UInt8]], [[UInt8]]) {
        try vault.read { snapshot throws(VaultError) in
            var (records, contents): ([[UInt8]], [[UInt8]]) = ([], [])
            for entry in try snapshot.entries(.whenUnlocked) {
                let version = try snapshot.newest(entry, .whenUnlocked)
                records.append(version.record.stored)
                contents.append(try snapshot.plaintext(version.record).withBytes { text in text.indices.map { text[$0] } })
            }
            return (records, contents)
        }
    }

    /// In the form that `vault-parts` reads: the part, and its bytes.
    private static func parts(_ header: VaultHeader) -> [[UInt8]] {
        let trace = AuditEvent.ItemVersionID(id: [UInt8](repeating: 1, count: 16), level: .highest, revision: 3)
        let events: [AuditEvent] = [
            .vaultCreated, .vaultRestored(takenAt: 1), .backupTaken(portable: true), .itemAdded(trace),
            .levelChanged(trace, from: .whenUnlocked), .manyItems(added: 1, changed: 2, purged: 3), .unlocked(slot: 1),
            .slotAdded(id: 2, .recovery), .policyChanged(header.policy.encoded), .rekeyed(epoch: 2), .strayRows(first: 4),
        ]
        let name = [0, 1, UInt8(ascii: "a")] + [UInt8](repeating: 0, count: BackupName.contentCount - 3)
        let text = keyFile().text().withBytes { text in text.indices.map { text[$0] } }
        return [[0] + header.slots[0].encoded, [1] + header.encoded, [2] + header.policy.encoded]
            + events.map { [3, $0.kind] + $0.detail } + [[5] + name, [6] + text]
            + [[7] + Array("0000-0000-0000-0000-0000-0000-0000-0000".utf8)]
    }

    // MARK: - Copies

    /// - Returns: the vault's path there.
    func copy(to folder: String) -> String {
        _ = mkdir(folder + "/device", 0o700)
        for (name, bytes) in files { ScratchFolder.write(bytes, to: "\(folder)/\(name)") }
        return folder + "/v.omv"
    }

    private static func files(_ folder: String, _ name: String) -> [(String, [UInt8])] {
        let inside = ScratchFolder.names("\(folder)/\(name)")
        return inside.isEmpty
            ? [(name, ScratchFolder.read("\(folder)/\(name)"))] : inside.flatMap { files(folder, "\(name)/\($0)") }
    }

    /// The first inputs of a target.
    static func seeds(of target: String) -> [[UInt8]] {
        guard let shared else { return [] }
        return switch target {
        case "vault-file": shared.files.filter { $0.name == "v.omv" }.map(\.bytes)
        case "vault-rows":
            shared.records.map { [5, 0, 0] + $0 } + (0..<17).flatMap { [[$0, 0, 0, 1], [$0, 0, 4, 1], [$0, 0, 132, 1]] }
        case "record": shared.records
        case "backup": shared.backups
        case "vault-content": shared.contents
        case "vault-parts": shared.parts
        default: []
        }
    }
}
