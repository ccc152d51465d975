// The audit log. Each change writes to it, in the change's own transaction. It is verified on request.
// Format: docs/formats/vault-format.md, "Audit log".

internal import OMItems
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// The log of one vault on the device that holds its key. A class, because keys are move-only and
/// several owners share this log.
final class AuditLog: Sendable {
    /// More events of items than this in one change become one entry. Otherwise an import would push out all other entries.
    static let singleEvents = 64

    let key: Key<Authenticating>
    private let vault: [UInt8]

    init(_ device: borrowing DeviceKey, vault: [UInt8]) {
        key = device.key.derive(Context(.logMAC))
        self.vault = vault
    }

    /// Writes entries after the log's end. Call it in a write transaction, under the vault's lock.
    ///
    /// - Parameters:
    ///   - last: The end of the log, as this device's mark names it.
    ///   - startingAnew: Whether to drop all earlier entries.
    /// - Returns: The new end, for the mark.
    func append(
        _ events: [AuditEvent], after last: HighWaterMark, startingAnew: Bool = false, now: Int64,
        in database: borrowing Database
    ) throws(VaultError) -> HighWaterMark {
        let end = try end(after: last, in: database)
        return try append(events, at: end, startingAnew: startingAnew, now: now, in: database)
    }

    /// Writes one entry that belongs to no change. Equal events in a row become one entry with a count. Otherwise an
    /// attacker who guesses passwords could push all other entries out of the log.
    ///
    /// - Returns: The new end. It is `last` if the mark's entry is missing or wrong. Then nothing was written.
    func append(
        _ event: AuditEvent, after last: HighWaterMark, now: Int64, in database: borrowing Database
    ) throws(VaultError) -> HighWaterMark {
        let end = try end(after: last, in: database)
        guard end.isWhole else { return last }
        // Only the entry that the mark names can be replaced. Otherwise a crash would leave two entries that it does not know.
        guard end.stray == nil, end.head == last, let newest = end.newest, newest.mark == last,
            let run = newest.event.repeated(by: event, since: newest.time, replacing: newest.mac)
        else { return try append([event], at: end, startingAnew: false, now: now, in: database) }
        let entry = AuditEntry(inPlaceOf: newest, time: now, run, key, vault)
        try storing { () throws(StorageError) in
            var save = try database.prepare(VaultSchema.replaceLogEntry)
            try save.bind(1, Int64(entry.sequence))
            try save.bind(2, entry.encoded)
            _ = try save.step()
        }
        return entry.mark
    }

    private func append(
        _ events: [AuditEvent], at end: End, startingAnew: Bool, now: Int64, in database: borrowing Database
    ) throws(VaultError) -> HighWaterMark {
        var (head, oldest, stray) = (end.head, end.oldest, end.stray)
        if let stray {
            try drop(VaultSchema.dropLogFrom, stray, in: database)
        }
        let events = (stray.map { [.strayRows(first: $0)] } ?? []) + Self.summed(events)
        guard !events.isEmpty else { return head }
        if startingAnew { oldest = head.generation + 1 }
        let former = oldest
        try storing { () throws(StorageError) in
            var add = try database.prepare(VaultSchema.addLogEntry)
            for event in events {
                let next = head.generation + 1
                oldest = max(oldest, LogChain.oldest(upTo: next))
                let entry = AuditEntry(after: head, oldest: oldest, time: now, event, key, vault)
                try add.bind(1, Int64(entry.sequence))
                try add.bind(2, entry.encoded)
                _ = try add.step()
                head = entry.mark
            }
        }
        if oldest > former || startingAnew { try drop(VaultSchema.dropLogBefore, oldest, in: database) }
        return head
    }

    /// The end of a log: at its mark, or after the entries that a crash left behind the mark.
    private struct End {
        var head: HighWaterMark
        /// The number of the oldest entry that is kept.
        var oldest: UInt64 = 1
        /// The first row after the end that does not follow it. This device did not write it.
        var stray: UInt64?
        /// Whether the mark's entry exists.
        var isWhole = false
        /// The last entry, if it exists.
        var newest: AuditEntry?
    }

    private func end(after last: HighWaterMark, in database: borrowing Database) throws(VaultError) -> End {
        var end = End(head: last)
        // The mark's row says where the log begins. If that row was deleted or changed, an earlier row says it.
        for (_, bytes) in try rows(VaultSchema.findLogUpTo, Int64(last.generation), in: database) {
            guard let entry = try? AuditEntry(decoding: bytes, key, vault) else { continue }
            end.oldest = entry.oldest
            guard entry.fits(last) else { continue }
            (end.head, end.newest, end.isWhole) = (entry.mark, entry, true)
        }
        for (row, bytes) in try rows(VaultSchema.findLogFrom, Int64(last.generation) + 1, in: database) {
            let entry = try? AuditEntry(decoding: bytes, key, vault)
            guard let entry, row == Int64(entry.sequence), entry.follows(end.head) else {
                end.stray = UInt64(row)
                return end
            }
            (end.head, end.oldest, end.newest) = (entry.mark, entry.oldest, entry)
        }
        return end
    }

    private func drop(_ sql: String, _ sequence: UInt64, in database: borrowing Database) throws(VaultError) {
        try storing { () throws(StorageError) in
            var drop = try database.prepare(sql)
            try drop.bind(1, Int64(sequence))
            _ = try drop.step()
        }
    }

    private static func summed(_ events: [AuditEvent]) -> [AuditEvent] {
        let items = events.filter(\.isOfItem)
        guard items.count > singleEvents else { return events }
        var (added, changed, purged): (UInt32, UInt32, UInt32) = (0, 0, 0)
        for event in items {
            switch event {
            case .itemAdded: added += 1
            case .itemPurged: purged += 1
            default: changed += 1
            }
        }
        return events.filter { !$0.isOfItem } + [.manyItems(added: added, changed: changed, purged: purged)]
    }

    /// The only entry of a new log.
    func first(_ event: AuditEvent, now: Int64) -> AuditEntry {
        AuditEntry(after: HighWaterMark.beginning, oldest: 1, time: now, event, key, vault)
    }

    // MARK: - Reading

    /// Every entry up to the first place where the log is not what this device wrote.
    ///
    /// - Parameter readMark: Reads this device's mark of the log's end. It is called before the rows are read.
    func read(
        in database: borrowing Database, upTo readMark: () throws(VaultError) -> HighWaterMark
    ) throws(VaultError) -> AuditLogReport {
        try LogChain.read(mark: readMark) { (mark) throws(VaultError) in
            try database.transaction(.read) { () throws(VaultError) in
                try read(upTo: mark ?? .beginning, in: database)
            }
        }
    }

    /// - Parameter mark: It was read before the transaction began.
    private func read(upTo mark: HighWaterMark, in database: borrowing Database) throws(VaultError) -> AuditLogReport {
        let rows = try rows(VaultSchema.findLogFrom, Int64.min, in: database)
        let newest = rows.last { $0.0 >= 1 }.flatMap { try? AuditEntry(decoding: $0.1, key, vault) }
        let first = newest?.oldest ?? LogChain.oldest(upTo: mark.generation)
        var entries: [AuditEntry] = []
        for (row, bytes) in rows {
            let entry = (try? AuditEntry(decoding: bytes, key, vault)).flatMap { Int64($0.sequence) == row ? $0 : nil }
            let fault = LogChain.fault(row: UInt64(max(row, 0)), entry, after: entries.last, first: first, end: mark)
            guard fault == nil, let entry else { return AuditLogReport(entries: entries, fault: fault) }
            entries.append(entry)
        }
        return AuditLogReport(entries: entries, fault: LogChain.fault(afterAll: entries.last, first: first, end: mark))
    }

    private func rows(
        _ sql: String, _ from: Int64, in database: borrowing Database
    ) throws(VaultError) -> [(Int64, [UInt8])] {
        try storing { () throws(StorageError) in
            var find = try database.prepare(sql)
            try find.bind(1, from)
            var rows: [(Int64, [UInt8])] = []
            while try find.step() { rows.append((find.number(0), find.bytes(1))) }
            return rows
        }
    }
}

extension AuditEvent {
    fileprivate var isOfItem: Bool { (16...22).contains(kind) }
}
