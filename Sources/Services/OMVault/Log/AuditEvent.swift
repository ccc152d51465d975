// The events of the audit log, in ids and numbers. Format: docs/formats/vault-format.md, "Audit log".

public import OMRecords
internal import OMSecrets

/// An event in the life of a vault. No case can hold a name, a value or a password.
public enum AuditEvent: Hashable, Sendable {
    case vaultCreated
    /// The time is the backup's own.
    case vaultRestored(takenAt: Int64)
    case backupTaken(portable: Bool)

    case itemAdded(ItemVersionID)
    case itemChanged(ItemVersionID)
    case itemTrashed(ItemVersionID)
    case itemRestored(ItemVersionID)
    case itemPurged(ItemVersionID)
    case levelChanged(ItemVersionID, from: ProtectionLevel)
    /// Replaces the events of items if one change has more than ``AuditLog/singleEvents`` of them.
    case manyItems(added: UInt32, changed: UInt32, purged: UInt32)

    case unlocked(slot: UInt32)
    case wrongSecret(slot: UInt32)
    case rollbackAccepted
    /// More than one unlock through the same slot, or more than one wrong secret at any slots, with no event in
    /// between. It is one entry, which replaces the previous one.
    case repeated(Repetition)

    case slotAdded(id: UInt32, KeySlot.Kind)
    case slotChanged(id: UInt32, KeySlot.Kind)
    case slotRemoved(id: UInt32, KeySlot.Kind)
    /// The policy's bytes, as in the header.
    case policyChanged([UInt8])
    case rekeyed(epoch: UInt32)

    /// Rows that this device did not write came after the log's end, from this sequence on. They were deleted.
    case strayRows(first: UInt64)
    /// The file is a copy of the last file that this device wrote. This change made the copy the vault's file.
    case fileReplaced

    /// Equal events that followed each other.
    public struct Repetition: Hashable, Sendable {
        /// True for unlocks, false for wrong secrets.
        public let isUnlock: Bool
        /// The slot of the last event.
        public let slot: UInt32
        /// 2 or more.
        public let count: UInt32
        /// The time of the first event, in seconds since 1970. The entry's time is that of the last event.
        public let first: Int64
        /// The MAC of the entry that this one replaced: 32 bytes.
        let replaced: [UInt8]
    }

    /// A version of an item.
    public struct ItemVersionID: Hashable, Sendable {
        /// 16 bytes.
        public let id: [UInt8]
        public let level: ProtectionLevel
        public let revision: UInt64

        package init(id: [UInt8], level: ProtectionLevel, revision: UInt64) {
            precondition(id.count == 16, "an item id has 16 bytes")
            (self.id, self.level, self.revision) = (id, level, revision)
        }

        init(_ header: Record.Header) {
            self.init(id: header.id, level: header.level, revision: header.revision)
        }
    }
}

extension AuditEvent {
    /// The event that replaces this one if an equal event follows.
    ///
    /// - Returns: nil for events that are not counted together. An unlock counts with one through the same slot. A
    ///   wrong secret counts with any other. Otherwise an attacker could guess at two slots in turn and fill the log.
    func repeated(by next: AuditEvent, since time: Int64, replacing mac: [UInt8]) -> AuditEvent? {
        let run: (isUnlock: Bool, slot: UInt32, count: UInt32, first: Int64)
        switch self {
        case .unlocked(let slot): run = (true, slot, 1, time)
        case .wrongSecret(let slot): run = (false, slot, 1, time)
        case .repeated(let before): run = (before.isUnlock, before.slot, before.count, before.first)
        default: return nil
        }
        guard run.count < UInt32.max else { return nil }
        switch next {
        case .unlocked(let slot) where run.isUnlock && slot == run.slot:
            return .repeated(Repetition(isUnlock: true, slot: slot, count: run.count + 1, first: run.first, replaced: mac))
        case .wrongSecret(let slot) where !run.isUnlock:
            return .repeated(Repetition(isUnlock: false, slot: slot, count: run.count + 1, first: run.first, replaced: mac))
        default: return nil
        }
    }

    var replaced: [UInt8]? {
        if case .repeated(let run) = self { run.replaced } else { nil }
    }
}

// MARK: - Bytes

extension AuditEvent.Repetition {
    /// kind (1) ‖ slot id (4) ‖ count (4) ‖ first (8) ‖ MAC (32)
    fileprivate init(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) {
        let kind: UInt8 = try cursor.number(in: span)
        guard kind == 32 || kind == 33 else { throw MalformedBytes() }
        isUnlock = kind == 32
        slot = try cursor.number(in: span)
        count = try cursor.number(in: span)
        guard count >= 2 else { throw MalformedBytes() }
        first = try cursor.number(in: span)
        replaced = try cursor.take(MAC.count, in: span)
    }
}

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
        case .repeated: 35
        case .slotAdded: 48
        case .slotChanged: 49
        case .slotRemoved: 50
        case .policyChanged: 51
        case .rekeyed: 52
        case .strayRows: 64
        case .fileReplaced: 65
        }
    }

    var detail: [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .vaultCreated, .rollbackAccepted, .fileReplaced: break
        case .vaultRestored(let time): bytes.append(number: time)
        case .backupTaken(let isPortable): bytes.append(isPortable ? 2 : 1)
        case .itemAdded(let item), .itemChanged(let item), .itemTrashed(let item), .itemRestored(let item),
            .itemPurged(let item):
            bytes = item.bytes
        case .levelChanged(let item, let former): bytes = item.bytes + [former.code]
        case .manyItems(let added, let changed, let purged):
            for count in [added, changed, purged] { bytes.append(number: count) }
        case .unlocked(let slot), .wrongSecret(let slot): bytes.append(number: slot)
        case .repeated(let run):
            bytes = [run.isUnlock ? 32 : 33]
            bytes.append(number: run.slot)
            bytes.append(number: run.count)
            bytes.append(number: run.first)
            bytes += run.replaced
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
        case 16: self = .itemAdded(try ItemVersionID(&cursor, span))
        case 17: self = .itemChanged(try ItemVersionID(&cursor, span))
        case 18: self = .itemTrashed(try ItemVersionID(&cursor, span))
        case 19: self = .itemRestored(try ItemVersionID(&cursor, span))
        case 20: self = .itemPurged(try ItemVersionID(&cursor, span))
        case 21: self = .levelChanged(try ItemVersionID(&cursor, span), from: try Self.level(&cursor, span))
        case 22:
            self = .manyItems(
                added: try cursor.number(in: span), changed: try cursor.number(in: span),
                purged: try cursor.number(in: span))
        case 32: self = .unlocked(slot: try cursor.number(in: span))
        case 33: self = .wrongSecret(slot: try cursor.number(in: span))
        case 34: self = .rollbackAccepted
        case 35: self = .repeated(try Repetition(&cursor, span))
        case 48: self = .slotAdded(id: try cursor.number(in: span), try Self.slotKind(&cursor, span))
        case 49: self = .slotChanged(id: try cursor.number(in: span), try Self.slotKind(&cursor, span))
        case 50: self = .slotRemoved(id: try cursor.number(in: span), try Self.slotKind(&cursor, span))
        case 51: self = .policyChanged(try cursor.take(VaultPolicy.count, in: span))
        case 52: self = .rekeyed(epoch: try cursor.number(in: span))
        case 64: self = .strayRows(first: try cursor.number(in: span))
        case 65: self = .fileReplaced
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

extension AuditEvent {
    /// The events that lead from one set of slots to another.
    static func changes(of before: [KeySlot], to after: [KeySlot]) -> [AuditEvent] {
        let gone = before.filter { slot in !after.contains { $0.id == slot.id } }
        return gone.map { .slotRemoved(id: $0.id, $0.kind) }
            + after.filter { !before.contains($0) }.map { slot in
                before.contains { $0.id == slot.id }
                    ? .slotChanged(id: slot.id, slot.kind) : .slotAdded(id: slot.id, slot.kind)
            }
    }
}

extension AuditEvent.ItemVersionID {
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
