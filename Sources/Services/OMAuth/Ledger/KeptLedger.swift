// A ledger that stays open from one operation to the next.

package import OMSecrets
internal import OMStorage
internal import Synchronization

/// A backend that keeps its ledger open from one operation to the next.
///
/// An operation takes the open ledger and gives it back at its end, so no two threads use it at once. An operation that finds
/// it taken opens one of its own.
///
/// For one login or one command only: while the ledger is open, other processes cannot remove its write-ahead log when they
/// close it.
final class KeptLedger: LoginBackend {
    /// No two threads have it at once: it is in here, or one operation has it.
    private struct Idle: @unchecked Sendable {
        var ledger: (any LedgerTables)?
    }

    private let backend: any LoginBackend
    private let idle = Mutex(Idle())

    init(_ backend: any LoginBackend) { self.backend = backend }

    func openLedger() throws(AuthError) -> (any LedgerTables)? {
        if let ledger = takeIdle() { ledger } else { try backend.openLedger() }
    }

    func makeLedger() throws(AuthError) -> any LedgerTables {
        if let ledger = takeIdle() { ledger } else { try backend.makeLedger() }
    }

    func giveBack(_ ledger: any LedgerTables) {
        let given = Idle(ledger: ledger)
        idle.withLock { if $0.ledger == nil { $0 = given } }
    }

    /// Attack: put another ledger in the place of the open one while a server is asked. An attempt must be written to the file
    /// that the next process finds.
    private func takeIdle() -> (any LedgerTables)? {
        let taken = idle.withLock { idle in
            defer { idle = Idle() }
            return idle
        }
        guard let ledger = taken.ledger, ledger.isInPlace else { return nil }
        return ledger
    }

    // MARK: - What it passes on

    func loadDevice() throws(AuthError) -> DeviceKey? { try backend.loadDevice() }

    func makeDevice() throws(AuthError) -> DeviceKey { try backend.makeDevice() }

    func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks {
        try backend.marks(id, under: device)
    }

    func renameUnreadableLedger(at wall: Int64) throws(AuthError) -> DamagedFile? {
        // Close the open ledger: it is the old one.
        _ = takeIdle()
        return try backend.renameUnreadableLedger(at: wall)
    }

    func damagedLedgers() throws(AuthError) -> [String] { try backend.damagedLedgers() }
}

extension Authenticator {
    /// The same, with a ledger that is opened once for all operations of one verdict.
    package func keepingLedger() -> Authenticator {
        guard !(backend is KeptLedger) else { return self }
        var same = self
        same.backend = KeptLedger(backend)
        return same
    }

    /// The same, with other parameters for new credentials.
    package func stretching(with parameters: Argon2id.Parameters) -> Authenticator {
        var same = self
        same.parameters = parameters
        return same
    }
}
