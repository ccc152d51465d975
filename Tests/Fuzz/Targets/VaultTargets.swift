// A vault's file, its records and its backups, as an attacker could leave them. The files stand in memory.

internal import Glibc
import OMRecords
import OMSecrets
import OMStorage
@testable import OMVault

enum VaultTargets {
    static let all = [
        // A whole SQLite file: seeds are vaults, so what libFuzzer changes is pages, rows and the schema.
        FuzzTarget(name: "vault-file") { bytes in
            inFolder { folder in
                let path = folder + "/v.omv"
                write(bytes, to: path)
                open(path, nil)
            }
        },
        // Rows of a vault that is otherwise whole: the bytes replace one blob of it.
        FuzzTarget(name: "vault-rows") { bytes in
            guard let template, let first = bytes.first else { return }
            inFolder { folder in
                let path = folder + "/v.omv"
                write(template.bytes, to: path)
                let rows = [
                    ("header", "body"), ("slots", "body"), ("levels", "state"), ("records", "body"),
                    ("entries", "key"), ("entries", "digest"), ("branches", "digests"), ("log", "body"),
                ]
                let (table, column) = rows[Int(first) % rows.count]
                let blob = Hex.encode(Array(bytes.dropFirst()))
                replace(path, "UPDATE \(table) SET \(column) = x'\(blob)'")
                open(path, template.device)
            }
        },
        FuzzTarget(name: "record") { bytes in
            guard let record = try? Record(decoding: bytes) else { return }
            precondition(record.stored == bytes, "a record is written as it was read")
        },
        FuzzTarget(name: "backup") { bytes in
            inFolder { folder in
                write(bytes, to: folder + "/b")
                guard let backup = try? BackupFile.open(folder + "/b") else { return }
                _ = backup.summary
            }
        },
    ]

    private static let policy = VaultPolicy(defaultLevel: .whenUnlocked)
    private static let keyFile = VaultKeyFile.random()

    /// A vault with one item and its device, made once.
    private static let template: (device: DeviceFolder, bytes: [UInt8])? = {
        let folder = "/dev/shm/omvault-fuzz-\(getpid())-template"
        let path = folder + "/v.omv"
        do {
            let device = try DeviceFolder.make(folder + "/device")
            try VaultFile.create(path, device: device, policy: policy, slots: [NewSlot(keyFile: keyFile)])
            let made = try VaultFile.open(path, device: device)
            try made.unlock(made.slots[0], with: keyFile.key()).edit { edit throws(VaultError) in
                try edit.add(ItemName("a"), level: nil) { draft throws(VaultError) in
                    try draft.put(SecretBytes(copying: [1, 2, 3]), at: FieldName("x"))
                }
            }
            var file = try StreamFile.open(path)
            return (device, try file.read(file.count))
        } catch { return nil }
    }()

    /// Everything that reads, as far as it goes.
    private static func open(_ path: String, _ device: DeviceFolder?) {
        guard let file = try? VaultFile.open(path, device: device, acceptsRollback: true) else { return }
        _ = try? file.auditTrail()
        _ = try? file.openAlways().items()
        guard let slot = file.slots.first, let vault = try? file.unlock(slot, with: keyFile.key()) else { return }
        _ = try? vault.items()
    }

    private static func replace(_ path: String, _ sql: String) {
        guard let database = try? Database.open(path, VaultSchema.schema) else { return }
        try? database.execute(sql)
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        defer { close(descriptor) }
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    /// In memory, so that a run is a run of the parser and not of the disk.
    private static func inFolder(_ body: (String) -> Void) {
        let folder = "/dev/shm/omvault-fuzz-\(getpid())"
        _ = Glibc.mkdir(folder, 0o700)
        body(folder)
        remove(folder)
    }

    private static func remove(_ folder: String) {
        guard let stream = opendir(folder) else { return }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name == "." || name == ".." { continue }
            if unlink("\(folder)/\(name)") != 0 { remove("\(folder)/\(name)") }
        }
        closedir(stream)
        rmdir(folder)
    }
}
