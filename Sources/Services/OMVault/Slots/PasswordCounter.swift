// The counter of a vault's wrong passwords. No crash and no race allows one more guess: an attempt is charged before
// the check and settled after it. Format: docs/formats/vault-format.md, "Wrong passwords".

internal import Glibc
internal import OMItems
internal import OMRecords
internal import OMStorage
internal import OMSystem

/// The count of one vault on this device. All its password slots share it.
struct PasswordCounter: ~Copyable {
    /// The delays stop doubling here: 2^6 seconds, limited to the longest delay.
    private static let mostDoublings: UInt64 = 6
    private static let longest: Int64 = 60_000

    /// How long an attempt waits for the vault's lock, in milliseconds. This is too short to wait for the end of a rekey.
    static let noteWait = 100

    private let file: HighWaterFile
    /// The vault's own marks. Nil if there are none. The count is noted there too, so that a count put
    /// back from a copy is noticed.
    private let vault: HighWaterFile?
    /// Milliseconds since 1970.
    private let clock: @Sendable () -> Int64

    init(
        _ file: consuming HighWaterFile, vault: consuming HighWaterFile? = nil, clock: @escaping @Sendable () -> Int64
    ) {
        self.file = file
        self.vault = vault
        self.clock = clock
    }

    /// Creates the file of a new vault.
    static func create(_ file: borrowing HighWaterFile) throws(StorageError) {
        try file.create([State(attempts: 0, failed: 0, last: 0).mark])
    }

    /// Checks whether an attempt is allowed now. Call it before the user types a password.
    ///
    /// - Throws: ``VaultError/delayed(seconds:)``.
    func check() throws(VaultError) {
        // Under the lock: a charge whose check is still running is not a wrong password yet.
        try file.lock.hold { () throws(VaultError) in
            try DeferredSignals.run { () throws(VaultError) in _ = try validated() }
        }
    }

    /// Whether the count can be read, and is not older than this device noted. If not, the longest delay applies. Unlike
    /// ``check()`` this changes nothing.
    func isWhole() -> Bool {
        guard let found = (try? file.read()).flatMap({ State($0) }) else { return false }
        return found.attempts >= noted
    }

    /// Runs the one check of a password. The charge is on the disk before the check.
    ///
    /// - Throws: ``VaultError/delayed(seconds:)`` without a check; the errors of `check`, and then the charge stays.
    func attempt<R: ~Copyable>(_ check: () throws(VaultError) -> R) throws(VaultError) -> R {
        try file.lock.hold { () throws(VaultError) in
            try DeferredSignals.run { () throws(VaultError) in
                let charged = try validated().charged(at: clock())
                try write(charged)
                writeMark(charged.attempts)
                let result = try check()
                // A right password counts even if this cannot be written; the next success tries again. It is not
                // synced either: a power cut may lose this write, but never the charge.
                try? write(State(attempts: charged.attempts, failed: 0, last: charged.last), isSynced: false)
                return result
            }
        }
    }

    /// - Throws: ``VaultError/delayed(seconds:)`` while a delay is left.
    private func validated() throws(VaultError) -> State {
        let now = clock()
        var state = try read(at: now)
        if state.failed > 0, state.last > now {
            // The clock was set back. That ends no delay: the whole delay starts again now.
            state = State(attempts: state.attempts, failed: state.failed, last: now)
            try write(state)
        }
        let left = state.last + state.delay - now
        guard state.failed == 0 || left <= 0 else { throw .delayed(seconds: Int((left + 999) / 1000)) }
        return state
    }

    /// Attack: an attacker deletes or breaks the file to end the delay. Then the longest delay applies.
    private func read(at now: Int64) throws(VaultError) -> State {
        let found: State?
        do throws(StorageError) { found = try file.read().flatMap { State($0) } } catch {
            guard error == .corrupt else { throw VaultError(storage: error) }
            found = nil
        }
        // Attack: an attacker puts back a copy of the count from before the wrong passwords. It has fewer attempts than
        // were noted, so the longest delay applies.
        let noted = noted
        if let found, found.attempts >= noted { return found }
        let state = State(attempts: noted, failed: Self.mostDoublings + 1, last: now)
        try storing { () throws(StorageError) in try file.replace([state.mark]) }
        return state
    }

    /// The number of attempts in the vault's marks.
    private var noted: UInt64 {
        switch vault {
        case .none: return 0
        case .some(let vault):
            let seen = (try? vault.read()).flatMap { MarkIndex.whole($0) }
            return seen?[MarkIndex.attempts].generation ?? 0
        }
    }

    /// Notes the attempts in the vault's marks, before the check. If that is not possible now, for example during a
    /// rekey, the next attempt notes them. The count itself is already on the disk.
    private func writeMark(_ attempts: UInt64) {
        switch vault {
        case .none: break
        case .some(let vault):
            try? vault.lock.hold(wait: Self.noteWait) { () throws(StorageError) in
                guard let found = try vault.read(), var marks = MarkIndex.whole(found),
                    marks[MarkIndex.attempts].generation < attempts
                else { return }
                marks[MarkIndex.attempts] = MarkIndex.number(attempts)
                try vault.write(marks)
            }
        }
    }

    private func write(_ state: State, isSynced: Bool = true) throws(VaultError) {
        try storing { () throws(StorageError) in try file.write([state.mark], isSynced: isSynced) }
    }

    private struct State {
        /// All attempts that were ever charged.
        let attempts: UInt64
        /// Attempts since the last right password.
        let failed: UInt64
        /// Milliseconds since 1970.
        let last: Int64

        init(attempts: UInt64, failed: UInt64, last: Int64) {
            (self.attempts, self.failed, self.last) = (attempts, failed, last)
        }

        /// 1 s, doubled up to 60 s.
        var delay: Int64 {
            failed == 0 ? 0 : min(longest, 1000 << Int64(min(failed - 1, mostDoublings)))
        }

        func charged(at now: Int64) -> State { State(attempts: attempts + 1, failed: failed + 1, last: now) }

        /// failed (8) ‖ last (8) ‖ zeros
        var mark: HighWaterMark {
            var digest: [UInt8] = []
            digest.append(number: failed)
            digest.append(number: last)
            return HighWaterMark(generation: attempts, digest: digest + [UInt8](repeating: 0, count: 16))
        }

        init?(_ marks: [HighWaterMark]) {
            guard marks.count == 1, marks[0].generation < UInt64(Int64.max) else { return nil }
            let digest = marks[0].digest
            let span = digest.span
            var cursor = ByteCursor()
            guard let failed: UInt64 = try? cursor.number(in: span), let last: Int64 = try? cursor.number(in: span),
                failed < UInt64(Int64.max), last >= 0, last < Int64.max / 2, digest[16...].allSatisfy({ $0 == 0 })
            else { return nil }
            self.init(attempts: marks[0].generation, failed: failed, last: last)
        }
    }
}

/// The wall clock, in milliseconds since 1970.
func millisecondsNow() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
