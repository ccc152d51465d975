// The parts of a backup's stream. Format: docs/formats/backup-format.md, "The stream".

internal import OMRecords
internal import OMSecrets

/// One part of a backup, in the order of the stream.
enum BackupPart {
    case header([UInt8])
    case slot(KeySlot)
    case level(ProtectionLevel, state: [UInt8])
    case branch(TreeBranch)
    /// The entry's key.
    case entry([UInt8])
    case record(Record, bytes: [UInt8])
    case chunk(ValueChunk, bytes: [UInt8])
    /// A sealed name.
    case name([UInt8])

    /// The first bytes of a backup of a vault of this format.
    static func magic(format: UInt32) -> [UInt8] { Array("OMVB\(format)".utf8) }
    /// - Returns: nil if these are not the first bytes of a backup.
    static func format(_ head: [UInt8]) -> UInt32? { [1, 2].first { head.starts(with: magic(format: $0)) } }
    static let headCount = 5 + 1 + 8
    static let chunkType: UInt8 = 8
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
        case .chunk: Self.chunkType
        }
    }

    /// The possible lengths of a body of that type. Nil for an unknown type.
    static func lengths(_ type: UInt8) -> ClosedRange<Int>? {
        switch type {
        case 1: VaultHeader.count...VaultHeader.count
        case 2: KeySlot.count...KeySlot.maximumCount
        case 3: 1 + LevelState.boxCount...1 + LevelState.boxCount
        case 4: 1 + TreeBranch.digestsCount...1 + TreeBranch.maximumPrefix + TreeBranch.digestsCount
        case 5: 16...16
        case 6: Record.Header.count...ItemContent.maximumFirstCount
        case 7: BackupName.boxCount...BackupName.boxCount
        case chunkType: ValueChunk.Header.count...ValueChunk.maximumStoredCount
        case endType: endCount...endCount
        default: nil
        }
    }

    var body: [UInt8] {
        switch self {
        case .header(let bytes), .entry(let bytes), .record(_, let bytes), .chunk(_, let bytes), .name(let bytes): bytes
        case .slot(let slot): slot.encoded
        case .level(let level, let state): [level.code] + state
        case .branch(let branch): [UInt8(branch.prefix.count)] + branch.prefix + branch.digests
        }
    }
}
