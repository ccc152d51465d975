// The writer of a restored vault's rows. Format: docs/formats/backup-format.md, "Restoring one".

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// Writes the rows of a new vault while it reads the backup's parts.
final class RestoreWriter {
    private(set) var lost: [LostItem] = []
    private let plan: RestorePlan
    private let keys: BackupKeys
    private var level: ProtectionLevel?
    /// The key of the entry that the records belong to.
    private var key: [UInt8] = []
    private var isNewest = false
    /// The last row that was written.
    private var row: Int64 = 0
    /// A record that is written with the next part, which shows whether an older version follows.
    private var waiting: [UInt8]?

    init(_ plan: RestorePlan, _ keys: consuming BackupKeys) {
        self.plan = plan
        self.keys = keys
    }

    func write(_ file: BackupFile, into database: borrowing Database) throws(VaultError) {
        try writeHead(database)
        try file.stream.rewind()
        var reader = try BackupReader(file.stream.read)
        while let part = try reader.next() { try add(part, database) }
        try storeRow(followedByOlder: false, database)
        let end = try reader.finish()
        // Attack: an attacker replaces the file after it was checked. So seal and digest are checked for these bytes too.
        try keys.check(end.seal, of: end.digest)
        guard end.digest == file.end.digest else { throw .corrupt(.backup) }
    }

    private func add(_ part: BackupPart, _ database: borrowing Database) throws(VaultError) {
        let isRecord = if case .record = part { true } else { false }
        try storeRow(followedByOlder: isRecord, database)
        switch part {
        case .header, .slot: break
        case .level(let level, _): self.level = level
        case .entry(let key): (self.key, isNewest) = (key, true)
        case .name(let box):
            guard let level, !plan.restored.contains(level) else { break }
            let name = try BackupName(opening: box, level, key, keys.name, vault: plan.header.id)
            lost.append(LostItem(name: name.name, level: level, isTrashed: name.isTrashed))
        case .branch(let branch):
            guard let level, plan.restored.contains(level) else { break }
            try run(VaultSchema.saveBranch, database) { (save) throws(StorageError) in
                try save.bind(1, Int64(level.code))
                try save.bind(2, branch.prefix)
                try save.bind(3, branch.digests)
            }
        case .chunk(let chunk, let bytes):
            guard let level, plan.restored.contains(level) else { break }
            try run(VaultSchema.addChunk, database) { (add) throws(StorageError) in
                try add.bind(1, ValueChunk.row(chunk.header.id))
                try add.bind(2, bytes)
            }
        case .record(_, let bytes):
            guard let level, plan.restored.contains(level) else { break }
            waiting = bytes
            if isNewest { try addEntry(level, PublicHash.hash(bytes), database) }
            isNewest = false
        }
    }

    /// The newest record of an entry comes first, and gets the next row.
    private func addEntry(
        _ level: ProtectionLevel, _ digest: [UInt8], _ database: borrowing Database
    ) throws(VaultError) {
        let (key, next) = (key, row + 1)
        try run(VaultSchema.saveEntry, database) { (save) throws(StorageError) in
            try save.bind(1, Int64(level.code))
            try save.bind(2, key)
            try save.bind(3, digest)
            try save.bind(4, next)
        }
    }

    private func storeRow(followedByOlder: Bool, _ database: borrowing Database) throws(VaultError) {
        guard let waiting else { return }
        self.waiting = nil
        row += 1
        let row = row
        try run(VaultSchema.placeRecord, database) { (add) throws(StorageError) in
            try add.bind(1, row)
            try add.bind(2, waiting)
            if followedByOlder { try add.bind(3, row + 1) }
        }
    }

    private func writeHead(_ database: borrowing Database) throws(VaultError) {
        let plan = plan
        try run(VaultSchema.addHeader, database) { (add) throws(StorageError) in try add.bind(1, plan.header.encoded) }
        for slot in plan.header.slots {
            try run(VaultSchema.addSlot, database) { (add) throws(StorageError) in
                try add.bind(1, Int64(slot.id))
                try add.bind(2, slot.encoded)
            }
        }
        for level in ProtectionLevel.allCases {
            guard let state = plan.states[level], let keys = plan.keys[level] else { throw .corrupt(.level) }
            try run(VaultSchema.saveState, database) { (save) throws(StorageError) in
                try save.bind(1, Int64(level.code))
                try save.bind(2, state.sealed(level, keys, vault: plan.header.id))
            }
        }
    }

    private func run(
        _ sql: String, _ database: borrowing Database, _ bind: (inout Statement) throws(StorageError) -> Void
    ) throws(VaultError) {
        try storing { () throws(StorageError) in
            var statement = try database.prepare(sql)
            try bind(&statement)
            _ = try statement.step()
        }
    }
}
