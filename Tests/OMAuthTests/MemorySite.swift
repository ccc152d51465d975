import OMOnlineModel
import OMSecrets
import OMStorage

@testable import OMAuth

/// The place of a history of logins: memory or files.
protocol ModelSite: AnyObject {
    var hasLedger: Bool { get }
    func attempt(
        _ verb: ModelTests.Verb, _ mode: ConnectivityMode?, _ settings: ReferenceModel.Settings, power: Int?
    ) throws -> Outcome
    /// Deletes what the end of a session deletes.
    func end(after event: ClearingEvent, _ settings: ReferenceModel.Settings) throws
    func remove(_ settings: ReferenceModel.Settings) throws
    /// Finishes interrupted work, as any other operation does.
    func finish() throws
    /// The row as the product reads it.
    func authenticRow() throws(AuthError) -> LoginRow?
    func remembered(_ settings: ReferenceModel.Settings) throws -> ReferenceModel.Remembered
    /// The stored row and mark.
    func rowBytes() throws -> [UInt8]?
    func row() throws -> LoginRow?
    func mark() throws -> HighWaterMark?
    func photograph() throws
    /// Puts an earlier copy of the ledger back.
    func restoreLedger() throws
    func restoreAll() throws
}

/// The result of a step.
struct Outcome {
    /// Nil if the step was interrupted.
    var said: Said?
    /// The number of checks, if it is visible.
    var checks = 0
    /// The events, derived from the refusals.
    var events: [ClearingEvent] = []
}

/// The end of a login, in words that two processes can compare.
struct Said: Equatable {
    enum Way: String { case online, offline, session, refused }

    let mode: Way
    let text: String
}

extension Said {
    /// - Parameter told: the earlier refusals that the prompter got.
    init(_ ending: Ending?, told: [AuthError]) {
        let after = told.map { ", after \($0)" }.joined()
        switch ending {
        case .online(let reason)?: self.init(mode: .online, text: (reason.map { "\($0)" } ?? "nil") + after)
        case .offline(let online)?: self.init(mode: .offline, text: (online.map { "\($0)" } ?? "nil") + after)
        case .refused(let error)?: self.init(mode: .refused, text: "\(error)" + after)
        case nil: self.init(mode: .session, text: after)
        }
    }
}

extension ReferenceModel.Settings {
    func profile() throws -> Profile {
        try serverProfile(limit, allowed: isAllowed, locksOut ? .lockout : .wipe, maxAge: maxAge) {
            $0.limitMode = isStrict ? .strict : .exceeds
            $0.attemptDelay = hasDelay ? 30 : 0
            $0.hasPolicyURL = wantsPolicy
            $0.remember = (remember.autoLogin, remember.credentials, remember.userName)
            ($0.idleTimeOut, $0.sessionTimeOut, $0.sessionActiveOnRestart) = (idle, session, survivesRestart)
        }
    }
}

/// The product's own code over a memory whose power can be cut at every write.
final class MemorySite: ModelSite {
    private let place = MemoryLoginBackend(), checks = Counter()
    private let authenticator: Authenticator
    private let id: LoginID
    private var kept: MemoryLoginBackend.Disk?
    /// The last key in use. Reading it again at each step would take as long as the step.
    private var read: (settings: ReferenceModel.Settings, profile: Profile)?

    init(_ clock: TestClock) throws {
        let checks = checks
        authenticator = place.authenticator(clock: clock, onCheck: { _ in checks.add() })
        id = LoginKey(ada, try ReferenceModel.Settings().profile()).id(under: try place.makeDevice())
    }

    var hasLedger: Bool { place.disk.hasLedger }

    func attempt(
        _ verb: ModelTests.Verb, _ mode: ConnectivityMode?, _ settings: ReferenceModel.Settings, power: Int?
    ) throws -> Outcome {
        let before = checks.count, profile = try profile(settings)
        let provider = TestProvider { _, typed in
            switch settings.net {
            case .up:
                typed == Array("password \(settings.serverPassword)".utf8) ? .yes(settings.policy, nil) : .no(.rejected)
            case .blocked: .no(.blocked)
            case .forbidden: .no(.forbidden(.status))
            case .unreachable: .no(.unreachable(.refused))
            case .late: .no(.unreachable(.timedOut))
            case .untrusted: .no(.untrusted(.certificate))
            case .failed: .no(.failed(.serverError, status: 500))
            }
        }
        let person = Person(verb), ending: Ending
        place.power = power
        switch verb {
        case .check(let password):
            ending = authenticator.end("password \(password)", profile, mode ?? .auto, asking: provider)
        case .login(_, let wish):
            ending = authenticator.end(profile, mode, prompting: person, asking: provider, wish?.preferences)
        }
        place.power = nil
        var errors = person.told
        if case .refused(let error) = ending { errors.append(error) }
        return Outcome(
            said: Said(ending, told: person.told), checks: checks.count - before, events: errors.compactMap(\.clearing))
    }

    func end(after event: ClearingEvent, _ settings: ReferenceModel.Settings) throws {
        try authenticator.end(ada, try profile(settings), after: event)
    }

    func remove(_ settings: ReferenceModel.Settings) throws {
        _ = try? authenticator.remove(ada, try profile(settings).name, server: try profile(settings).serverIdentity)
    }

    private func profile(_ settings: ReferenceModel.Settings) throws -> Profile {
        // The server's part does not belong to it.
        var wanted = settings
        (wanted.net, wanted.serverPassword, wanted.policy) = (.up, 0, nil)
        if let read, read.settings == wanted { return read.profile }
        let made = try wanted.profile()
        read = (wanted, made)
        return made
    }

    func finish() throws { _ = try authenticator.status([]) }

    func authenticRow() throws(AuthError) -> LoginRow? { try authenticator.authenticRow(id) { try mark() } }

    func remembered(_ settings: ReferenceModel.Settings) throws -> ReferenceModel.Remembered {
        try authenticator.kept(profile(settings))
    }

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
        (place.disk.rows, place.disk.remembered, place.disk.hasLedger) = (kept.rows, kept.remembered, kept.hasLedger)
        // Compare with the marks as they are now, not as a later power cut leaves them.
        place.disk.unsynced = [:]
    }

    func restoreAll() throws {
        guard let kept else { return }
        place.disk = kept
    }
}

extension Authenticator {
    /// The row as the product reads it. If the whole ledger is gone, the mark says whether the row should exist.
    func authenticRow(_ id: LoginID, _ mark: () throws -> HighWaterMark?) throws(AuthError) -> LoginRow? {
        if let store = try openIfPresent() { return try store.load(id) }
        guard (try? mark())?.isVacant ?? true else { throw .rolledBack }
        return nil
    }
}

extension Authenticator {
    /// The remembered data, and which password it has.
    func kept(_ profile: Profile) throws -> ReferenceModel.Remembered {
        guard let store = try openIfPresent(), let key = try deviceRememberingKey(),
            let row = try store.remembered(Self.rememberedID(profile, store.device))
        else { return ReferenceModel.Remembered() }
        var found = ReferenceModel.Remembered(
            hasUser: row.user == ada, preferences: row.preferences, password: row.password == nil ? nil : -1,
            isArmed: row.isArmed)
        if let password = row.openPassword(with: key.key) {
            let digit = password.bytes.withBytes { $0[$0.count - 1] }
            found.password = Int(digit) - 48
        }
        return found
    }

    fileprivate func end(
        _ profile: Profile, _ mode: ConnectivityMode?, prompting person: Person, asking provider: any Provider,
        _ wanted: RememberPreferences?
    ) -> Ending {
        do throws(AuthError) {
            let receipt = try login(
                profile, mode: mode, prompting: person, asking: provider, remembering: deviceRememberingKey(),
                preferring: wanted)
            switch receipt.details.mode {
            case .online(let reason): return .online(notCached: reason)
            case .offline(let online): return .offline(online)
            }
        } catch { return .refused(error) }
    }
}

/// Answers once, and declines later questions.
private final class Person: LoginPrompter {
    private var answer: ModelTests.Answer
    private(set) var told: [AuthError] = []

    init(_ verb: ModelTests.Verb) {
        if case .login(let answer, _) = verb { self.answer = answer } else { answer = .none }
    }

    func input(for prompt: LoginPrompt) -> LoginInput? {
        if let refusal = prompt.refusal { told.append(refusal) }
        defer { answer = .none }
        switch answer {
        case .none: return nil
        case .remembered: return LoginInput(ada, .remembered)
        case .typed(let password): return LoginInput(ada, .typed(Password("password \(password)")))
        }
    }
}
