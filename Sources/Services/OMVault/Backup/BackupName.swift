internal import OMItems
internal import OMRecords
internal import OMSecrets

/// The sealed name of a device-only item. A user who restores the backup on another device learns from it what is lost.
struct BackupName {
    static let contentCount = 257
    static let boxCount = contentCount + SealedBox.overhead

    let name: ItemName
    let isTrashed: Bool

    func sealed(_ level: ProtectionLevel, _ entry: [UInt8], _ key: borrowing Key<Sealing>, vault: [UInt8]) -> [UInt8] {
        let head = [isTrashed ? 1 : 0, UInt8(name.bytes.count)] + name.bytes
        let plain = SecretBytes(copying: head + [UInt8](repeating: 0, count: Self.contentCount - head.count))
        return AEAD.seal(plain, using: key, context: Self.context(level, entry, vault)).bytes
    }

    init(_ name: ItemName, isTrashed: Bool) { (self.name, self.isTrashed) = (name, isTrashed) }

    init(
        opening box: [UInt8], _ level: ProtectionLevel, _ entry: [UInt8], _ key: borrowing Key<Sealing>,
        vault: [UInt8]
    ) throws(VaultError) {
        let plain: SecretBytes = try authentic(.backup) { () throws(SecretsError) in
            try AEAD.open(SealedBox(stored: box), using: key, context: Self.context(level, entry, vault))
        }
        self = try plain.withBytes { bytes throws(VaultError) in
            try authentic(.backup) { () throws -> BackupName in
                var cursor = ByteCursor()
                let state: UInt8 = try cursor.number(in: bytes)
                let name = try ItemName(cursor.text(Int(try cursor.number(UInt8.self, in: bytes)), in: bytes))
                guard state <= 1, try cursor.take(bytes.count - cursor.offset, in: bytes).allSatisfy({ $0 == 0 })
                else { throw MalformedBytes() }
                return BackupName(name, isTrashed: state == 1)
            }
        }
    }

    private static func context(_ level: ProtectionLevel, _ entry: [UInt8], _ vault: [UInt8]) -> Context {
        Context(.backupName, .bytes(vault), .number(UInt64(level.code)), .bytes(entry))
    }
}
