// A ledger that stays open from one operation to the next.

package import OMSecrets
internal import OMStorage
internal import Synchronization

/// A backend that keeps its ledger open from one operation to the next.
///
/// An operation takes the open ledger and returns it at its end, so no two threads use it at once. If the ledger is
/// taken, another operation opens its own.
///
/// Use it for one login or one command only. While the ledger is open, other processes cannot remove its write-ahead
/// log when they close it.
final class KeptLedger: LoginBackend {
    /// No two threads use the ledger at once: it is in here, or one operation has it.
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

    /// Attack: an attacker replaces the open ledger while a server is asked. An attempt must be written to the file
    /// that the next process finds. So a ledger that is not in place is closed.
    private func takeIdle() -> (any LedgerTables)? {
        let taken = idle.withLock { idle in
            defer { idle = Idle() }
            return idle
        }
        guard let ledger = taken.ledger, ledger.isInPlace else { return nil }
        return ledger
    }

    // MARK: - Calls passed on

    func loadDevice() throws(AuthError) -> DeviceKey? { try backend.loadDevice() }

    func makeDevice() throws(AuthError) -> DeviceKey { try backend.makeDevice() }

    func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks {
        try backend.marks(id, under: device)
    }

    func renameUnreadableLedger(at wall: Int64) throws(AuthError) -> DamagedFile? {
        // Closes the open ledger, because it is the old one.
        _ = takeIdle()
        return try backend.renameUnreadableLedger(at: wall)
    }

    func damagedLedgers() throws(AuthError) -> [String] { try backend.damagedLedgers() }
}

extension Authenticator {
    /// This authenticator, with a ledger that it opens once for all operations of one login.
    package func keepingLedger() -> Authenticator {
        guard !(backend is KeptLedger) else { return self }
        var same = self
        same.backend = KeptLedger(backend)
        return same
    }

    /// This authenticator, with other parameters for new credentials.
    package func stretching(with parameters: Argon2id.Parameters) -> Authenticator {
        var same = self
        same.parameters = parameters
        return same
    }
}
