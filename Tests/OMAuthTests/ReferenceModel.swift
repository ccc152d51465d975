import OMOnlineModel
import OMSystem

@testable import OMAuth

/// The expected results of a login, as simply as possible: no bytes, no keys, no files. Tests compare the real login
/// with it, step by step. This file has the cached credential; ReferenceLogin.swift has remembered data and the session.
struct ReferenceModel {
    enum Kind { case live, wiped, cleared }
    enum Net: CaseIterable { case up, blocked, forbidden, unreachable, late, untrusted, failed }

    /// The expected values of a row.
    struct Row: Equatable {
        var kind = Kind.live
        var password = 0
        var charged = 0, failed = 0, compares = 0
        var server: ServerPolicy?
        var since: Int64 = 0, lastAttempt: Int64 = 0
        var earliest: Int64, written: Int64, sinceBoot: Int64, boot: UInt8
    }

    struct Settings: Hashable {
        var isAllowed = true, limit = 2, isStrict = false, locksOut = false, hasDelay = false
        var maxAge: Int64 = 30 * 86_400
        /// The profile has a `ProfileURL`.
        var wantsPolicy = false
        var remember = RememberPolicy()
        var idle: Int64?, session: Int64?, survivesRestart = false
        var net = Net.up, serverPassword = 0
        var policy: ServerPolicy?
    }

    /// The state on the disk, and the number of writes of the row since the step began.
    struct State {
        let row: Row?
        let remembered: Remembered
        let writes: Int
    }

    var row: Row?
    var remembered = Remembered()
    var session: Session?
    var isRolledBack = false
    var hasLedger = false
    /// The server's policy for a login that was cleared since.
    var seen: ServerPolicy?
    /// The last check was the attempt that locked the login.
    private var hasLocked = false
    var settings = Settings()
    /// Every state of the last step. A power cut may leave any of them.
    var passed: [State] = []

    // MARK: - Policy and time

    private func isAllowed(_ server: ServerPolicy?) -> Bool { server?.offlineAuthAllowed ?? settings.isAllowed }
    private func limit(_ server: ServerPolicy?) -> Int {
        server?.maxLoginAttempts.map { min($0, 10) } ?? settings.limit
    }
    private func tolerated(_ server: ServerPolicy?) -> Int { limit(server) - (settings.isStrict ? 1 : 0) }

    private func elapsed(_ row: Row, _ clock: ClockReading) -> Int64? {
        clock.bootID[0] == row.boot ? max(0, clock.sinceBoot - row.sinceBoot) : nil
    }

    private func now(_ row: Row, _ clock: ClockReading) -> Int64 {
        max(clock.wall, row.earliest, elapsed(row, clock).map { row.written + $0 } ?? 0)
    }

    private func noted(_ row: Row, _ clock: ClockReading) -> Row {
        var row = row
        let now = now(row, clock), allowance = elapsed(row, clock) ?? clock.sinceBoot + 86_400
        row.earliest = max(row.earliest, min(now, row.earliest + allowance))
        (row.written, row.sinceBoot, row.boot) = (now, clock.sinceBoot, clock.bootID[0])
        return row
    }

    private func fresh(_ clock: ClockReading) -> Row {
        Row(
            since: clock.wall, earliest: clock.wall, written: clock.wall, sinceBoot: clock.sinceBoot, boot: clock.bootID[0]
        )
    }

    private mutating func write(_ new: Row) {
        row = new
        passed.append(State(row: new, remembered: remembered, writes: (passed.last?.writes ?? 0) + 1))
    }

    /// The remembered data was written.
    mutating func noteRemembered() {
        passed.append(State(row: row, remembered: remembered, writes: passed.last?.writes ?? 0))
    }

    // MARK: - Offline

    /// Nil if the password is right.
    private mutating func check(_ password: Int, _ clock: ClockReading) -> AuthError? {
        hasLocked = false
        if isRolledBack { return .rolledBack }
        guard var row else { return .noCredential }
        switch row.kind {
        case .wiped: return .wiped(isFinished: true)
        case .cleared: return isAllowed(row.server) ? .noCredential : .offlineNotAllowed
        case .live: break
        }
        guard isAllowed(row.server) else { return .offlineNotAllowed }
        let tolerated = tolerated(row.server)
        if row.failed > tolerated {
            if settings.locksOut { return .lockedOut }
            row.kind = .wiped
            takeAway(after: .limitExceeded)
            write(noted(row, clock))
            return .wiped(isFinished: true)
        }
        if row.charged > tolerated { return .lockedOut }
        if now(row, clock) > row.since + settings.maxAge {
            write(noted(row, clock))
            return .expired(since: row.since + settings.maxAge)
        }
        if settings.hasDelay, row.charged > 0 {
            let passed =
                elapsed(row, clock).map { row.written - row.lastAttempt + $0 } ?? now(row, clock) - row.lastAttempt
            let left = min(3_600, 30 << Int64(min(row.charged - 1, 12))) - max(0, passed - 1)
            if left > 0 { return .delayed(seconds: left) }
        }
        row.lastAttempt = now(row, clock)
        row.charged += 1
        row = noted(row, clock)
        write(row)
        if password == row.password {
            (row.charged, row.failed) = (0, 0)
            write(noted(row, clock))
            return nil
        }
        row.failed = min(row.failed + 1, row.charged)
        let isExceeded = row.failed > tolerated
        if isExceeded, !settings.locksOut { row.kind = .wiped }
        takeAway(after: isExceeded ? .limitExceeded : .wrongOffline)
        write(noted(row, clock))
        hasLocked = isExceeded && settings.locksOut
        if isExceeded { return settings.locksOut ? .lockedOut : .attemptsExceeded(isFinished: true) }
        return .wrongPassword(
            attemptsLeft: max(0, tolerated - row.charged), consequence: settings.locksOut ? .lockout : .wipe)
    }

    // MARK: - Online

    private func answer(_ password: Int) -> OnlineRefusal? {
        switch settings.net {
        case .up: password == settings.serverPassword ? nil : .rejected
        case .blocked: .blocked
        case .forbidden: .forbidden(.status)
        case .unreachable: .unreachable(.refused)
        case .late: .unreachable(.timedOut)
        case .untrusted: .untrusted(.certificate)
        case .failed: .failed(.serverError, status: 500)
        }
    }

    private mutating func accept(_ password: Int, _ clock: ClockReading) -> Ending {
        let offered = settings.policy, isMissing = settings.wantsPolicy && offered == nil
        if offered == nil, !isMissing, !isAllowed(nil), !hasLedger { return .online(notCached: .offlineNotAllowed) }
        hasLedger = true
        let old = isRolledBack ? nil : row
        var server = old?.server
        if offered != nil || isMissing { server = Self.followed(server, by: seen) }
        // An earlier credential is neither renewed nor deleted.
        if isMissing, server == nil { return .online(notCached: .policyMissing(.notAsked)) }
        server = Self.followed(server, by: offered)
        if !isAllowed(server), old == nil, server == nil { return .online(notCached: .offlineNotAllowed) }
        if isAllowed(server), var tried = old, tried.kind == .live, tried.charged <= tolerated(server),
            tried.failed <= tolerated(server)
        {
            tried.charged += 1
            write(noted(tried, clock))
        }
        var new = old.map { noted($0, clock) } ?? fresh(clock)
        (new.kind, new.password, new.server) = (isAllowed(server) ? .live : .cleared, password, server)
        (new.charged, new.failed, new.compares, new.lastAttempt, new.since) = (0, 0, 0, 0, new.earliest)
        isRolledBack = false
        write(new)
        return .online(notCached: isAllowed(server) ? nil : .offlineNotAllowed)
    }

    private static func followed(_ known: ServerPolicy?, by said: ServerPolicy?) -> ServerPolicy? {
        guard let said else { return known }
        guard var known, said.epoch <= known.epoch else { return said }
        guard said.epoch == known.epoch else { return known }
        if said.offlineAuthAllowed == false { known.offlineAuthAllowed = false }
        if let few = said.maxLoginAttempts, few < known.maxLoginAttempts ?? 0 { known.maxLoginAttempts = few }
        return known
    }

    private mutating func settle(_ refusal: OnlineRefusal, _ password: Int, _ clock: ClockReading) {
        let live = isRolledBack || row?.kind != .live ? nil : row
        var event: ClearingEvent
        switch refusal {
        case .blocked: event = .blocked
        case .forbidden: event = .forbidden
        case .rejected:
            event = .rejectedOther
            if var compared = live, compared.compares < limit(compared.server) + 1 {
                compared.compares += 1
                write(noted(compared, clock))
                if compared.password == password { event = .rejectedCached }
            }
        default: return
        }
        takeAway(after: event)
        guard event == .blocked || event == .rejectedCached, live != nil, var cleared = row else { return noteRemembered() }
        cleared.kind = .cleared
        write(noted(cleared, clock))
    }

    // MARK: - Both

    /// One password, submitted once.
    mutating func submit(_ password: Int, _ mode: ConnectivityMode, _ clock: ClockReading) -> Ending {
        var online: OnlineRefusal?
        if mode != .offline {
            guard let refusal = answer(password) else { return accept(password, clock) }
            guard mode == .auto, case .unreachable = refusal else {
                settle(refusal, password, clock)
                return .refused(.online(refusal))
            }
            online = refusal
        }
        guard isAllowed(isRolledBack ? nil : row?.server) else {
            return .refused(online.map { .online($0) } ?? .offlineNotAllowed)
        }
        guard let error = check(password, clock) else { return .offline(online) }
        switch error {
        case .attemptsExceeded(let isFinished, _):
            if let online { return .refused(.attemptsExceeded(isFinished: isFinished, online: online)) }
            guard let refusal = answer(password) else { return accept(password, clock) }
            settle(refusal, password, clock)
            return .refused(.attemptsExceeded(isFinished: isFinished, online: refusal))
        case .wrongPassword: return .refused(error)
        case .lockedOut where hasLocked: return .refused(error)
        default: return .refused(online.map { .neither(online: $0, offline: error) } ?? error)
        }
    }

    mutating func logOut(clear: Bool, _ clock: ClockReading) {
        guard clear, hasLedger else { return takeAway(after: clear ? .logoutClear : .logout) }
        if !isRolledBack, let said = row?.server { seen = Self.followed(seen, by: said) }
        remove()
    }

    /// The number of wrong answers that a login with a prompter accepts.
    var mostAnswers: Int { limit(isRolledBack ? nil : row?.server) }

    /// `login rm`
    mutating func remove() {
        takeAway(after: .logoutClear)
        (row, isRolledBack) = (nil, false)
    }
}
