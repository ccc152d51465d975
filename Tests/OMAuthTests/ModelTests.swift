import OMRecords
import OMSecrets
import OMStorage
import Synchronization
import Testing

@testable import OMAuth

/// Random histories of one login, real and as they are meant to be.
@Suite struct ModelTests {
    @Test(
        "R57 100,000 random steps, of right and wrong, modes, networks, power cuts, clocks, policies and restored files, come to what a small model says",
        arguments: 0..<4)
    func steps(_ quarter: Int) throws {
        var count = 0
        for trace in 0..<50 {
            var random = Dice(seed: UInt64(quarter * 1_000 + trace + 1))
            let steps = (0..<500).map { _ in Step.random(&random) }
            count += steps.count
            guard let mismatch = Self.mismatch(steps) else { continue }
            let least = Self.shrink(Array(steps.prefix(mismatch.index + 1)))
            Issue.record("\(Self.mismatch(least)?.text ?? mismatch.text)\nafter \(least)")
            return
        }
        #expect(count == 25_000)
    }

    @Test("a model that is wrong about one thing is found out, and by few steps")
    func sensitive() throws {
        var random = Dice(seed: 5)
        let steps = (0..<2_000).map { _ in Step.random(&random) }
        let mismatch = try #require(Self.mismatch(steps, skewing: true))
        let least = Self.shrink(Array(steps.prefix(mismatch.index + 1)), skewing: true)
        #expect(least.count <= 12, "\(least)")
    }

    private static func mismatch(_ steps: [Step], skewing: Bool = false) -> (index: Int, text: String)? {
        let world = World(skewing)
        for (index, step) in steps.enumerated() {
            if let text = world.take(step) { return (index, text) }
        }
        return nil
    }

    /// Leaves out what can be left out.
    private static func shrink(_ steps: [Step], skewing: Bool = false) -> [Step] {
        var steps = steps, size = max(1, steps.count / 2)
        while true {
            var start = 0
            var isShorter = false
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, steps.count))
                if mismatch(fewer, skewing: skewing) != nil {
                    (steps, isShorter) = (fewer, true)
                } else {
                    start += size
                }
            }
            guard size > 1 || isShorter else { return steps }
            size = max(1, size / 2)
        }
    }

    /// The real login in memory, and the model beside it.
    private final class World {
        private let place = MemoryPlace(), clock = TestClock(), checks = Counter()
        private let authenticator: Authenticator
        private let id: LoginID
        private var model = ReferenceModel()
        private var photograph: (disk: MemoryPlace.Disk, model: ReferenceModel)?
        private let isSkewed: Bool

        init(_ isSkewed: Bool) {
            self.isSkewed = isSkewed
            let checks = checks
            authenticator = place.authenticator(clock: clock, onCheck: { _ in checks.add() })
            do {
                id = LoginKey(ada, try Self.profile(ReferenceModel.Settings())).id(under: try place.makeDevice())
            } catch { fatalError("\(error)") }
        }

        /// - Returns: nil: as it is meant to be.
        func take(_ step: Step) -> String? {
            do { return try carryOut(step) } catch { return "\(step): \(error)" }
        }

        private func carryOut(_ step: Step) throws -> String? {
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
            case .photograph: photograph = (place.disk, model)
            case .restoreLedger:
                guard let photograph else { break }
                let (now, then) = (place.disk.marks[id]?.first, photograph.disk.rows[id])
                (place.disk.rows, place.disk.hasLedger) = (photograph.disk.rows, photograph.disk.hasLedger)
                restored(now, then, photograph.model)
            case .restoreAll:
                guard let photograph else { break }
                place.disk = photograph.disk
                let settings = model.settings
                model = photograph.model
                model.settings = settings
            case .logout(let isCleared):
                try authenticator.end(ada, try profile(), after: isCleared ? .logoutClear : .logout)
                model.logout(clear: isCleared, reading)
            case .remove:
                _ = try? authenticator.remove(ada, try profile().name, server: origin)
                (model.row, model.isRolledBack) = (nil, false)
                if place.disk.hasLedger { model.hasLedger = true }
            }
            return try difference(after: step)
        }

        /// An older row, or another one of the same age, was put back; one that is newer than its mark is accepted.
        private func restored(_ mark: HighWaterMark?, _ bytes: [UInt8]?, _ then: ReferenceModel) {
            model.hasLedger = then.hasLedger
            model.row = then.row
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
            let reading = reading, slot = try? place.row(try profile())?.credential
            var expected = model
            let meant = expected.login(mode, password, reading)
            if isSkewed, case .refused(.wrongPassword) = meant, let skewed = expected.row {
                expected.row = skewed.skewed
            }
            let settings = model.settings, before = checks.count
            let provider = TestProvider { _, typed in
                switch settings.net {
                case .up: typed == Self.bytes(settings.serverPassword) ? .yes(settings.policy, nil) : .no(.rejected)
                case .blocked: .no(.blocked)
                case .forbidden: .no(.forbidden)
                case .unreachable: .no(.unreachable(.refused))
                case .untrusted: .no(.untrusted(.certificate))
                case .failed: .no(.failed(.serverError, status: 500))
                }
            }
            place.power = power
            let ending = authenticator.end("password \(password)", try profile(), mode, asking: provider)
            place.power = nil
            guard let power else {
                model = expected
                guard ending == meant else { return "\(mode) \(password): \(ending), meant: \(meant)" }
                return try difference(after: .login(mode, password, power: nil))
            }
            return try afterCut(
                ending, meant, expected, slot, checks.count - before, "\(mode) \(password) cut at \(power)")
        }

        /// The power went at some write, or later: what is left is a state that the whole step passes through, no check is
        /// left without its charge, and nobody is let in who should not be.
        private func afterCut(
            _ ending: Ending, _ meant: Ending, _ expected: ReferenceModel,
            _ slot: LoginRow.Credential?, _ checks: Int, _ step: String
        ) throws -> String? {
            // What was held up is finished by the next operation.
            _ = try authenticator.status([])
            let found = try found()
            switch ending {
            case .offline: if ending != meant { return "\(step): \(ending), meant: \(meant)" }
            case .online: guard case .online = meant else { return "\(step): \(ending), meant: \(meant)" }
            case .refused: break
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
                if let password, let slot, slot == (try place.row(try profile())?.credential) {
                    model.row?.password = password
                } else if let password = expected.row?.password {
                    model.row?.password = password
                }
            }
            model.hasLedger = place.disk.hasLedger
            return nil
        }

        private func difference(after step: Step) throws -> String? {
            let found = try found()
            guard found.isRolledBack == model.isRolledBack else {
                return "\(step): rolled back \(found.isRolledBack), meant: \(model.isRolledBack)"
            }
            guard !found.isRolledBack, !Self.agree(model.row, found.row) else { return nil }
            return "\(step): \(String(describing: found.row)), meant: \(String(describing: model.row))"
        }

        private func found() throws -> (row: ReferenceModel.Row?, isRolledBack: Bool) {
            do throws(AuthError) {
                guard let store = try authenticator.openAny() else {
                    let mark = place.disk.marks[id]?.first
                    return (nil, mark.map { !$0.isVacant } ?? false)
                }
                guard let row = try store.load(id) else { return (nil, false) }
                return (ReferenceModel.Row(row), false)
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

        private static func bytes(_ password: Int) -> [UInt8] { Array("password \(password)".utf8) }

        private func profile() throws -> Profile { try Self.profile(model.settings) }

        private static func profile(_ settings: ReferenceModel.Settings) throws -> Profile {
            try serverProfile(
                settings.limit, allowed: settings.isAllowed, settings.locksOut ? .lockout : .wipe,
                maxAge: settings.maxAge
            ) {
                $0.limitMode = settings.isStrict ? .strict : .exceeds
                $0.attemptDelay = settings.hasDelay ? 30 : 0
            }
        }
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
