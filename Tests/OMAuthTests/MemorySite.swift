import OMRecords
import OMStorage

@testable import OMAuth

/// Where a history of logins takes place.
protocol ModelSite: AnyObject {
    var hasLedger: Bool { get }
    /// How each login ended in words, and how many checks were made, where that can be seen. nil: it was cut short.
    func logIn(
        _ mode: ConnectivityMode, _ password: Int, _ settings: ReferenceModel.Settings, power: Int?
    ) throws -> (said: Said?, checks: Int)
    func logOut(clear: Bool, _ settings: ReferenceModel.Settings) throws
    func remove(_ settings: ReferenceModel.Settings) throws
    /// What was cut short is finished, as by any other operation.
    func finish() throws
    /// The row as the product judges it.
    func judged() throws(AuthError) -> LoginRow?
    /// The row and the mark as they stand there.
    func rowBytes() throws -> [UInt8]?
    func row() throws -> LoginRow?
    func mark() throws -> HighWaterMark?
    func photograph() throws
    /// Puts the ledger back as it was photographed.
    func restoreLedger() throws
    func restoreAll() throws
}

/// How a login ended, in words that two processes can compare.
struct Said: Equatable {
    enum Way: String { case online, offline, refused }

    let way: Way
    let text: String
}

extension Said {
    init(_ ending: Ending) {
        switch ending {
        case .online(let reason): self.init(way: .online, text: reason.map { "\($0)" } ?? "nil")
        case .offline(let online): self.init(way: .offline, text: online.map { "\($0)" } ?? "nil")
        case .refused(let error): self.init(way: .refused, text: "\(error)")
        }
    }
}

extension ReferenceModel.Settings {
    func profile() throws -> Profile {
        try serverProfile(limit, allowed: isAllowed, locksOut ? .lockout : .wipe, maxAge: maxAge) {
            $0.limitMode = isStrict ? .strict : .exceeds
            $0.attemptDelay = hasDelay ? 30 : 0
        }
    }
}

/// The product's own code over a memory whose power can be cut at every write.
final class MemorySite: ModelSite {
    private let place = MemoryPlace(), checks = Counter()
    private let authenticator: Authenticator
    private let id: LoginID
    private var kept: MemoryPlace.Disk?

    init(_ clock: TestClock) throws {
        let checks = checks
        authenticator = place.authenticator(clock: clock, onCheck: { _ in checks.add() })
        id = LoginKey(ada, try ReferenceModel.Settings().profile()).id(under: try place.makeDevice())
    }

    var hasLedger: Bool { place.disk.hasLedger }

    func logIn(
        _ mode: ConnectivityMode, _ password: Int, _ settings: ReferenceModel.Settings, power: Int?
    ) throws -> (said: Said?, checks: Int) {
        let before = checks.count
        let provider = TestProvider { _, typed in
            switch settings.net {
            case .up:
                typed == Array("password \(settings.serverPassword)".utf8) ? .yes(settings.policy, nil) : .no(.rejected)
            case .blocked: .no(.blocked)
            case .forbidden: .no(.forbidden(.status))
            case .unreachable: .no(.unreachable(.refused))
            case .untrusted: .no(.untrusted(.certificate))
            case .failed: .no(.failed(.serverError, status: 500))
            }
        }
        place.power = power
        let ending = authenticator.end("password \(password)", try settings.profile(), mode, asking: provider)
        place.power = nil
        return (Said(ending), checks.count - before)
    }

    func logOut(clear: Bool, _ settings: ReferenceModel.Settings) throws {
        try authenticator.end(ada, try settings.profile(), after: clear ? .logoutClear : .logout)
    }

    func remove(_ settings: ReferenceModel.Settings) throws {
        let profile = try settings.profile()
        _ = try? authenticator.remove(ada, profile.name, server: profile.serverIdentity)
    }

    func finish() throws { _ = try authenticator.status([]) }

    func judged() throws(AuthError) -> LoginRow? { try authenticator.judged(id) { try mark() } }

    func rowBytes() throws -> [UInt8]? { place.disk.rows[id] }

    func row() throws -> LoginRow? {
        guard let device = try place.loadDevice() else { return nil }
        guard let bytes = try rowBytes() else { return nil }
        return try LoginRow(bytes, under: id, device)
    }

    func mark() throws -> HighWaterMark? { place.disk.marks[id]?.first }

    func photograph() throws { kept = place.disk }

    func restoreLedger() throws {
        guard let kept else { return }
        (place.disk.rows, place.disk.hasLedger) = (kept.rows, kept.hasLedger)
        // Judged against the marks as they are now, not as a later power cut leaves them.
        place.disk.unsynced = [:]
    }

    func restoreAll() throws {
        guard let kept else { return }
        place.disk = kept
    }
}

extension Authenticator {
    /// The row as it is judged; where the whole ledger is gone, the mark says whether it should be there.
    func judged(_ id: LoginID, _ mark: () throws -> HighWaterMark?) throws(AuthError) -> LoginRow? {
        if let store = try openAny() { return try store.load(id) }
        guard (try? mark())?.isVacant ?? true else { throw .rolledBack }
        return nil
    }
}
