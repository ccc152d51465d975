import OMSecrets
import OMStorage
import OMSystem

@testable import OMAuth

/// Logins in memory. A test can copy them, put them back, and cut their power. One thread at a time.
final class MemoryLoginBackend: LoginBackend, @unchecked Sendable {
    /// Everything on the "disk", as a process sees it.
    struct Disk {
        var hasLedger = false
        /// The ledger's file is so damaged that it does not open.
        var isUnreadable = false
        var rows: [LoginID: [UInt8]] = [:]
        var remembered: [LoginID: [UInt8]] = [:]
        var log: [UInt64: [UInt8]] = [:]
        var marks: [LoginID: [HighWaterMark]] = [:]
        /// The state of unsynced marks after a power cut.
        var unsynced: [LoginID: [HighWaterMark]] = [:]
    }

    var disk = Disk()
    /// The number of durable writes until the power cut. Nil means no cut.
    var power: Int?
    /// A reader of an old state delays purges.
    var hasReader = false
    /// Another process holds the lock of this login, or of the log, for longer than any wait.
    var held: LoginID?
    /// Another process locks the ledger from here on.
    var isLocked = false
    /// Runs once, just before the lock of this login is taken.
    var prelude: (id: LoginID, body: () -> Void)?
    /// Runs once, as soon as the lock of this login is free again.
    var interlude: (id: LoginID, body: () -> Void)?
    /// The device key is gone, but its marks are there.
    var isDeviceLost = false
    /// The device key's file has other bytes than it should.
    var isDeviceDamaged = false
    private let key = Key<Deriving>.random()
    private var hasDevice = false
    fileprivate var undo: [(UInt64, [UInt8]?)] = []
    fileprivate var isInTransaction = false

    func loadDevice() throws(AuthError) -> DeviceKey? {
        guard !isDeviceDamaged else { throw .deviceKeyDamaged }
        return hasDevice && !isDeviceLost ? DeviceKey(key.duplicate()) : nil
    }

    func makeDevice() throws(AuthError) -> DeviceKey {
        guard !isDeviceLost else { throw .deviceKeyMissing }
        guard !isDeviceDamaged else { throw .deviceKeyDamaged }
        hasDevice = true
        return DeviceKey(key.duplicate())
    }

    func openLedger() throws(AuthError) -> (any LedgerTables)? {
        try storing { () throws(StorageError) in try look() }
        guard !disk.isUnreadable else { throw .quarantined }
        return disk.hasLedger ? MemoryTables(self) : nil
    }

    func makeLedger() throws(AuthError) -> any LedgerTables {
        try storing { () throws(StorageError) in try look() }
        guard !disk.isUnreadable else { throw .quarantined }
        disk.hasLedger = true
        return MemoryTables(self)
    }

    func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks {
        MemoryMarks(self, id)
    }

    func damagedLedgers() throws(AuthError) -> [String] { [] }

    func renameUnreadableLedger(at wall: Int64) throws(AuthError) -> DamagedFile? {
        guard disk.isUnreadable else { return nil }
        (disk.isUnreadable, disk.hasLedger) = (false, false)
        (disk.rows, disk.remembered, disk.log) = ([:], [:], [:])
        return DamagedFile(path: "aside", removed: [])
    }

    /// Reads fail too.
    fileprivate func look() throws(StorageError) {
        guard let power, power <= 0 else { return }
        disk.marks.merge(disk.unsynced) { $1 }
        disk.unsynced = [:]
        throw .io(5)
    }

    fileprivate func spend() throws(StorageError) {
        guard !isInTransaction else { return }
        try look()
        if let power { self.power = power - 1 }
    }
}

private final class MemoryTables: LedgerTables {
    private let place: MemoryLoginBackend

    init(_ place: MemoryLoginBackend) { self.place = place }

    var isInPlace: Bool { place.disk.hasLedger && !place.disk.isUnreadable }

    func row(_ id: LoginID) throws(AuthError) -> [UInt8]? {
        try look()
        return place.disk.rows[id]
    }

    func rows() throws(AuthError) -> [(id: [UInt8], bytes: [UInt8])] {
        try look()
        return place.disk.rows.map { ($0.key.bytes, $0.value) }
    }

    func put(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError) {
        try spend()
        place.disk.rows[id] = bytes
    }

    func delete(_ id: [UInt8]) throws(AuthError) {
        try spend()
        place.disk.rows[LoginID(id)] = nil
    }

    func serverRow(_ id: LoginID) throws(AuthError) -> [UInt8]? {
        try look()
        return place.disk.remembered[id]
    }

    func serverRowIDs() throws(AuthError) -> [[UInt8]] {
        try look()
        return place.disk.remembered.keys.map(\.bytes)
    }

    func putServerRow(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError) {
        try spend()
        place.disk.remembered[id] = bytes
    }

    func deleteServerRow(_ id: LoginID) throws(AuthError) {
        try spend()
        place.disk.remembered[id] = nil
    }

    func log(from sequence: UInt64) throws(AuthError) -> [(sequence: UInt64, bytes: [UInt8])] {
        try look()
        if sequence > 0 {
            // Only the last few, because a hundred thousand steps could not look at all ten thousand each time.
            return (sequence..<sequence + LoginLog.searchLimit + 16).compactMap { next in
                place.disk.log[next].map { (next, $0) }
            }
        }
        return place.disk.log.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func putLog(_ sequence: UInt64, _ bytes: [UInt8]) throws(AuthError) {
        try spend()
        place.undo.append((sequence, place.disk.log[sequence]))
        place.disk.log[sequence] = bytes
    }

    func dropLog(before sequence: UInt64) throws(AuthError) {
        // The entry that is now too old.
        if sequence > 1 { try dropLog([sequence - 1]) }
    }

    func dropLog(from sequence: UInt64) throws(AuthError) {
        try dropLog(place.disk.log.keys.filter { $0 >= sequence })
    }

    private func dropLog(_ sequences: [UInt64]) throws(AuthError) {
        try spend()
        for sequence in sequences where place.disk.log[sequence] != nil {
            place.undo.append((sequence, place.disk.log[sequence]))
            place.disk.log[sequence] = nil
        }
    }

    func write<R: ~Copyable>(_ body: () throws(AuthError) -> R) throws(AuthError) -> R {
        precondition(!place.isInTransaction, "a transaction is running")
        guard !place.isLocked else { throw .busy }
        let (rows, remembered) = (place.disk.rows, place.disk.remembered)
        place.undo = []
        func rollBack() {
            (place.disk.rows, place.disk.remembered) = (rows, remembered)
            for (sequence, bytes) in place.undo.reversed() { place.disk.log[sequence] = bytes }
        }
        place.isInTransaction = true
        let result: R
        do throws(AuthError) { result = try body() } catch {
            place.isInTransaction = false
            rollBack()
            throw error
        }
        place.isInTransaction = false
        do throws(AuthError) { try spend() } catch {
            rollBack()
            throw error
        }
        return result
    }

    func purge(wait: Int32) throws(AuthError) -> Bool {
        try look()
        return !place.hasReader
    }

    private func look() throws(AuthError) { try storing { () throws(StorageError) in try place.look() } }

    private func spend() throws(AuthError) { try storing { () throws(StorageError) in try place.spend() } }
}

private final class MemoryMarks: LoginMarks {
    private let place: MemoryLoginBackend
    private let id: LoginID

    init(_ place: MemoryLoginBackend, _ id: LoginID) { (self.place, self.id) = (place, id) }

    func read() throws(StorageError) -> [HighWaterMark]? {
        try place.look()
        return place.disk.marks[id]
    }

    func create(_ marks: [HighWaterMark]) throws(StorageError) {
        guard place.disk.marks[id] == nil else { throw .exists }
        try place.spend()
        place.disk.marks[id] = marks
    }

    func write(_ marks: [HighWaterMark], isSynced: Bool) throws(StorageError) {
        guard let before = place.disk.marks[id] else { throw .missing }
        try place.spend()
        if isSynced { place.disk.unsynced[id] = nil } else if place.disk.unsynced[id] == nil { place.disk.unsynced[id] = before }
        place.disk.marks[id] = marks
    }

    func remove() throws(StorageError) {
        try place.spend()
        (place.disk.unsynced[id], place.disk.marks[id]) = (nil, nil)
    }

    func hold<R: ~Copyable>(
        wait: Int, unless interruption: Interruption?, _ body: () throws(AuthError) -> R
    ) throws(AuthError) -> R {
        guard place.held != id else { throw .busy }
        if let prelude = place.prelude, prelude.id == id {
            place.prelude = nil
            prelude.body()
        }
        let result = try body()
        if let interlude = place.interlude, interlude.id == id {
            place.interlude = nil
            interlude.body()
        }
        return result
    }
}
