// The parts of a backup's stream, and their writer. Format: docs/backup-format.md, "The stream".

internal import OMRecords
internal import OMSecrets

/// What stands in a backup, in the order of the stream.
enum BackupPart {
    case header([UInt8])
    case slot(KeySlot)
    case level(ProtectionLevel, state: [UInt8])
    case branch(TreeBranch)
    /// The entry's key.
    case entry([UInt8])
    case record(Record, bytes: [UInt8])
    /// A sealed name.
    case name([UInt8])

    static let magic = Array("OMVB1".utf8)
    static let headCount = magic.count + 1 + 8
    static let endType: UInt8 = 9
    static let endCount = 2 * MAC.count

    var type: UInt8 {
        switch self {
        case .header: 1
        case .slot: 2
        case .level: 3
        case .branch: 4
        case .entry: 5
        case .record: 6
        case .name: 7
        }
    }

    /// How long a body of that type can be; nil for a type that there is not.
    static func lengths(_ type: UInt8) -> ClosedRange<Int>? {
        switch type {
        case 1: VaultHeader.count...VaultHeader.count
        case 2: KeySlot.count...KeySlot.count
        case 3: 1 + LevelState.boxCount...1 + LevelState.boxCount
        case 4: 1 + TreeBranch.digestsCount...1 + TreeBranch.maximumPrefix + TreeBranch.digestsCount
        case 5: 16...16
        case 6: Record.Header.count...Item.maximumCount + 1024
        case 7: BackupName.boxCount...BackupName.boxCount
        case endType: endCount...endCount
        default: nil
        }
    }

    var body: [UInt8] {
        switch self {
        case .header(let bytes), .entry(let bytes), .record(_, let bytes), .name(let bytes): bytes
        case .slot(let slot): slot.encoded
        case .level(let level, let state): [level.code] + state
        case .branch(let branch): [UInt8(branch.prefix.count)] + branch.prefix + branch.digests
        }
    }
}

/// A full node of a level's tree, as its row is.
struct TreeBranch: Hashable {
    static let digestsCount = 16 * KeyedHash.count
    static let maximumPrefix = 31

    /// One nibble a byte.
    let prefix: [UInt8]
    let digests: [UInt8]
}

/// The name of a device-only item, sealed so that whoever restores the backup elsewhere learns what is lost.
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

/// What a backup is sealed with.
struct BackupKeys: ~Copyable {
    let name: Key<Sealing>
    private let seal: Key<Authenticating>
    private let vault: [UInt8]

    init(_ root: borrowing Key<Deriving>, vault: [UInt8]) {
        name = root.derive(Context(.backupName))
        seal = root.derive(Context(.backupSeal))
        self.vault = vault
    }

    /// - Parameter digest: of all that stands before the end.
    func seal(_ digest: [UInt8]) -> [UInt8] {
        MAC.tag(of: digest, using: seal, context: Context(.backupSeal, .bytes(vault)))
    }

    /// - Throws: ``VaultError/corrupt(_:)`` when nobody with the root key wrote this backup as it is.
    func check(_ found: [UInt8], of digest: [UInt8]) throws(VaultError) {
        try authentic(.backup) { () throws(SecretsError) in
            try MAC.check(found, of: digest, using: seal, context: Context(.backupSeal, .bytes(vault)))
        }
    }
}

/// Writes parts and their end.
struct BackupWriter: ~Copyable {
    private static let pieceCount = 1 << 18

    private let isPortable: Bool
    private let hash = BLAKE2b(count: 32)
    private var piece: [UInt8] = []

    init(portable isPortable: Bool, takenAt time: Int64) {
        self.isPortable = isPortable
        piece = BackupPart.magic + [isPortable ? 2 : 1]
        piece.append(number: time)
    }

    mutating func append(
        _ part: BackupPart, _ write: ([UInt8]) throws(VaultError) -> Void
    ) throws(VaultError) {
        append(part.type, part.body)
        if piece.count >= Self.pieceCount { try flush(write) }
    }

    /// Appends a record: to a portable backup in the encoding for another device, which one that is bound to this device
    /// has not.
    mutating func append(
        _ record: Record, _ write: ([UInt8]) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard isPortable else { return try append(.record(record, bytes: record.stored), write) }
        guard let portable = PortableRecord(record) else { throw .corrupt(.record) }
        try append(.record(record, bytes: portable.encoded), write)
    }

    consuming func finish(
        _ keys: borrowing BackupKeys, _ write: ([UInt8]) throws(VaultError) -> Void
    ) throws(VaultError) {
        try flush(write)
        let digest = hash.digest()
        let seal = keys.seal(digest)
        append(BackupPart.endType, seal + PublicHash.hash(digest + seal))
        try write(piece)
    }

    private mutating func append(_ type: UInt8, _ body: [UInt8]) {
        piece.append(type)
        piece.append(number: UInt32(body.count))
        piece += body
    }

    private mutating func flush(_ write: ([UInt8]) throws(VaultError) -> Void) throws(VaultError) {
        hash.update(piece.span)
        try write(piece)
        piece.removeAll(keepingCapacity: true)
    }
}

extension BLAKE2b {
    /// The digest of everything since the start or the last one: 32 bytes.
    func digest() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var span = bytes.mutableSpan
        finish(into: &span)
        return bytes
    }
}
