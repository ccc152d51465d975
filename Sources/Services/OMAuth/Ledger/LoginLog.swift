// The log of logins: one entry for each decision, written in the ledger's transaction that carries the decision out.
// Format: docs/formats/login-format.md, "The log".

internal import OMSecrets
package import OMStorage
internal import OMSystem

/// The log of one ledger on the device that holds its key. A class, because keys move.
final class LoginLog {
    /// How many entries an event is compared with, to count it in an equal one.
    static let searchLimit: UInt64 = 64
    /// How long to wait for other processes that write an entry, in milliseconds.
    static let wait = 60_000

    private let key: Key<Authenticating>
    private let tables: any LedgerTables
    private let file: any LoginMarks

    init(_ tables: any LedgerTables, _ backend: any LoginBackend, _ device: borrowing DeviceKey) throws(AuthError) {
        key = device.key.derive(Context(.loginLogMAC))
        file = try Self.marks(backend, device)
        self.tables = tables
    }

    /// The mark of the log's end. Its lock is the one that a writer of the log holds.
    static func marks(_ backend: any LoginBackend, _ device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks {
        let id = LoginID(Array(device.key.fingerprint(Context(.loginLogID)).prefix(LoginID.count)))
        return try backend.marks(id, under: device)
    }

    /// The entries that one holder of the lock appends.
    struct Entries {
        /// If nil, nothing is written.
        private let log: LoginLog?
        /// The end of the log after these entries. Nil if nothing was appended.
        fileprivate var end: HighWaterMark?

        init(_ log: LoginLog?) { self.log = log }

        /// Call this in a writing transaction.
        mutating func append(
            _ events: [LoginEvent], times: UInt32 = 1, _ id: LoginID?, at time: Int64
        ) throws(AuthError) {
            guard let log, !events.isEmpty else { return }
            end = try log.append(events, times: times, id, at: time)
        }
    }

    /// Runs `body` while no other process writes the log; then moves the mark to the log's new end.
    ///
    /// Attack: an attacker holds the log's lock, so that wrong passwords are not counted and a server's refusal deletes
    /// nothing. So `body` also runs without the lock, and its decision then has no entry.
    func hold<R>(
        syncsMark: Bool = true, _ body: (inout Entries) throws(AuthError) -> R
    ) throws(AuthError) -> R {
        var isHeld = false
        do throws(AuthError) {
            return try file.hold(wait: Self.wait) { () throws(AuthError) in
                isHeld = true
                guard tables.isInPlace else { throw .busy }
                var entries = Entries(self)
                let result = try body(&entries)
                if let end = entries.end { try writeMark(end, isSynced: syncsMark) }
                return result
            }
        } catch {
            guard !isHeld else { throw error }
            var none = Entries(nil)
            return try body(&none)
        }
    }

    /// Runs `body` with the log's lock. Without the lock it does not run.
    func holdAlone<R>(_ body: () throws(AuthError) -> R) throws(AuthError) -> R { try file.hold(wait: Self.wait, body) }

    /// Writes the first entry of a ledger that replaces an unreadable one. Call this under the lock.
    func begin(at time: Int64) throws(AuthError) {
        let end = try tables.write { () throws(AuthError) in try append([.ledgerReplaced], nil, at: time) }
        try writeMark(end, isSynced: true)
    }

    /// Begins a new chain after a break. Call this under the lock.
    ///
    /// Attack: an attacker begins a new chain to hide deleted entries. The new entry names the break, and the gap
    /// before it stays.
    ///
    /// - Returns: The break. Nil if the log is whole; then nothing is written.
    func beginChain(at time: Int64) throws(AuthError) -> LogFault? {
        guard let fault = try read().fault else { return nil }
        let end = try tables.write { () throws(AuthError) in
            try append([.chainBegun(brokenAt: fault.sequence)], nil, at: time)
        }
        try writeMark(end, isSynced: true)
        return fault
    }

    private func append(
        _ events: [LoginEvent], times: UInt32 = 1, _ id: LoginID?, at time: Int64
    ) throws(AuthError) -> HighWaterMark {
        var end = try end()
        if let stray = end.stray {
            try tables.dropLog(from: stray)
            try add(LoginLogEntry(after: end.head, time: time, nil, .strayRows(first: stray), key), to: &end)
        }
        for event in events {
            let entry = LoginLogEntry(after: end.head, time: time, id, event, times: times, key)
            if event.isCounted, end.isNoted, let head = try count(entry, upTo: end.head) {
                end = End(head: head)
            } else {
                try add(entry, to: &end)
            }
        }
        let oldest = LogChain.oldest(upTo: end.head.generation)
        try tables.dropLog(before: oldest)
        return end.head
    }

    private func add(_ entry: LoginLogEntry, to end: inout End) throws(AuthError) {
        try put(entry)
        end = End(head: entry.mark)
    }

    private func put(_ entry: LoginLogEntry) throws(AuthError) {
        try tables.putLog(entry.sequence, entry.encoded)
    }

    /// Counts `next` in an equal entry near the end of the log. The entries after that one are written again, with new links.
    ///
    /// Attack: ten thousand logins of unknown users push all other entries out of the log. The attacker mixes them with
    /// refusals of another kind, so comparing the last entry only is not enough.
    ///
    /// - Returns: The new end of the log. Nil if there is no equal entry.
    private func count(_ next: LoginLogEntry, upTo head: HighWaterMark) throws(AuthError) -> HighWaterMark? {
        var tail: [LoginLogEntry] = []
        for row in try tables.log(from: head.generation > Self.searchLimit ? head.generation - Self.searchLimit + 1 : 1) {
            // Entries before a gap, or before an entry that is not counted, are not written again.
            guard let entry = entry(row), entry.event.isCounted else {
                tail = []
                continue
            }
            if let last = tail.last, !entry.follows(last.mark) { tail = [] }
            tail.append(entry)
        }
        guard let index = tail.lastIndex(where: { $0.counts(next) }) else { return nil }
        var last = HighWaterMark(generation: tail[index].sequence - 1, digest: tail[index].previous)
        for (offset, old) in tail[index...].enumerated() {
            let entry = LoginLogEntry(inPlaceOf: old, after: last, countingUp: offset == 0 ? next : nil, key)
            try put(entry)
            last = entry.mark
        }
        return last
    }

    /// The end of a log: its mark, or entries after the mark that a crash left.
    private struct End {
        var head: HighWaterMark
        /// The first row after the end that does not continue the log. This device did not write it there.
        var stray: UInt64?
        /// Whether the last entry is the mark's own. Only then may it be written again: the mark allows one step.
        var isNoted = false
    }

    private func end() throws(AuthError) -> End {
        guard let mark = try mark() else {
            // Attack: an attacker deletes the end of the log together with the mark. The gap in the numbers stays for ever.
            let rows = try tables.log(from: 0)
            let last = rows.last { entry($0) != nil }?.sequence ?? 0
            let stray = rows.first { $0.sequence > last }?.sequence
            return End(head: last == 0 ? .beginning : Self.gap(behind: last), stray: stray)
        }
        var end = End(head: mark)
        for row in try tables.log(from: mark.generation) {
            let entry = entry(row)
            if row.sequence == mark.generation {
                // If this entry was deleted or changed, new entries are written anyway, and the gap stays.
                guard let entry, entry.fits(mark) else { continue }
                end = End(head: entry.mark, isNoted: entry.mark == mark)
            } else if let entry, entry.follows(end.head) {
                end = End(head: entry.mark)
            } else {
                return End(head: end.head, stray: row.sequence)
            }
        }
        return end
    }

    private static func gap(behind last: UInt64) -> HighWaterMark {
        HighWaterMark(generation: last + 1, digest: HighWaterMark.beginning.digest)
    }

    /// - Returns: nil if this device did not write the row there.
    private func entry(_ row: (sequence: UInt64, bytes: [UInt8])) -> LoginLogEntry? {
        guard let entry = try? LoginLogEntry(row.bytes, key), entry.sequence == row.sequence else { return nil }
        return entry
    }

    /// - Returns: nil if there is no authentic mark.
    private func mark() throws(AuthError) -> HighWaterMark? {
        do throws(StorageError) { return try file.read()?.first } catch {
            if error == .corrupt { return nil }
            throw AuthError(storage: error)
        }
    }

    private func writeMark(_ end: HighWaterMark, isSynced: Bool) throws(AuthError) {
        try storing { () throws(StorageError) in
            do throws(StorageError) { try file.write([end], isSynced: isSynced) } catch {
                switch error {
                case .missing: break
                case .corrupt: try file.remove()
                default: throw error
                }
                try file.create([end])
            }
        }
    }

    // MARK: - Reading

    /// All entries that this device wrote, and the place where the log is broken.
    func read() throws(AuthError) -> LoginLogReport {
        try LogChain.read(mark: mark, read(upTo:))
    }

    private func read(upTo mark: HighWaterMark?) throws(AuthError) -> LoginLogReport {
        let rows = try tables.log(from: 0)
        var report = LoginLogReport()
        guard let end = mark else {
            // Without a mark nothing proves where the log ends, so no entry is proven.
            report.fault = rows.first.map { LogFault(sequence: $0.sequence, kind: .added) }
            report.unproven = rows.compactMap(entry)
            return report
        }
        let first = first(of: rows, end)
        for row in rows {
            let entry = entry(row)
            if report.fault == nil {
                report.fault = LogChain.fault(row: row.sequence, entry, after: report.entries.last, first: first, end: end)
            }
            guard let entry else { continue }
            if case .chainBegun(let broken) = entry.event, let fault = report.fault, row.sequence > fault.sequence,
                // Attack: an attacker deletes entries before an older break, which a new chain already names.
                fault.sequence >= broken, row.sequence <= end.generation
            {
                report.breaks.append(fault)
                // Here too, the mark decides whether its own entry is right.
                let isMarked = row.sequence != end.generation || entry.fits(end)
                report.fault = isMarked ? nil : LogFault(sequence: row.sequence, kind: .changed)
            }
            if report.fault == nil { report.entries.append(entry) } else { report.unproven.append(entry) }
        }
        if report.fault == nil { report.fault = LogChain.fault(afterAll: report.entries.last, first: first, end: end) }
        return report
    }

    private func first(of rows: [(sequence: UInt64, bytes: [UInt8])], _ end: HighWaterMark) -> UInt64 {
        // Older entries are in the ledger that was set aside.
        if let row = rows.first, entry(row)?.event == .ledgerReplaced { return row.sequence }
        // An entry after the mark may already have pushed the oldest one out.
        return LogChain.oldest(upTo: max(end.generation, rows.last?.sequence ?? 0))
    }
}

extension Authenticator {
    /// The log of all logins of this ledger. Empty if there is no ledger.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    package func log() throws(AuthError) -> LoginLogReport {
        guard let store = try openIfPresent() else { return LoginLogReport() }
        return try store.log.read()
    }

    /// Begins a new chain of the log after a break, with an entry that says so. It deletes nothing of the log.
    ///
    /// - Returns: The break. Nil if the log is whole; then no chain is begun.
    /// - Throws: ``AuthError/busy``, ``AuthError/storage(_:)``.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    package func beginLogChain() throws(AuthError) -> LogFault? {
        guard let store = try openIfPresent() else { return nil }
        return try store.log.holdAlone { () throws(AuthError) in try store.log.beginChain(at: clock().wall) }
    }
}
