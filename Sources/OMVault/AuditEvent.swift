// What the audit log tells: events of a vault's life, in ids and numbers. Format: docs/vault-format.md, "Audit log".

public import OMRecords
internal import OMSecrets

/// Something that happened to a vault. No case can hold a name, a value or a password.
public enum AuditEvent: Hashable, Sendable {
    case vaultCreated
    /// The time is the backup's own.
    case vaultRestored(takenAt: Int64)
    case backupTaken(portable: Bool)

    case itemAdded(ItemTrace)
    case itemChanged(ItemTrace)
    case itemTrashed(ItemTrace)
    case itemRestored(ItemTrace)
    case itemPurged(ItemTrace)
    case levelChanged(ItemTrace, from: ProtectionLevel)
    /// In the place of more than ``AuditLog/singleEvents`` events of items in one change.
    case manyItems(added: UInt32, changed: UInt32, purged: UInt32)

    case unlocked(slot: UInt32)
    case wrongSecret(slot: UInt32)
    case rollbackAccepted

    case slotAdded(id: UInt32, KeySlot.Kind)
    case slotChanged(id: UInt32, KeySlot.Kind)
    case slotRemoved(id: UInt32, KeySlot.Kind)
    /// The policy block as it stands in the header.
    case policyChanged([UInt8])
    case rekeyed(epoch: UInt32)

    /// Rows that were not this device's stood behind the log's end, from this sequence on, and were deleted.
    case strayRows(first: UInt64)

    /// Which version of which item.
    public struct ItemTrace: Hashable, Sendable {
        /// 16 bytes.
        public let id: [UInt8]
        public let level: ProtectionLevel
        public let revision: UInt64

        public init(id: [UInt8], level: ProtectionLevel, revision: UInt64) {
            precondition(id.count == 16, "an item id has 16 bytes")
            (self.id, self.level, self.revision) = (id, level, revision)
        }

        init(_ header: Record.Header) {
            self.init(id: header.id, level: header.level, revision: header.revision)
        }
    }
}

// MARK: - Bytes

extension AuditEvent {
    var kind: UInt8 {
        switch self {
        case .vaultCreated: 1
        case .vaultRestored: 2
        case .backupTaken: 3
        case .itemAdded: 16
        case .itemChanged: 17
        case .itemTrashed: 18
        case .itemRestored: 19
        case .itemPurged: 20
        case .levelChanged: 21
        case .manyItems: 22
        case .unlocked: 32
        case .wrongSecret: 33
        case .rollbackAccepted: 34
        case .slotAdded: 48
        case .slotChanged: 49
        case .slotRemoved: 50
        case .policyChanged: 51
        case .rekeyed: 52
        case .strayRows: 64
        }
    }

    var detail: [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .vaultCreated, .rollbackAccepted: break
        case .vaultRestored(let time): bytes.append(number: time)
        case .backupTaken(let isPortable): bytes.append(isPortable ? 2 : 1)
        case .itemAdded(let item), .itemChanged(let item), .itemTrashed(let item), .itemRestored(let item),
            .itemPurged(let item):
            bytes = item.bytes
        case .levelChanged(let item, let former): bytes = item.bytes + [former.code]
        case .manyItems(let added, let changed, let purged):
            for count in [added, changed, purged] { bytes.append(number: count) }
        case .unlocked(let slot), .wrongSecret(let slot): bytes.append(number: slot)
        case .slotAdded(let id, let kind), .slotChanged(let id, let kind), .slotRemoved(let id, let kind):
            bytes.append(number: id)
            bytes.append(kind.rawValue)
        case .policyChanged(let policy): bytes = policy
        case .rekeyed(let epoch): bytes.append(number: epoch)
        case .strayRows(let first): bytes.append(number: first)
        }
        return bytes
    }

    init(kind: UInt8, detail: [UInt8]) throws(MalformedBytes) {
        let span = detail.span
        var cursor = ByteCursor()
        switch kind {
        case 1: self = .vaultCreated
        case 2: self = .vaultRestored(takenAt: try cursor.number(in: span))
        case 3:
            let kind: UInt8 = try cursor.number(in: span)
            guard kind == 1 || kind == 2 else { throw MalformedBytes() }
            self = .backupTaken(portable: kind == 2)
        case 16: self = .itemAdded(try ItemTrace(&cursor, span))
        case 17: self = .itemChanged(try ItemTrace(&cursor, span))
        case 18: self = .itemTrashed(try ItemTrace(&cursor, span))
        case 19: self = .itemRestored(try ItemTrace(&cursor, span))
        case 20: self = .itemPurged(try ItemTrace(&cursor, span))
        case 21: self = .levelChanged(try ItemTrace(&cursor, span), from: try Self.level(&cursor, span))
        case 22:
            self = .manyItems(
                added: try cursor.number(in: span), changed: try cursor.number(in: span),
                purged: try cursor.number(in: span))
        case 32: self = .unlocked(slot: try cursor.number(in: span))
        case 33: self = .wrongSecret(slot: try cursor.number(in: span))
        case 34: self = .rollbackAccepted
        case 48: self = .slotAdded(id: try cursor.number(in: span), try Self.slotKind(&cursor, span))
        case 49: self = .slotChanged(id: try cursor.number(in: span), try Self.slotKind(&cursor, span))
        case 50: self = .slotRemoved(id: try cursor.number(in: span), try Self.slotKind(&cursor, span))
        case 51: self = .policyChanged(try cursor.take(VaultPolicy.count, in: span))
        case 52: self = .rekeyed(epoch: try cursor.number(in: span))
        case 64: self = .strayRows(first: try cursor.number(in: span))
        default: throw MalformedBytes()
        }
        try cursor.end(in: span)
    }

    fileprivate static func level(
        _ cursor: inout ByteCursor, _ span: Span<UInt8>
    ) throws(MalformedBytes) -> ProtectionLevel {
        guard let level = ProtectionLevel(code: try cursor.number(in: span)) else { throw MalformedBytes() }
        return level
    }

    private static func slotKind(
        _ cursor: inout ByteCursor, _ span: Span<UInt8>
    ) throws(MalformedBytes) -> KeySlot.Kind {
        guard let kind = KeySlot.Kind(rawValue: try cursor.number(in: span)) else { throw MalformedBytes() }
        return kind
    }
}

extension AuditEvent.ItemTrace {
    /// id (16) ‖ level (1) ‖ revision (8)
    fileprivate var bytes: [UInt8] {
        var bytes = id + [level.code]
        bytes.append(number: revision)
        return bytes
    }

    fileprivate init(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) {
        self.init(
            id: try cursor.take(16, in: span), level: try AuditEvent.level(&cursor, span),
            revision: try cursor.number(in: span))
    }
}
