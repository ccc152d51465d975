import OMStorage
import OMSystem

@testable import OMAuth

/// A real history of one login, and the model beside it.
final class ModelWorld<Site: ModelSite> {
    private let site: Site
    private let clock: TestClock
    private var model = ReferenceModel()
    private var keeper = SessionKeeper()
    private var photograph: ReferenceModel?
    private let isSkewed: Bool

    /// - Parameter isSkewed: gives the model one wrong rule.
    init(_ site: Site, _ clock: TestClock, _ isSkewed: Bool) {
        (self.site, self.clock, self.isSkewed) = (site, clock, isSkewed)
    }

    /// - Returns: Nil if the step matched the model.
    func take(_ step: ModelTests.Step) -> String? {
        do { return try carryOut(step) } catch { return "\(step): \(error)" }
    }

    private func carryOut(_ step: ModelTests.Step) throws -> String? {
        switch step {
        case .attempt(let verb, let mode, let power): return try attempt(verb, mode, power)
        case .net(let net): model.settings.net = net
        case .serverPassword(let password): model.settings.serverPassword = password
        case .limit(let limit): model.settings.limit = limit
        case .strict(let isStrict): model.settings.isStrict = isStrict
        case .lockout(let locksOut): model.settings.locksOut = locksOut
        case .delay(let hasDelay): model.settings.hasDelay = hasDelay
        case .allowed(let isAllowed): model.settings.isAllowed = isAllowed
        case .serverPolicy(let epoch, let limit, let allowed):
            model.settings.policy = ServerPolicy(epoch: Int64(epoch), offlineAuthAllowed: allowed, maxLoginAttempts: limit)
        case .noServerPolicy: model.settings.policy = nil
        case .policyURL(let isThere): model.settings.wantsPolicy = isThere
        case .remember(let policy): model.settings.remember = policy
        case .times(let idle, let session, let survives):
            (model.settings.idle, model.settings.session, model.settings.survivesRestart) = (idle, session, survives)
        case .advance(let seconds):
            clock.advance(wall: seconds, boot: seconds)
            model.expire(clock.read())
            if let event = keeper.expire(at: clock.read()) { try site.end(after: event, model.settings) }
        case .wall(let seconds): clock.advance(wall: seconds)
        case .reboot, .agentEnds:
            if step == .reboot { clock.reboot() }
            keeper.restart(at: clock.read())
            model.endAgent(isReboot: step == .reboot)
        case .photograph:
            try site.photograph()
            photograph = model
        case .restoreLedger:
            guard let photograph else { break }
            try site.restoreLedger()
            try restored(photograph)
        case .restoreAll:
            guard let photograph else { break }
            try site.restoreAll()
            let (settings, session) = (model.settings, model.session)
            model = photograph
            (model.settings, model.session) = (settings, session)
        case .logout(let isCleared):
            let event = isCleared ? ClearingEvent.logoutClear : .logout
            try site.end(after: event, model.settings)
            keeper.follow(event)
            model.logOut(clear: isCleared, reading)
        case .remove:
            try site.remove(model.settings)
            keeper.follow(.logoutClear)
            model.remove()
            if site.hasLedger { model.hasLedger = true }
        }
        return try difference(after: step)
    }

    /// An older row, or another row of the same age, was put back. A row newer than its mark is accepted.
    private func restored(_ then: ReferenceModel) throws {
        (model.hasLedger, model.row, model.remembered, model.seen) = (then.hasLedger, then.row, then.remembered, then.seen)
        let (mark, bytes) = (try site.mark(), try site.rowBytes())
        guard let bytes else {
            model.isRolledBack = mark.map { !$0.digest.allSatisfy { $0 == 0 } } ?? false
            return
        }
        let generation = bytes[49..<57].reduce(0) { $0 << 8 | UInt64($1) }
        guard let mark else {
            model.isRolledBack = true
            return
        }
        model.isRolledBack =
            generation < mark.generation || generation == mark.generation && Array(bytes.suffix(32)) != mark.digest
    }

    private func attempt(_ verb: ModelTests.Verb, _ mode: ConnectivityMode?, _ power: Int?) throws -> String? {
        let step = ModelTests.Step.attempt(verb, mode, power: power)
        let slot = try site.row()?.verifier
        var expected = model
        let meant = expected.attempt(verb, mode, reading)
        let words = Said(meant.ending, told: meant.told)
        if isSkewed, case .refused(.wrongPassword)? = meant.ending, let skewed = expected.row {
            expected.row = skewed.skewed
        }
        if case .login(_, nil) = verb, mode == nil, keeper.answers(at: clock.read()) {
            model = expected
            return words.mode == .session ? try difference(after: step) : "\(step): the session answered, meant: \(words)"
        }
        let outcome = try site.attempt(verb, mode, model.settings, power: power)
        guard power != nil else {
            model = expected
            for event in outcome.events { keeper.follow(event) }
            // A check keeps no session.
            if case .login = verb, outcome.said?.mode != .refused {
                keeper.keep(try model.settings.profile().sessionLimits, at: clock.read())
            }
            guard outcome.said == words else {
                return "\(step): \(String(describing: outcome.said)), meant: \(words)"
            }
            return try difference(after: step)
        }
        return try afterCut(outcome, words, expected, slot, step)
    }

    /// The power went at some write, or later. The remaining state occurs within the whole step, every check has
    /// its charge, and no login succeeds wrongly. The agent got no message.
    private func afterCut(
        _ outcome: Outcome, _ meant: Said, _ expected: ReferenceModel, _ slot: LoginRow.StoredVerifier?,
        _ step: ModelTests.Step
    ) throws -> String? {
        // The next operation finishes delayed work.
        try site.finish()
        let (found, remembered) = (try found(), try site.remembered(model.settings))
        let said = outcome.said
        switch said?.mode {
        case .offline: if said != meant { return "\(step): \(String(describing: said)), meant: \(meant)" }
        case .online: if meant.mode != .online { return "\(step): \(String(describing: said)), meant: \(meant)" }
        case .session: return "\(step): a session answered"
        case .refused, nil: break
        }
        // A rolled-back row stays one until it is written.
        if found.isRolledBack, !model.isRolledBack { return "\(step): rolled back by a cut" }
        let state = expected.passed.last { state in
            state.remembered == remembered
                && (found.isRolledBack ? state.writes == 0 : Self.agree(state.row, found.row))
        }
        guard let state else {
            return "\(step): left \(String(describing: found.row)) and \(remembered), may be \(expected.passed)"
        }
        if outcome.checks > state.writes { return "\(step): \(outcome.checks) checks, \(state.writes) writes" }
        model.remembered = remembered
        if !found.isRolledBack {
            // Two passwords may leave rows that look alike. The same slot still belongs to the same password.
            let password = model.row?.password
            (model.row, model.isRolledBack) = (state.row, false)
            if let password, let slot, slot == (try site.row()?.verifier) {
                model.row?.password = password
            } else if let password = expected.row?.password {
                model.row?.password = password
            }
        }
        model.hasLedger = site.hasLedger
        return nil
    }

    private func difference(after step: ModelTests.Step) throws -> String? {
        let (found, remembered) = (try found(), try site.remembered(model.settings))
        let (meant, standing) = (model.standing(clock.read()), keeper.state(at: clock.read()))
        if standing != meant { return "\(step): the session is \(standing), meant: \(meant)" }
        if remembered != model.remembered { return "\(step): \(remembered), meant: \(model.remembered)" }
        guard found.isRolledBack == model.isRolledBack else {
            return "\(step): rolled back \(found.isRolledBack), meant: \(model.isRolledBack)"
        }
        guard !found.isRolledBack, !Self.agree(model.row, found.row) else { return nil }
        return "\(step): \(String(describing: found.row)), meant: \(String(describing: model.row))"
    }

    private func found() throws -> (row: ReferenceModel.Row?, isRolledBack: Bool) {
        do throws(AuthError) {
            return (try site.authenticRow().map { ReferenceModel.Row($0) }, false)
        } catch {
            guard error == .rolledBack else { throw error }
            return (nil, true)
        }
    }

    /// The readable part of a row does not include the password.
    private static func agree(_ meant: ReferenceModel.Row?, _ found: ReferenceModel.Row?) -> Bool {
        guard var meant, let found else { return meant == nil && found == nil }
        meant.password = found.password
        return meant == found
    }

    /// All times here are after 1970.
    private var reading: ClockReading {
        let now = clock.read()
        return ClockReading(wall: max(0, now.wall), sinceBoot: now.sinceBoot, bootID: now.bootID)
    }
}

extension ReferenceModel.Row {
    fileprivate init(_ row: LoginRow) {
        self.init(
            earliest: row.time.earliest, written: row.time.written, sinceBoot: row.time.sinceBoot, boot: row.time.bootID[0])
        kind =
            switch row.verifier {
            case .live: .live
            case .wiped, .wipePending: .wiped
            case .cleared, .clearPending: .cleared
            }
        (charged, failed, compares) = (Int(row.charged), Int(row.failed), Int(row.onlineCompares))
        (server, since, lastAttempt) = (row.server, max(row.enrolledAt, row.lastOnline), row.lastAttempt)
    }

    fileprivate var skewed: Self {
        var row = self
        row.failed = 0
        return row
    }
}
