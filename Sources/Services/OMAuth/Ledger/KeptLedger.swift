// The ledger of one verdict, opened once.

package import OMSecrets
internal import OMStorage
internal import Synchronization

/// A backend that keeps its ledger open from one operation to the next.
///
/// An operation takes the open ledger and gives it back at its end, so no two threads use it at once. An operation that finds
/// it taken opens one of its own.
///
/// For a short time only: while the ledger is open, other processes cannot fold its write-ahead log away at their end.
final class KeptLedger: LoginPlace {
    /// No two threads have it at once: it is in here, or one operation has it.
    private struct Idle: @unchecked Sendable {
        var ledger: (any LedgerTables)?
    }

    private let place: any LoginPlace
    private let idle = Mutex(Idle())

    init(_ place: any LoginPlace) { self.place = place }

    func openLedger() throws(AuthError) -> (any LedgerTables)? {
        if let ledger = takeIdle() { ledger } else { try place.openLedger() }
    }

    func makeLedger() throws(AuthError) -> any LedgerTables {
        if let ledger = takeIdle() { ledger } else { try place.makeLedger() }
    }

    func giveBack(_ ledger: any LedgerTables) {
        let given = Idle(ledger: ledger)
        idle.withLock { if $0.ledger == nil { $0 = given } }
    }

    /// Attack: another ledger is put in the place of the open one while a server is asked. What an attempt writes belongs into
    /// the file that the next process finds.
    private func takeIdle() -> (any LedgerTables)? {
        let taken = idle.withLock { idle in
            defer { idle = Idle() }
            return idle
        }
        guard let ledger = taken.ledger, ledger.isInPlace else { return nil }
        return ledger
    }

    // MARK: - As the backend does

    func loadDevice() throws(AuthError) -> DeviceKey? { try place.loadDevice() }

    func makeDevice() throws(AuthError) -> DeviceKey { try place.makeDevice() }

    func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks {
        try place.marks(id, under: device)
    }

    func setUnreadableAside(at wall: Int64) throws(AuthError) -> SetAside? {
        // The open one goes: it would be the ledger of before.
        _ = takeIdle()
        return try place.setUnreadableAside(at: wall)
    }

    func setAside() throws(AuthError) -> [String] { try place.setAside() }
}

extension Authenticator {
    /// The same, with a ledger that is opened once for all operations of one verdict.
    package func keepingLedger() -> Authenticator {
        guard !(places is KeptLedger) else { return self }
        var same = self
        same.places = KeptLedger(places)
        return same
    }

    /// The same, with other parameters for new credentials.
    package func stretching(with parameters: Argon2id.Parameters) -> Authenticator {
        var same = self
        same.parameters = parameters
        return same
    }
}
