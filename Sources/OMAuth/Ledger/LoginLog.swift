// The log of logins: one entry a decision, in the ledger, in the transaction of what was decided.
// Format: docs/login-format.md, "The log".

public import OMRecords
internal import OMSecrets
internal import OMStorage

/// The log of one ledger on the device that holds its key. A class, because keys move.
final class LoginLog {
    /// The most entries that are kept.
    static let capacity: UInt64 = 10_000
    /// How long one waits for others that write an entry, in milliseconds.
    private static let wait = 60_000
    private static let beforeFirst = HighWaterMark(generation: 0, digest: [UInt8](repeating: 0, count: MAC.count))

    private let key: Key<Authenticating>
    private let tables: any LedgerTables
    private let file: any LoginMarks

    init(_ tables: any LedgerTables, _ place: any LoginPlace, _ device: borrowing DeviceKey) throws(AuthError) {
        key = device.key.derive(Context(.loginLogMAC))
        let id = LoginID(Array(device.key.fingerprint(Context(.loginLogID)).prefix(LoginID.count)))
        file = try place.marks(id, under: device)
        self.tables = tables
    }

    /// What one holder of the lock has appended.
    struct Entries {
        private let log: LoginLog
        /// Where the log ends by now; nil: nothing was appended.
        fileprivate var end: HighWaterMark?

        init(_ log: LoginLog) { self.log = log }

        /// To be called in a writing transaction.
        mutating func append(_ events: [LoginEvent], _ id: LoginID?, at time: Int64) throws(AuthError) {
            guard !events.isEmpty else { return }
            end = try log.append(events, id, at: time)
        }
    }

    /// Runs `body` while nobody else writes the log; then the mark says where it ends.
    func hold<R>(
        syncsMark: Bool = true, _ body: (inout Entries) throws(AuthError) -> R
    ) throws(AuthError) -> R {
        try file.hold(wait: Self.wait) { () throws(AuthError) in
            var entries = Entries(self)
            let result = try body(&entries)
            if let end = entries.end { try note(end, isSynced: syncsMark) }
            return result
        }
    }

    private func append(_ events: [LoginEvent], _ id: LoginID?, at time: Int64) throws(AuthError) -> HighWaterMark {
        var head = try end()
        for event in events {
            let entry = LoginLogEntry(after: head, time: time, id, event, key)
            try storing { () throws(StorageError) in try tables.putLog(entry.sequence, entry.encoded) }
            head = entry.mark
        }
        if let oldest = Self.oldest(head.generation) {
            try storing { () throws(StorageError) in try tables.dropLog(0..<oldest) }
        }
        return head
    }

    /// Where the log ends: what the mark says, or what a crash left behind it. Rows there that do not follow go.
    private func end() throws(AuthError) -> HighWaterMark {
        guard var head = try mark() else {
            // Attack: cut off the end of the log and its mark. The gap in the numbers stays for good.
            let last = try storing { () throws(StorageError) in try tables.log(from: 0).last }
            guard let last else { return Self.beforeFirst }
            return HighWaterMark(generation: last.sequence + 1, digest: Self.beforeFirst.digest)
        }
        for row in try storing({ () throws(StorageError) in try tables.log(from: head.generation + 1) }) {
            guard let entry = try? LoginLogEntry(row.bytes, key), entry.sequence == row.sequence, entry.follows(head)
            else {
                try storing { () throws(StorageError) in try tables.dropLog(row.sequence..<UInt64(Int64.max)) }
                break
            }
            head = entry.mark
        }
        return head
    }

    /// - Returns: nil when there is none, or none that is authentic.
    private func mark() throws(AuthError) -> HighWaterMark? {
        do throws(StorageError) { return try file.read()?.first } catch {
            if error == .corrupt { return nil }
            throw AuthError(storage: error)
        }
    }

    private func note(_ end: HighWaterMark, isSynced: Bool) throws(AuthError) {
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

    private static func oldest(_ last: UInt64) -> UInt64? {
        last > capacity ? last - capacity + 1 : nil
    }

    // MARK: - Reading

    /// Every entry up to the first place where the log is not what this device wrote.
    func read() throws(AuthError) -> LoginTrail {
        // The mark before the rows: entries are written first, so the log is never shorter than a mark that was read before.
        let mark = try mark()
        let rows = try storing { () throws(StorageError) in try tables.log(from: 0) }
        guard let end = mark else {
            return LoginTrail(entries: [], fault: rows.first.map { LogFault(sequence: $0.sequence, kind: .added) })
        }
        var entries: [LoginLogEntry] = []
        func trail(_ sequence: UInt64, _ kind: LogFault.Kind) -> LoginTrail {
            LoginTrail(entries: entries, fault: LogFault(sequence: sequence, kind: kind))
        }
        // An entry behind the mark may have pushed the oldest out already.
        let first = Self.oldest(max(end.generation, rows.last?.sequence ?? 0)) ?? 1
        for row in rows {
            let expected = entries.last.map { $0.sequence + 1 } ?? first
            guard row.sequence >= expected else { return trail(row.sequence, .added) }
            let isBehindMark = expected > end.generation
            guard row.sequence == expected else {
                return isBehindMark ? trail(row.sequence, .added) : trail(expected, .missing)
            }
            guard let entry = try? LoginLogEntry(row.bytes, key), entry.sequence == expected,
                entries.last.map({ entry.follows($0.mark) }) ?? true,
                expected != end.generation || entry.mark == end
            else { return trail(expected, isBehindMark ? .added : .changed) }
            entries.append(entry)
        }
        let last = entries.last?.sequence ?? first - 1
        return last < end.generation ? trail(last + 1, .missing) : LoginTrail(entries: entries, fault: nil)
    }
}

/// The log of logins as far as it is to be believed.
public struct LoginTrail: Hashable, Sendable {
    public let entries: [LoginLogEntry]
    /// nil when the whole log is what this device wrote.
    public let fault: LogFault?
}

extension Authenticator {
    /// The log of every login of this ledger; empty where there is none.
    public func log() throws(AuthError) -> LoginTrail {
        guard let store = try openAny() else { return LoginTrail(entries: [], fault: nil) }
        return try store.log.read()
    }
}
