import OMOnlineModel
import OMSecrets
import OMSystem
import Testing

@testable import OMAuth

@Suite("The limits of a server's answer") struct ServerAnswerTests {
    private static let now: Int64 = 1_800_000_000
    private static let day: Int64 = 86_400

    @Test(
        "a server's clock makes no credential expire later than this machine's time and the maximum age",
        arguments: [0, 1, 3_600, 86_400, 86_401, 30 * 86_400, 251_602_300_799] as [Int64])
    func ahead(_ seconds: Int64) throws {
        let place = MemoryLoginBackend(), clock = TestClock(), profile = try serverProfile(3, maxAge: 100)
        let authenticator = place.authenticator(clock: clock)
        let server = TestProvider(knowing: "right", time: Self.now + seconds)
        // The second time, the row already remembers a time.
        for _ in 0..<2 {
            #expect(authenticator.end("right", profile, asking: server) == .online(notCached: nil))
            let row = try #require(try place.row(profile))
            #expect(row.lastOnline == Self.now && row.enrolledAt == Self.now && row.time.earliest == Self.now)
        }
        clock.advance(wall: 101, boot: 101)
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.expired(since: Self.now + 100)))
    }

    @Test("the administrator's ceiling bounds a credential of a server in the year 9999")
    func ceiling() throws {
        let place = MemoryLoginBackend(), clock = TestClock()
        let profile = try serverProfile(3) { $0.ceiling = PolicyCeiling(offlineCredentialMaxAge: 3_600) }
        let authenticator = place.authenticator(clock: clock)
        let server = TestProvider(knowing: "right", time: LastSeenTime.range.upperBound)
        #expect(authenticator.end("right", profile, asking: server) == .online(notCached: nil))
        clock.advance(wall: 3_600, boot: 3_600)
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .offline(nil))
        clock.advance(wall: 1, boot: 1)
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.expired(since: Self.now + 3_600)))
    }

    @Test("a server's time lowers a floor that a clock in 2038 raised")
    func poisoned() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), profile = try serverProfile(3, maxAge: 30 * Self.day)
        let authenticator = place.authenticator(clock: clock)
        let in2038: Int64 = 345_916_800
        clock.advance(wall: in2038)
        #expect(authenticator.end("right", profile, asking: TestProvider(knowing: "right")) == .online(notCached: nil))
        clock.advance(wall: -in2038, boot: 10)
        clock.reboot()
        let server = TestProvider(knowing: "right", time: Self.now + 10)
        #expect(authenticator.end("right", profile, asking: server) == .online(notCached: nil))
        #expect(try place.row(profile)?.time.earliest == Self.now + 10)
        #expect(try place.row(profile)?.lastOnline == Self.now + 10)
    }

    @Test("a 401 deletes the compared slot, and not a newer slot of another process")
    func bound() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3), authenticator = place.authenticator()
        #expect(authenticator.end("old", profile, asking: TestProvider(knowing: "old")) == .online(notCached: nil))
        guard let device = try place.loadDevice() else { throw Missing() }
        let id = LoginKey(ada, profile).id(under: device)
        // After the comparison, as soon as the lock is free, the user logs in with the new password.
        place.interlude = (
            id,
            {
                #expect(authenticator.end("new", profile, asking: TestProvider(knowing: "new")) == .online(notCached: nil))
            }
        )
        #expect(authenticator.end("old", profile, asking: TestProvider(knowing: "new")) == .refused(.online(.rejected)))
        let hadInterlude = place.interlude == nil
        #expect(hadInterlude)
        #expect(authenticator.end("new", profile, .offline, asking: nil) == .offline(nil))
        // Without an interlude the slot is deleted.
        #expect(authenticator.end("new", profile, asking: TestProvider(.rejected)) == .refused(.online(.rejected)))
        #expect(try place.row(profile)?.isLive == false)
    }

    @Test("a boot without an id never equals another boot, so no session survives it")
    func unknownBoot() throws {
        let clock = ClockReading(wall: Self.now, sinceBoot: 10, bootID: [UInt8](repeating: 0, count: 16))
        var session = SessionDeadlines(try serverProfile(1), at: clock)
        #expect(session.state(at: clock) == .ended)
        #expect(session.use(at: clock) == .ended)
    }

    @Test("the log records a question that no server was asked as that, and not as a server's error")
    func logged() {
        for failure in OnlineFailure.allCases {
            let ours: Set<OnlineFailure> = [
                .unusableRedirect, .redirectPortTaken, .unusableClientKey, .lockedClientKey, .unusableCertificate,
                .unsafeAddress, .unusableHeaders, .unusableUser, .unusableTrust, .unusableSession, .helper, .cancelled,
                .noLogout, .unusablePassword, .unusableAssertion, .unkeptTokens, .insecureGrant,
            ]
            #expect(failure.isOurs == ours.contains(failure))
            #expect(LoginEvent.Refusal(.failed(failure)) == (ours.contains(failure) ? .notAsked : .failed))
        }
    }
}
