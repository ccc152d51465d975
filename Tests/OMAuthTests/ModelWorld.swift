import OMRecords
import OMStorage

@testable import OMAuth

/// A history of one login where it really takes place, and the model beside it.
final class ModelWorld<Site: ModelSite> {
    private let site: Site
    private let clock: TestClock
    private var model = ReferenceModel()
    private var photograph: ReferenceModel?
    private let isSkewed: Bool

    /// - Parameter isSkewed: makes the model wrong about one thing.
    init(_ site: Site, _ clock: TestClock, _ isSkewed: Bool) {
        (self.site, self.clock, self.isSkewed) = (site, clock, isSkewed)
    }

    /// - Returns: nil: as it is meant to be.
    func take(_ step: ModelTests.Step) -> String? {
        do { return try carryOut(step) } catch { return "\(step): \(error)" }
    }

    private func carryOut(_ step: ModelTests.Step) throws -> String? {
        switch step {
        case .login(let mode, let password, let power): return try login(mode, password, power)
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
        case .advance(let seconds): clock.advance(wall: seconds, boot: seconds)
        case .wall(let seconds): clock.advance(wall: seconds)
        case .reboot: clock.reboot()
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
            let settings = model.settings
            model = photograph
            model.settings = settings
        case .logout(let isCleared):
            try site.logOut(clear: isCleared, model.settings)
            model.logout(clear: isCleared, reading)
        case .remove:
            try site.remove(model.settings)
            (model.row, model.isRolledBack) = (nil, false)
            if site.hasLedger { model.hasLedger = true }
        }
        return try difference(after: step)
    }

    /// An older row, or another one of the same age, was put back; one that is newer than its mark is accepted.
    private func restored(_ then: ReferenceModel) throws {
        (model.hasLedger, model.row) = (then.hasLedger, then.row)
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

    private func login(_ mode: ConnectivityMode, _ password: Int, _ power: Int?) throws -> String? {
        let slot = try site.row()?.credential
        var expected = model
        let meant = expected.login(mode, password, reading)
        if isSkewed, case .refused(.wrongPassword) = meant, let skewed = expected.row {
            expected.row = skewed.skewed
        }
        let (said, checks) = try site.logIn(mode, password, model.settings, power: power)
        guard power != nil else {
            model = expected
            guard said == Said(meant) else { return "\(mode) \(password): \(String(describing: said)), meant: \(meant)" }
            return try difference(after: .login(mode, password, power: nil))
        }
        return try afterCut(said, Said(meant), expected, slot, checks, "\(mode) \(password) cut at \(power ?? 0)")
    }

    /// The power went at some write, or later: what is left is a state that the whole step passes through, no check is
    /// left without its charge, and nobody is let in who should not be.
    private func afterCut(
        _ said: Said?, _ meant: Said, _ expected: ReferenceModel, _ slot: LoginRow.Credential?, _ checks: Int,
        _ step: String
    ) throws -> String? {
        // What was held up is finished by the next operation.
        try site.finish()
        let found = try found()
        switch said?.way {
        case .offline: if said != meant { return "\(step): \(String(describing: said)), meant: \(meant)" }
        case .online: if meant.way != .online { return "\(step): \(String(describing: said)), meant: \(meant)" }
        case .refused, nil: break
        }
        let states = expected.passed + [expected.row]
        // Before anything was written, a rolled-back row is still one.
        if found.isRolledBack {
            guard model.isRolledBack else { return "\(step): rolled back by a cut" }
        } else {
            guard let index = states.lastIndex(where: { Self.agree($0, found.row) }) else {
                return "\(step): left \(String(describing: found.row)), may be \(states)"
            }
            if checks > index { return "\(step): \(checks) checks, \(index) writes" }
            // Two passwords may leave rows that look alike; the same slot is still the same password's.
            let password = model.row?.password
            (model.row, model.isRolledBack) = (states[index], false)
            if let password, let slot, slot == (try site.row()?.credential) {
                model.row?.password = password
            } else if let password = expected.row?.password {
                model.row?.password = password
            }
        }
        model.hasLedger = site.hasLedger
        return nil
    }

    private func difference(after step: ModelTests.Step) throws -> String? {
        let found = try found()
        guard found.isRolledBack == model.isRolledBack else {
            return "\(step): rolled back \(found.isRolledBack), meant: \(model.isRolledBack)"
        }
        guard !found.isRolledBack, !Self.agree(model.row, found.row) else { return nil }
        return "\(step): \(String(describing: found.row)), meant: \(String(describing: model.row))"
    }

    private func found() throws -> (row: ReferenceModel.Row?, isRolledBack: Bool) {
        do throws(AuthError) {
            return (try site.judged().map { ReferenceModel.Row($0) }, false)
        } catch {
            guard error == .rolledBack else { throw error }
            return (nil, true)
        }
    }

    /// The password is no part of a row that can be read.
    private static func agree(_ meant: ReferenceModel.Row?, _ found: ReferenceModel.Row?) -> Bool {
        guard var meant, let found else { return meant == nil && found == nil }
        meant.password = found.password
        return meant == found
    }

    /// No time of ours is before 1970.
    private var reading: ClockReading {
        let now = clock.read()
        return ClockReading(wall: max(0, now.wall), sinceBoot: now.sinceBoot, bootID: now.bootID)
    }
}

extension ReferenceModel.Row {
    fileprivate init(_ row: LoginRow) {
        self.init(
            floor: row.time.floor, written: row.time.written, sinceBoot: row.time.sinceBoot, boot: row.time.bootID[0])
        kind =
            switch row.credential {
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
