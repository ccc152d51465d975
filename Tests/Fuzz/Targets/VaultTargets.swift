// A vault's file, its rows, its records and its backups, as an attacker could leave them. The files are in memory, so that
// a run measures the reader and not the disk.

import OMRecords
import OMSecrets
import OMStorage

@testable import OMItems
@testable import OMVault

enum VaultTargets {
    static let all = [
        // A whole SQLite file on another device. Seeds are vaults, so libFuzzer changes pages, rows and the schema.
        FuzzTarget(name: "vault-file", seeds: { VaultTemplate.seeds(of: "vault-file") }) { bytes in
            ScratchFolder.run { folder in
                let path = folder + "/v.omv"
                ScratchFolder.write(bytes, to: path)
                read(path, nil, acceptsRollback: true)
            }
        },
        // One row of an otherwise whole vault, on its own device: table, row, kind of value
        // (plus 128 to change the vault after it), bytes.
        FuzzTarget(name: "vault-rows", seeds: { VaultTemplate.seeds(of: "vault-rows") }) { bytes in
            guard bytes.count >= 3, let template = VaultTemplate.shared else { return }
            ScratchFolder.run { folder in
                let path = template.copy(to: folder)
                replace(path, bytes)
                guard let device = try? DeviceFolder(folder + "/device") else { return }
                if bytes[2] < 128 { read(path, device, acceptsRollback: false) } else { change(path, device) }
            }
        },
        FuzzTarget(name: "record", seeds: { VaultTemplate.seeds(of: "record") }) { bytes in
            guard let record = try? Record(decoding: bytes) else { return }
            precondition(record.stored == bytes, "a record is written as it was read")
        },
        // A backup without its end. The target adds the right end, under the key too, so that digest and seal do not stop the
        // change, and restores it.
        FuzzTarget(name: "backup", seeds: { VaultTemplate.seeds(of: "backup") }) { bytes in
            guard let root = root(of: bytes), let (digest, vault) = digest(bytes) else { return }
            let seal = BackupKeys(root, vault: vault).seal(digest)
            guard let file = try? BackupFile.read(StreamInMemory(bytes, digest, seal)),
                let slot = file.slots.first(where: { $0.kind == .keyFile }),
                let open = try? file.unlock(slot, with: VaultTemplate.keyFile().key(), device: nil)
            else { return }
            ScratchFolder.run { folder in
                guard let device = try? DeviceFolder.make(folder + "/device") else { return }
                _ = try? open.restore(to: folder + "/v.omv", device: device, acceptsRollback: true)
            }
        },
    ]

    // MARK: - A vault

    /// All reads, as far as they succeed.
    private static func read(_ path: String, _ device: DeviceFolder?, acceptsRollback: Bool) {
        guard let file = try? VaultFile.open(path, device: device, acceptsRollback: acceptsRollback) else { return }
        _ = try? file.auditReport()
        _ = try? file.openAlways().items()
        guard let slot = file.slots.first(where: { $0.kind == .keyFile }),
            let vault = try? file.unlock(slot, with: VaultTemplate.keyFile().key())
        else { return }
        _ = try? vault.verify(deep: true)
        _ = try? vault.perform(.names(trashed: true))
        // All items use the same code, so one item keeps the run short.
        for item in ((try? vault.items()) ?? []).suffix(1) {
            _ = try? vault.history(item.name)
            _ = try? vault.perform(.compare(item.name, old: 1, new: 2))
            for field in item.fields { _ = try? vault.secret(FieldPath(item.name, field.name)) }
        }
    }

    /// All writes. Damage is refused, or stays unchanged.
    private static func change(_ path: String, _ device: DeviceFolder) {
        guard let file = try? VaultFile.open(path, device: device),
            let slot = file.slots.first(where: { $0.kind == .keyFile }),
            let vault = try? file.unlock(slot, with: VaultTemplate.keyFile().key()),
            let item = try? VaultTemplate.name(.whenUnlocked), let other = try? ItemName("another")
        else { return }
        var values = FieldValues()
        guard (try? values.put(SecretBytes(copying: [9]), at: VaultTemplate.field())) != nil else { return }
        _ = try? vault.perform(.update(item, ItemChange(set: values), ifRevision: nil))
        _ = try? vault.perform(.setLevel(item, .highest, ifRevision: nil))
        if let copy = try? ItemName("copy"), let renamed = try? ItemName("renamed") {
            _ = try? vault.perform(.copy([NewName(item, copy)], level: .whenUnlocked, ifRevision: nil))
            _ = try? vault.perform(.rename([NewName(copy, renamed)], ifRevision: nil))
        }
        _ = try? vault.perform(.purgeTrash(nil))
        var again = FieldValues()
        guard (try? again.put(SecretBytes(copying: [9]), at: VaultTemplate.field())) != nil else { return }
        _ = try? vault.perform(.add(other, level: nil, ItemChange(set: again)))
    }

    private static let columns: [(table: String, column: String)] = [
        ("header", "body"), ("slots", "body"), ("slots", "id"), ("levels", "state"), ("levels", "level"),
        ("records", "body"), ("records", "previous"), ("records", "id"), ("entries", "key"), ("entries", "digest"),
        ("entries", "record"), ("entries", "level"), ("branches", "digests"), ("branches", "prefix"), ("log", "body"),
        ("log", "id"), ("pending", "id"),
    ]

    private static func replace(_ path: String, _ bytes: [UInt8]) {
        let (table, column) = columns[Int(bytes[0]) % columns.count]
        guard let database = try? VaultSchema.open(path) else { return }
        RowChange(table: table, column: column, row: bytes[1], kind: bytes[2] & 127, bytes: Array(bytes.dropFirst(3)))
            .make(in: database)
    }

    // MARK: - A backup

    private static func digest(_ bytes: [UInt8]) -> (digest: [UInt8], vault: [UInt8])? {
        let hash = BLAKE2b(count: 32)
        hash.update(bytes.span)
        let digest = hash.digest()
        let zeros = [UInt8](repeating: 0, count: MAC.count)
        guard let file = try? BackupFile.read(StreamInMemory(bytes, digest, zeros)) else { return nil }
        _ = file.summary
        return (digest, file.header.id)
    }

    private static func root(of bytes: [UInt8]) -> Key<Deriving>? {
        let hash = BLAKE2b(count: 32)
        hash.update(bytes.span)
        let zeros = [UInt8](repeating: 0, count: MAC.count)
        guard let file = try? BackupFile.read(StreamInMemory(bytes, hash.digest(), zeros)),
            let slot = file.slots.first(where: { $0.kind == .keyFile })
        else { return nil }
        return try? slot.unwrap(with: VaultTemplate.keyFile().key(), device: nil)
    }
}

/// A backup's parts and an end that fits them.
private final class StreamInMemory: BackupSource {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ parts: [UInt8], _ digest: [UInt8], _ seal: [UInt8]) {
        bytes = parts + [BackupPart.endType, 0, 0, 0, UInt8(BackupPart.endCount)] + seal + PublicHash.hash(digest + seal)
    }

    func read(_ count: Int) throws(VaultError) -> [UInt8] {
        let piece = bytes[offset..<min(bytes.count, offset + count)]
        offset += piece.count
        return Array(piece)
    }

    func rewind() throws(VaultError) { offset = 0 }
}
