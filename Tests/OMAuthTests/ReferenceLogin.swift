import OMOnlineModel
import OMSystem

@testable import OMAuth

// `omvault login`, its remembered data and its session, after docs/reference/login.md, "What ends with what",
// "Remembered credentials" and "Sessions".
extension ReferenceModel {
    /// The state of the only user.
    struct Remembered: Equatable {
        var hasUser = false
        var preferences = RememberPreferences()
        var password: Int?
        /// The password may be submitted without a question.
        var isArmed = false
    }

    struct Session: Equatable {
        let idle: Int64?, limit: Int64?, survivesRestart: Bool
        let started: Int64
        var lastUse: Int64
    }

    /// The expected end of a step, and the earlier refusals that the prompter got.
    struct Meant {
        /// Nil if the session answered.
        let ending: Ending?
        var told: [AuthError] = []
    }

    // MARK: - Endings

    /// Without the cached credential, which the caller handles.
    mutating func takeAway(after event: ClearingEvent) {
        switch event {
        case .limitExceeded, .wrongOffline, .rejectedCached, .rejectedOther, .forbidden, .blocked:
            deletePassword()
            if remembered.hasUser { remembered.preferences.autoLogin = false }
        case .otherFailure, .idleTimeOut: break
        case .sessionTimeOut, .logout:
            deletePassword()
            session = nil
        case .logoutClear:
            // A choice without a user name belongs to no user.
            if remembered.hasUser { remembered = Remembered() }
            session = nil
        }
    }

    private mutating func deletePassword() { (remembered.password, remembered.isArmed) = (nil, false) }

    /// The refusals in the matrix end the session, for every verb.
    private mutating func follow(_ error: AuthError) {
        switch error {
        case .tooManyAttempts(let last): follow(last)
        case .online(.rejected), .online(.forbidden), .online(.blocked), .attemptsExceeded, .wiped, .lockedOut,
            .neither(_, .wiped), .neither(_, .lockedOut):
            session = nil
        default: break
        }
    }

    // MARK: - Sessions

    func standing(_ clock: ClockReading) -> SessionKeeper.Standing {
        guard let session else { return .none }
        guard let idle = session.idle, clock.sinceBoot - session.lastUse >= idle else { return .valid }
        return .idle
    }

    /// Time has passed, and the agent checks its sessions itself.
    mutating func expire(_ clock: ClockReading) {
        guard let session, let limit = session.limit, clock.sinceBoot - session.started >= limit else { return }
        takeAway(after: .sessionTimeOut)
    }

    /// The end of the agent deletes nothing else, and another boot ends every session.
    mutating func endAgent(isReboot: Bool) {
        if isReboot || session?.survivesRestart == false { session = nil }
    }

    private mutating func begin(_ clock: ClockReading) {
        session = Session(
            idle: settings.idle, limit: settings.session, survivesRestart: settings.survivesRestart,
            started: clock.sinceBoot, lastUse: clock.sinceBoot)
    }

    // MARK: - Verbs

    mutating func attempt(_ verb: ModelTests.Verb, _ mode: ConnectivityMode?, _ clock: ClockReading) -> Meant {
        passed = [State(row: row, remembered: remembered, writes: 0)]
        switch verb {
        case .check(let password):
            let ending = submit(password, mode ?? .auto, clock)
            if case .refused(let error) = ending { follow(error) }
            return Meant(ending: ending)
        case .login(let answer, let wish):
            if mode == nil, wish == nil, standing(clock) == .valid {
                session?.lastUse = clock.sinceBoot
                return Meant(ending: nil)
            }
            let meant = logIn(mode ?? .auto, answer, wish, clock)
            if case .refused(let error) = meant.ending { follow(error) } else { begin(clock) }
            return meant
        }
    }

    /// The auto login first, then a user who answers once and declines all later questions.
    private mutating func logIn(
        _ mode: ConnectivityMode, _ answer: ModelTests.Answer, _ wish: ModelTests.Wish?, _ clock: ClockReading
    ) -> Meant {
        deleteDisallowed()
        var (told, wrong): ([AuthError], Int) = ([], 0)
        func cancelled() -> Meant { Meant(ending: .refused(.cancelled), told: told) }
        if remembered.isArmed, choice == .autoLogin, let password = remembered.password {
            // The auto login is marked as used before it is submitted.
            remembered.isArmed = false
            noteRemembered()
            let ending = submit(password, mode, clock)
            guard case .refused(let error) = ending else { return remember(ending, password, wish) }
            guard error.asksAgain else {
                if error.wentNowhere { remembered.isArmed = remembered.password != nil }
                noteRemembered()
                return Meant(ending: ending)
            }
            // It counts as a wrong answer.
            wrong += 1
            if wrong >= mostAnswers { return Meant(ending: .refused(.tooManyAttempts(last: error))) }
            told.append(error)
            follow(error)
        }
        let password: Int
        switch answer {
        case .none: return cancelled()
        case .typed(let typed): password = typed
        case .remembered:
            guard choice == .autoLogin || choice == .credentials, let kept = remembered.password else {
                told.append(.noCredential)
                return cancelled()
            }
            password = kept
        }
        let ending = submit(password, mode, clock)
        guard case .refused(let error) = ending else {
            var meant = remember(ending, password, wish)
            meant.told = told
            return meant
        }
        guard error.asksAgain || error.isDelay else { return Meant(ending: ending, told: told) }
        if error.asksAgain, wrong + 1 >= mostAnswers {
            return Meant(ending: .refused(.tooManyAttempts(last: error)), told: told)
        }
        told.append(error)
        follow(error)
        return cancelled()
    }

    // MARK: - Remembering

    /// The first value that the profile allows and the user wants, or gets by default without a choice.
    private var choice: RememberChoice {
        func isOn(_ option: RememberOption, _ wanted: Bool?) -> Bool {
            option.isAllowed && (wanted ?? option.isDefault)
        }
        let (policy, wanted) = (settings.remember, remembered.preferences)
        if isOn(policy.autoLogin, wanted.autoLogin) { return .autoLogin }
        if isOn(policy.credentials, wanted.credentials) { return .credentials }
        return isOn(policy.userName, wanted.userName) ? .userName : .nothing
    }

    /// A login with a prompter first deletes what the profile no longer keeps.
    private mutating func deleteDisallowed() {
        let before = remembered, policy = settings.remember, wanted = remembered.preferences
        if choice != .autoLogin, choice != .credentials { remembered.password = nil }
        if choice != .autoLogin || remembered.password == nil { remembered.isArmed = false }
        let isNameAlone = wanted.autoLogin == false && wanted.credentials == false
        let keepsPasswords = policy.autoLogin.isAllowed || policy.credentials.isAllowed
        if !policy.userName.isAllowed, isNameAlone || !keepsPasswords { remembered.hasUser = false }
        if remembered != before { noteRemembered() }
    }

    private mutating func remember(_ ending: Ending, _ password: Int, _ wish: ModelTests.Wish?) -> Meant {
        if let wish { remembered.preferences = wish.preferences }
        remembered.hasUser = choice != .nothing
        remembered.password = choice == .autoLogin || choice == .credentials ? password : nil
        remembered.isArmed = choice == .autoLogin
        if wish != nil || choice != .nothing { hasLedger = true }
        noteRemembered()
        return Meant(ending: ending)
    }
}

extension AuthError {
    /// A wrong answer is asked for again.
    fileprivate var asksAgain: Bool {
        switch self {
        case .wrongPassword, .online(.rejected): true
        default: false
        }
    }

    fileprivate var isDelay: Bool { if case .delayed = self { true } else { false } }

    /// Nothing was sent and nothing charged.
    fileprivate var wentNowhere: Bool {
        switch self {
        case .online(let refusal): refusal == .unreachable(.refused) || refusal == .untrusted(.certificate)
        case .neither(let refusal, _): refusal == .unreachable(.refused)
        case .attemptsExceeded, .wrongPassword: false
        default: true
        }
    }
}
