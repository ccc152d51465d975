// The sealed state of a level. Format: docs/formats/vault-format.md, "Level state".

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// A level's generation and the root of its tree.
struct LevelState: Hashable {
    static let boxCount = SealedBox.overhead + 40

    let generation: UInt64
    let root: [UInt8]

    var mark: HighWaterMark { HighWaterMark(generation: generation, digest: root) }

    func sealed(_ level: ProtectionLevel, _ keys: LevelKeys, vault: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: generation)
        let plain = SecretBytes(copying: bytes + root)
        return AEAD.seal(plain, using: keys.state, context: Self.context(level, vault)).bytes
    }

    /// The sealed states in the file.
    static func boxes(in database: borrowing Database) throws(VaultError) -> [(ProtectionLevel, [UInt8])] {
        let rows: [(Int64, [UInt8])] = try storing { () throws(StorageError) in
            var find = try database.prepare(VaultSchema.findStates)
            var rows: [(Int64, [UInt8])] = []
            while try find.step() { rows.append((find.number(0), find.bytes(1))) }
            return rows
        }
        return try rows.map { row throws(VaultError) in
            guard let code = UInt8(exactly: row.0), let level = ProtectionLevel(code: code) else {
                throw .corrupt(.level)
            }
            return (level, row.1)
        }
    }

    init(generation: UInt64, root: [UInt8]) { (self.generation, self.root) = (generation, root) }

    init(opening box: [UInt8], _ level: ProtectionLevel, _ keys: LevelKeys, vault: [UInt8]) throws(VaultError) {
        self = try authentic(.level) { () throws -> LevelState in
            let plain = try AEAD.open(
                SealedBox(stored: box), using: keys.state, context: Self.context(level, vault))
            return try plain.withBytes { bytes throws(MalformedBytes) in
                var cursor = ByteCursor()
                let generation: UInt64 = try cursor.number(in: bytes)
                let root = try cursor.take(32, in: bytes)
                try cursor.end(in: bytes)
                guard generation < UInt64(Int64.max) else { throw MalformedBytes() }
                return LevelState(generation: generation, root: root)
            }
        }
    }

    private static func context(_ level: ProtectionLevel, _ vault: [UInt8]) -> Context {
        Context(.levelState, .bytes(vault), .number(UInt64(level.code)))
    }
}
