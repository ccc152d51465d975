import OMOnlineModel
import OMSecrets
import Synchronization

@testable import OMAuth

let origin = "https://login.example:443"

/// A test's changes of a profile with a server.
struct ProfileSettings {
    var serverOrigin = origin
    var limitMode = LimitMode.exceeds
    var attemptDelay: Int64 = 0
    var clockRollback = ClockRollback.judge
    var connectivityMode = ConnectivityMode.auto
    var offlineOnUntrustedServer = false
    var offlineOnServerError = false
    var collectIdentityDomain = false
    var idleTimeOut: Int64?
    var sessionTimeOut: Int64?
    var percentageToIdleTimeout = 10
    var sessionActiveOnRestart = false
    var hasPolicyURL = false
    var applicationName: String?
    var remember = (autoLogin: RememberOption(), credentials: RememberOption(), userName: RememberOption())
    var ceiling = PolicyCeiling.none

    fileprivate var values: [String: ProfileValue] {
        var values: [String: ProfileValue] = [
            "LimitMode": .text(limitMode.rawValue), "AttemptDelay": .number("\(attemptDelay)"),
            "ClockRollback": .text(clockRollback.rawValue), "ConnectivityMode": .text(connectivityMode.rawValue),
            "OfflineOnUntrustedServer": .bool(offlineOnUntrustedServer),
            "OfflineOnServerError": .bool(offlineOnServerError),
            "CollectIdentityDomain": .bool(collectIdentityDomain),
            "PercentageToIdleTimeout": .number("\(percentageToIdleTimeout)"),
            "SessionActiveOnRestart": .bool(sessionActiveOnRestart),
            "AutoLoginAllowed": .bool(remember.autoLogin.isAllowed),
            "AutoLoginDefault": .bool(remember.autoLogin.isDefault),
            "RememberCredentialsAllowed": .bool(remember.credentials.isAllowed),
            "RememberCredentialDefault": .bool(remember.credentials.isDefault),
            "RememberUsernameAllowed": .bool(remember.userName.isAllowed),
            "RememberUsernameDefault": .bool(remember.userName.isDefault),
        ]
        if hasPolicyURL { values["ProfileURL"] = .text("\(serverOrigin)/profile") }
        if let applicationName { values["ApplicationName"] = .text(applicationName) }
        if let idleTimeOut { values["IdleTimeOutValue"] = .number("\(idleTimeOut)") }
        if let sessionTimeOut { values["SessionTimeOutValue"] = .number("\(sessionTimeOut)") }
        return values
    }
}

/// A profile with a server. All tests make such a profile here.
///
/// - Parameter maxAge: nil if it never expires.
func serverProfile(
    _ attempts: Int = 3, allowed: Bool = true, _ consequence: OnAttemptsExceeded = .wipe, maxAge: Int64? = nil,
    _ change: (inout ProfileSettings) -> Void = { _ in }
) throws -> Profile {
    var settings = ProfileSettings()
    change(&settings)
    let values: [String: ProfileValue] = [
        "AuthServerType": .text("HTTPBasicAuthentication"), "LoginURL": .text("\(settings.serverOrigin)/login"),
        "LogoutURL": .text("\(settings.serverOrigin)/logout"), "OfflineAuthAllowed": .bool(allowed),
        "MaxLoginAttempts": .number(String(attempts)), "OnAttemptsExceeded": .text(consequence.rawValue),
        "OfflineCredentialMaxAge": .number(String(maxAge ?? 0)),
    ]
    return try Profile(ProfileName("work"), values: values.merging(settings.values) { $1 }, ceiling: settings.ceiling)
}

/// A test server: it gives the test's answers, and counts.
final class TestProvider: Provider {
    enum Answer: Sendable {
        case yes(ServerPolicy?, Int64?)
        /// Yes, but no policy, for this reason.
        case yesWithout(PolicyProblem)
        case no(OnlineRefusal)
    }

    private let answer: @Sendable (ProviderQuestion, [UInt8]) -> Answer
    private let count = Atomic(0)

    var asked: Int { count.load(ordering: .relaxed) }

    init(_ answer: @escaping @Sendable (ProviderQuestion, [UInt8]) -> Answer) { self.answer = answer }

    /// Accepts one password, and answers 401 to all others.
    convenience init(knowing password: String, policy: ServerPolicy? = nil, time: Int64? = nil) {
        self.init { _, typed in typed == Array(password.utf8) ? .yes(policy, time) : .no(.rejected) }
    }

    convenience init(_ refusal: OnlineRefusal) { self.init { _, _ in .no(refusal) } }

    func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking: any LoginPrompter,
        cancellation: Cancellation
    ) -> ProviderAnswer {
        count.wrappingAdd(1, ordering: .relaxed)
        let typed = password.bytes.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        return switch answer(login, typed) {
        case .yes(let policy, let time): .accepted(policy: policy, serverTime: time, session: nil)
        case .yesWithout(let gap): .accepted(policy: nil, policyProblem: gap, serverTime: nil, session: nil)
        case .no(let refusal): .refused(refusal)
        }
    }
}

/// The end of a login in a test.
enum Ending: Hashable {
    case online(notCached: AuthError?)
    case offline(OnlineRefusal?)
    case refused(AuthError)
}

extension Authenticator {
    func end(
        _ password: String, _ profile: Profile, _ mode: ConnectivityMode = .auto, user: UserName = ada,
        domain: IdentityDomain = .none, asking provider: (any Provider)?, _ cancellation: Cancellation = Cancellation()
    ) -> Ending {
        do throws(AuthError) {
            let request = LoginRequest(user, profile, domain: domain, mode: mode)
            let receipt = try login(
                request, password: Password(password), asking: provider, cancellation: cancellation)
            switch receipt.details.mode {
            case .online(let reason): return .online(notCached: reason)
            case .offline(let online): return .offline(online)
            }
        } catch { return .refused(error) }
    }
}

/// Replaces the stretch in a hundred thousand steps: Argon2id once for each password, then bound to the whole recipe. So
/// another recipe gives another key, as with the stretch. It leaves out the recipe's cost and scheme.
final class StretchCache: Sendable {
    private let derivation = SlotKeyDerivation(.saltedSHA512, .floor)
    private let keys = Mutex<[[UInt8]: Kept]>([:])

    private final class Kept: Sendable {
        let key: Key<Unlocking>
        init(_ key: consuming Key<Unlocking>) { self.key = key }
    }

    func stretch(_ derivation: SlotKeyDerivation, _ password: borrowing Password) throws(AuthError) -> Key<Unlocking> {
        let context = Context(.loginSlot, .bytes(derivation.encoded))
        let bytes = password.bytes.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        if let kept = keys.withLock({ $0[bytes] }) { return kept.key.derive(context) }
        let kept = Kept(try self.derivation.stretch(password))
        keys.withLock { $0[bytes] = kept }
        return kept.key.derive(context)
    }

    static let shared = StretchCache()
}

extension MemoryLoginBackend {
    func authenticator(
        clock: TestClock = TestClock(),
        onCheck: @escaping @Sendable (LoginRow) -> Void = { _ in }
    ) -> Authenticator {
        Authenticator(
            self, .floor, clock: clock.read,
            stretch: { (derivation, password) throws(AuthError) in try StretchCache.shared.stretch(derivation, password) },
            reached: { if case .checking(let row) = $0 { onCheck(row) } })
    }

    func row(_ profile: Profile, _ user: UserName = ada) throws -> LoginRow? {
        guard let device = try loadDevice() else { return nil }
        let id = LoginKey(user, profile).id(under: device)
        return try disk.rows[id].map { bytes in try LoginRow(bytes, under: id, device) }
    }
}

extension LoginRow {
    var isLive: Bool { if case .live = verifier { true } else { false } }
}

final class Counter: Sendable {
    private let number = Atomic(0)
    var count: Int { number.load(ordering: .relaxed) }
    func add() { number.wrappingAdd(1, ordering: .relaxed) }
}
