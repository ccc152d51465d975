import OMSecrets
import OMStorage

@testable import OMAuth

/// Logins kept in memory: what a test can photograph, put back, and cut the power of. One thread at a time.
final class MemoryPlace: LoginPlace, @unchecked Sendable {
    /// Everything on the "disk", as a process sees it.
    struct Disk {
        var hasLedger = false
        var rows: [LoginID: [UInt8]] = [:]
        var remembered: [LoginID: [UInt8]] = [:]
        var log: [UInt64: [UInt8]] = [:]
        var marks: [LoginID: [HighWaterMark]] = [:]
        /// What a power cut leaves of the marks that nobody waited for.
        var unsynced: [LoginID: [HighWaterMark]] = [:]
    }

    var disk = Disk()
    /// How many more durable writes there are before the power goes; nil: it stays.
    var power: Int?
    /// A reader of an old state holds purges up.
    var hasReader = false
    /// What happens once, as soon as the lock of this login is free again.
    var interlude: (id: LoginID, body: () -> Void)?
    private let key = Key<Deriving>.random()
    private var hasDevice = false
    fileprivate var undo: [(UInt64, [UInt8]?)] = []
    fileprivate var isInTransaction = false

    func loadDevice() throws(AuthError) -> DeviceKey? { hasDevice ? DeviceKey(key.duplicate()) : nil }

    func makeDevice() throws(AuthError) -> DeviceKey {
        hasDevice = true
        return DeviceKey(key.duplicate())
    }

    func openLedger() throws(StorageError) -> (any LedgerTables)? {
        try look()
        return disk.hasLedger ? MemoryTables(self) : nil
    }

    func makeLedger() throws(StorageError) -> any LedgerTables {
        try look()
        disk.hasLedger = true
        return MemoryTables(self)
    }

    func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks {
        MemoryMarks(self, id)
    }

    func moveUnreadableAside() throws(AuthError) -> String? { nil }

    /// Nothing can be read any more either.
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
    private let place: MemoryPlace

    init(_ place: MemoryPlace) { self.place = place }

    func row(_ id: LoginID) throws(StorageError) -> [UInt8]? {
        try place.look()
        return place.disk.rows[id]
    }

    func rows() throws(StorageError) -> [(id: [UInt8], bytes: [UInt8])] {
        try place.look()
        return place.disk.rows.map { ($0.key.bytes, $0.value) }
    }

    func put(_ id: LoginID, _ bytes: [UInt8]) throws(StorageError) {
        try place.spend()
        place.disk.rows[id] = bytes
    }

    func delete(_ id: [UInt8]) throws(StorageError) {
        try place.spend()
        place.disk.rows[LoginID(id)] = nil
    }

    func remembered(_ id: LoginID) throws(StorageError) -> [UInt8]? {
        try place.look()
        return place.disk.remembered[id]
    }

    func rememberedIDs() throws(StorageError) -> [[UInt8]] {
        try place.look()
        return place.disk.remembered.keys.map(\.bytes)
    }

    func putRemembered(_ id: LoginID, _ bytes: [UInt8]) throws(StorageError) {
        try place.spend()
        place.disk.remembered[id] = bytes
    }

    func deleteRemembered(_ id: LoginID) throws(StorageError) {
        try place.spend()
        place.disk.remembered[id] = nil
    }

    func log(from sequence: UInt64) throws(StorageError) -> [(sequence: UInt64, bytes: [UInt8])] {
        try place.look()
        if sequence > 0 {
            // What stands behind the head: nothing, or the few that a cut left there.
            var found: [(sequence: UInt64, bytes: [UInt8])] = []
            var next = sequence
            while let bytes = place.disk.log[next] {
                found.append((next, bytes))
                next += 1
            }
            return found
        }
        return place.disk.log.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func putLog(_ sequence: UInt64, _ bytes: [UInt8]) throws(StorageError) {
        try place.spend()
        place.undo.append((sequence, place.disk.log[sequence]))
        place.disk.log[sequence] = bytes
    }

    func dropLog(_ range: Range<UInt64>) throws(StorageError) {
        try place.spend()
        let dropped = range.lowerBound == 0 ? [range.upperBound - 1] : Array(range.lowerBound...range.lowerBound + 16)
        for sequence in dropped where place.disk.log[sequence] != nil {
            place.undo.append((sequence, place.disk.log[sequence]))
            place.disk.log[sequence] = nil
        }
    }

    func write<R: ~Copyable>(_ body: () throws(AuthError) -> R) throws(AuthError) -> R {
        precondition(!place.isInTransaction, "a transaction is running")
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
        do throws(StorageError) { try place.spend() } catch {
            rollBack()
            throw AuthError(storage: error)
        }
        return result
    }

    func purge(wait: Int32) throws(StorageError) -> Bool {
        try place.look()
        return !place.hasReader
    }
}

private final class MemoryMarks: LoginMarks {
    private let place: MemoryPlace
    private let id: LoginID

    init(_ place: MemoryPlace, _ id: LoginID) { (self.place, self.id) = (place, id) }

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
        let result = try body()
        if let interlude = place.interlude, interlude.id == id {
            place.interlude = nil
            interlude.body()
        }
        return result
    }
}
