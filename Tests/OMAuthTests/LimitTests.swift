import OMOnlineModel
import OMSecrets
import Testing

@testable import OMAuth

@Suite struct LimitTests {
    @Test(
        "R18 the limit of N wrong passwords is counted exactly as its mode says",
        arguments: [1, 2, 3], LimitMode.allCases)
    func table(_ limit: Int, _ mode: LimitMode) throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator()
        let profile = try serverProfile(limit) { $0.limitMode = mode }
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        let tolerated = mode == .exceeds ? limit : limit - 1
        #expect(try authenticator.status(ada, profile).details?.attemptsLeft == tolerated)
        for attempt in 0..<tolerated {
            #expect(
                authenticator.end("wrong", profile, .offline, asking: nil)
                    == .refused(.wrongPassword(attemptsLeft: tolerated - attempt - 1, consequence: .wipe)))
        }
        #expect(
            authenticator.end("wrong", profile, .offline, asking: nil)
                == .refused(.attemptsExceeded(isFinished: true)))
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.wiped(isFinished: true)))
    }

    @Test("a password that exceeded the limit is tried online, and is cached again or says why the result is 23")
    func exceededOnline() throws {
        for (provider, expected) in [
            (TestProvider(knowing: "changed"), Ending.online(notCached: nil)),
            (TestProvider(.rejected), .refused(.attemptsExceeded(isFinished: true, online: .rejected))),
            (
                TestProvider(.unreachable(.refused)),
                .refused(.attemptsExceeded(isFinished: true, online: .unreachable(.refused)))
            ),
        ] {
            let place = MemoryLoginBackend(), authenticator = place.authenticator(), profile = try serverProfile(1)
            _ = try authenticator.enroll(ada, profile, password: Password("right"))
            #expect(
                authenticator.end("changed", profile, .offline, asking: provider)
                    == .refused(.wrongPassword(attemptsLeft: 0, consequence: .wipe)))
            #expect(authenticator.end("changed", profile, .offline, asking: provider) == expected)
            #expect(provider.asked == 1)
            let after: Ending = expected == .online(notCached: nil) ? .offline(nil) : .refused(.wiped(isFinished: true))
            #expect(authenticator.end("changed", profile, .offline, asking: nil) == after)
        }
    }

    @Test("the delay after a wrong password doubles to an hour, and an earlier attempt is not charged")
    func delays() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), authenticator = place.authenticator(clock: clock)
        let profile = try serverProfile(1000) { $0.attemptDelay = 60 }
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        var expected: Int64 = 60
        for number in 1...9 {
            #expect(
                authenticator.end("wrong", profile, .offline, asking: nil)
                    == .refused(.wrongPassword(attemptsLeft: 1000 - number, consequence: .wipe)))
            let before = place.disk.rows
            #expect(
                authenticator.end("right", profile, .offline, asking: nil)
                    == .refused(.delayed(seconds: expected)))
            // Attack: set the clock forward. The boot clock counts, and it has not moved.
            clock.advance(wall: 7_200)
            #expect(
                authenticator.end("right", profile, .offline, asking: nil)
                    == .refused(.delayed(seconds: expected)))
            #expect(place.disk.rows == before)
            clock.advance(boot: expected)
            #expect(
                authenticator.end("right", profile, .offline, asking: nil) == .refused(.delayed(seconds: 1)))
            clock.advance(boot: 1)
            expected = min(expected * 2, 3_600)
        }
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
    }

    @Test("a process that holds the log's lock stops neither a wrong password's count, report and wipe nor a refusal")
    func logHeld() throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator(), profile = try serverProfile(1)
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        let id = try #require(place.disk.rows.keys.first)
        place.held = place.disk.marks.keys.first { $0 != id }
        #expect(place.held != nil)
        let entries = place.disk.log.count
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
        #expect(
            authenticator.end("wrong", profile, .offline, asking: nil)
                == .refused(.wrongPassword(attemptsLeft: 0, consequence: .wipe)))
        let row = try #require(try place.row(profile))
        #expect(row.charged == 1 && row.failed == 1)
        #expect(
            authenticator.end("wrong", profile, .offline, asking: nil) == .refused(.attemptsExceeded(isFinished: true)))
        #expect(authenticator.end("right", profile, asking: TestProvider(knowing: "right")) == .online(notCached: nil))
        #expect(authenticator.end("right", profile, asking: TestProvider(.blocked)) == .refused(.online(.blocked)))
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.noCredential))
        #expect(place.disk.log.count == entries)
        place.held = nil
        _ = authenticator.end("right", profile, .offline, asking: nil)
        let report = try authenticator.log()
        #expect(report.fault == nil && report.entries.count == entries + 1)
    }

    @Test("a ledger that locks after the charge does not turn a result into \"nothing was charged\"")
    func ledgerLocked() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(1)
        _ = try place.authenticator().enroll(ada, profile, password: Password("right"))
        let authenticator = place.authenticator(onCheck: { _ in place.isLocked = true })
        for expected in [AuthError.wrongPassword(attemptsLeft: 0, consequence: .wipe), .lockedOut] {
            #expect(authenticator.end("wrong", profile, .offline, asking: nil) == .refused(expected))
            place.isLocked = false
        }
        #expect(try place.row(profile)?.charged == 2)
    }

    @Test("a crash after the charge does not skip the delay")
    func delayAfterCrash() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), authenticator = place.authenticator(clock: clock)
        let profile = try serverProfile(1000) { $0.attemptDelay = 60 }
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        // The charge and its mark are written, but no settlement.
        place.power = 2
        _ = authenticator.end("wrong", profile, .offline, asking: nil)
        place.power = nil
        let row = try #require(try place.row(profile))
        #expect(row.charged == 1 && row.failed == 0)
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.delayed(seconds: 60)))
    }
}

@Suite struct ServerPolicyTests {
    private static let gone = TestProvider(.unreachable(.refused))

    private func server(_ policy: ServerPolicy) -> TestProvider { TestProvider(knowing: "right", policy: policy) }

    @Test(
        "R19 a server that lowers N below the failed attempts wipes the credential, and raising N revives nothing")
    func lowered() throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator(), profile = try serverProfile(3)
        func log(_ policy: ServerPolicy) {
            #expect(authenticator.end("right", profile, .online, asking: server(policy)) == .online(notCached: nil))
        }
        log(ServerPolicy(epoch: 1, maxLoginAttempts: 5))
        #expect(try authenticator.status(ada, profile).details?.attemptsLeft == 5)
        for left in [4, 3] {
            #expect(
                authenticator.end("wrong", profile, .offline, asking: nil)
                    == .refused(.wrongPassword(attemptsLeft: left, consequence: .wipe)))
        }
        // A value above the ceiling becomes the ceiling.
        log(ServerPolicy(epoch: 2, maxLoginAttempts: 999))
        #expect(try authenticator.status(ada, profile).details?.attemptsLeft == 10)
        for _ in 0..<3 { _ = authenticator.end("wrong", profile, .offline, asking: nil) }
        // The row as a server's lower limit would leave it: the failed attempts stay.
        let lower = try serverProfile(3) { $0.ceiling = PolicyCeiling(maxLoginAttempts: 2) }
        #expect(authenticator.end("right", lower, .offline, asking: nil) == .refused(.wiped(isFinished: true)))
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.wiped(isFinished: true)))
        let report = try authenticator.log()
        #expect(report.entries.count { $0.event == .wipedByPolicy } == 1)
    }

    @Test("a limit that others exceed during the stretch wipes the credential before the check, and the log says so")
    func exceededMeanwhile() throws {
        let place = MemoryLoginBackend(), others = place.authenticator(), profile = try serverProfile(5)
        _ = try others.enroll(ada, profile, password: Password("right"))
        let strict = try serverProfile(1)
        let authenticator = Authenticator(
            place, .floor, clock: TestClock().read,
            stretch: { (derivation, password) throws(AuthError) in
                for _ in 0..<2 { _ = others.end("wrong", profile, .offline, asking: nil) }
                return try StretchCache.shared.stretch(derivation, password)
            }, reached: { if case .checking = $0 { Issue.record("a password was checked") } })
        #expect(authenticator.end("right", strict, .offline, asking: nil) == .refused(.wiped(isFinished: true)))
        #expect(try others.log().entries.count { $0.event == .wipedByPolicy } == 1)
    }

    @Test("R26 a login that the server denies is denied offline too, and its slot is deleted")
    func denied() throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator(), profile = try serverProfile(3)
        #expect(authenticator.end("right", profile, asking: TestProvider(knowing: "right")) == .online(notCached: nil))
        #expect(
            authenticator.end("right", profile, asking: server(ServerPolicy(epoch: 1, offlineAuthAllowed: false)))
                == .online(notCached: .offlineNotAllowed))
        #expect(try place.row(profile)?.verifier == .cleared)
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.offlineNotAllowed))
        #expect(
            authenticator.end("right", profile, asking: Self.gone) == .refused(.online(.unreachable(.refused))))
        #expect(
            refusal { () throws(AuthError) in _ = try authenticator.enroll(ada, profile, password: Password("right")) }
                == .offlineNotAllowed)
        // A login without a policy does not change that.
        #expect(
            authenticator.end("right", profile, asking: TestProvider(knowing: "right"))
                == .online(notCached: .offlineNotAllowed))
        #expect(
            authenticator.end("right", profile, asking: server(ServerPolicy(epoch: 2, offlineAuthAllowed: true)))
                == .online(notCached: nil))
        #expect(authenticator.end("right", profile, asking: Self.gone) == .offline(.unreachable(.refused)))
    }

    @Test("the server can allow offline logins against the profile, unless the administrator forbids it")
    func allowed() throws {
        let profile = try serverProfile(3, allowed: false)
        let yes = ServerPolicy(epoch: 1, offlineAuthAllowed: true)
        let place = MemoryLoginBackend()
        #expect(place.authenticator().end("right", profile, asking: server(yes)) == .online(notCached: nil))
        #expect(place.authenticator().end("right", profile, asking: Self.gone) == .offline(.unreachable(.refused)))
        let forbidding = try serverProfile(3, allowed: false) { $0.ceiling = PolicyCeiling(offlineAuthAllowed: false) }
        #expect(place.authenticator().end("right", forbidding, .offline, asking: nil) == .refused(.offlineNotAllowed))
        #expect(place.authenticator().end("right", forbidding, asking: server(yes)) == .online(notCached: .offlineNotAllowed))
    }

    @Test("R27 a lower epoch is refused and logged, and the known policy stays")
    func epochs() throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator(), profile = try serverProfile(3)
        let strict = ServerPolicy(epoch: 7, maxLoginAttempts: 1), lax = ServerPolicy(epoch: 6, maxLoginAttempts: 9)
        #expect(authenticator.end("right", profile, asking: server(strict)) == .online(notCached: nil))
        #expect(authenticator.end("right", profile, asking: server(lax)) == .online(notCached: nil))
        #expect(try place.row(profile)?.server == strict)
        let details = try authenticator.status(ada, profile).details
        #expect(details?.policy.maxLoginAttempts == 1 && details?.serverEpoch == 7)
        let events = try authenticator.log().entries.map(\.event)
        #expect(events.contains(.policyTaken(epoch: 7)) && events.contains(.policyRefused(epoch: 6)))
        #expect(!events.contains(.policyTaken(epoch: 6)))
        // The administrator's removal forgets the row, and with it the epoch.
        _ = try authenticator.remove(ada, profile.name, server: profile.serverIdentity)
        #expect(authenticator.end("right", profile, asking: server(lax)) == .online(notCached: nil))
    }

    @Test("R27 a laxer policy of the same epoch changes nothing and is logged, and a stricter one counts")
    func sameEpoch() throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator(), profile = try serverProfile(3)
        func offer(_ policy: ServerPolicy) throws -> ServerPolicy? {
            _ = authenticator.end("right", profile, asking: server(policy))
            return try place.row(profile)?.server
        }
        let first = ServerPolicy(epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 2)
        #expect(try offer(first) == first)
        #expect(try offer(ServerPolicy(epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 9)) == first)
        #expect(try authenticator.log().entries.map(\.event).contains(.policyRefused(epoch: 7)))
        let barred = ServerPolicy(epoch: 7, offlineAuthAllowed: false, maxLoginAttempts: 2)
        #expect(try offer(barred) == barred)
        #expect(try offer(first) == barred)
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.offlineNotAllowed))
        let next = ServerPolicy(epoch: 8, offlineAuthAllowed: true, maxLoginAttempts: 9)
        #expect(try offer(next) == next)
    }

    @Test("the policy in force can be read before and after a first login, with the source of each value")
    func inForce() throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator()
        let profile = try serverProfile(3, maxAge: 86_400) { $0.ceiling = PolicyCeiling(maxLoginAttempts: 7) }
        let before = try authenticator.policy(of: ada, profile)
        #expect(before == LoginPolicy(profile))
        #expect(before.isOfflineAllowed && before.maxLoginAttempts == 3 && before.offlineCredentialMaxAge == 86_400)
        #expect(before.onAttemptsExceeded == .wipe && before.tolerated == 3)
        #expect(before.sources[.maxLoginAttempts] == .profile)
        let word = ServerPolicy(epoch: 1, offlineAuthAllowed: true, maxLoginAttempts: 9, cryptoScheme: .saltedSHA256)
        #expect(authenticator.end("right", profile, asking: server(word)) == .online(notCached: nil))
        let after = try authenticator.policy(of: ada, profile)
        #expect(after == LoginPolicy(profile, word) && after.maxLoginAttempts == 7 && after.cryptoScheme == .saltedSHA256)
        #expect(after.sources[.maxLoginAttempts] == .ceiling && after.sources[.cryptoScheme] == .server)
        #expect(try authenticator.status(ada, profile).details?.policy == after)
        // Another user's first login follows the profile, until the server has sent a policy for it.
        #expect(try authenticator.policy(of: UserName("bob"), profile) == before)
        // Attack: damage or remove the row, to make this device forget a stricter policy of the server.
        let disk = place.disk
        for id in disk.rows.keys { place.disk.rows[id]?[60] ^= 1 }
        #expect(throws: AuthError.quarantined) { try authenticator.policy(of: ada, profile) }
        place.disk.rows = [:]
        #expect(throws: AuthError.rolledBack) { try authenticator.policy(of: ada, profile) }
    }

    @Test("R51 the next success uses the scheme that the server names, and stores nothing recoverable")
    func scheme() throws {
        let home = try Home(), profile = try serverProfile(3), authenticator = home.authenticator()
        let plain = ServerPolicy(epoch: 1, cryptoScheme: .plainText)
        #expect(
            authenticator.end("right horse", profile, asking: TestProvider(knowing: "right horse", policy: plain))
                == .online(notCached: nil))
        #expect(try authenticator.status(ada, profile).details?.scheme == .plainText)
        #expect(try home.files(holding: Array("right horse".utf8)) == [])
    }
}

@Suite struct ClockTests {
    @Test("R33 a clock that was set back is checked at the floor and logged, or refused if the profile says so")
    func setBack() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), authenticator = place.authenticator(clock: clock)
        let judging = try serverProfile(3, maxAge: 100), denying = try serverProfile(3) { $0.clockRollback = .deny }
        #expect(authenticator.end("right", judging, asking: TestProvider(knowing: "right")) == .online(notCached: nil))
        clock.reboot()
        clock.advance(wall: -3_600)
        #expect(authenticator.end("right", judging, .offline, asking: nil) == .offline(nil))
        let before = place.disk.rows
        #expect(authenticator.end("right", denying, .offline, asking: nil) == .refused(.clockRolledBack))
        #expect(place.disk.rows == before)
        #expect(authenticator.end("right", denying, asking: TestProvider(knowing: "right")) == .online(notCached: nil))
        let events = try authenticator.log().entries.map(\.event)
        #expect(events.contains(.clockBehind(seconds: 3_600)) && events.contains(.refused(.clockRolledBack)))
    }

    @Test("R34 a clock that was set forward brings back no wiped or locked credential")
    func setForward() throws {
        for consequence in OnAttemptsExceeded.allCases {
            let place = MemoryLoginBackend(), clock = TestClock(), authenticator = place.authenticator(clock: clock)
            let profile = try serverProfile(1, consequence)
            _ = try authenticator.enroll(ada, profile, password: Password("right"))
            for _ in 0..<2 { _ = authenticator.end("wrong", profile, .offline, asking: nil) }
            let expected: AuthError = consequence == .wipe ? .wiped(isFinished: true) : .lockedOut
            for days: Int64 in [1, 30, 4_000] {
                clock.advance(wall: days * 86_400, boot: 90_000)
                #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(expected))
            }
        }
    }

    @Test("R35 the next online success lowers a floor that a clock in 2038 raised")
    func poisoned() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), authenticator = place.authenticator(clock: clock)
        let profile = try serverProfile(3, maxAge: 30 * 86_400), start: Int64 = 1_800_000_000
        func server(_ time: Int64) -> TestProvider { TestProvider(knowing: "right", time: time) }
        #expect(authenticator.end("right", profile, asking: server(start)) == .online(notCached: nil))
        clock.advance(wall: 340_000_000)
        for _ in 0..<40 {
            clock.reboot()
            _ = authenticator.end("right", profile, .offline, asking: nil)
        }
        clock.reboot()
        clock.advance(wall: -340_000_000)
        #expect(
            authenticator.end("right", profile, .offline, asking: nil)
                == .refused(.expired(since: start + 30 * 86_400)))
        #expect(authenticator.end("right", profile, asking: server(start + 60)) == .online(notCached: nil))
        #expect(try place.row(profile)?.time.earliest == start + 60)
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
    }
}
