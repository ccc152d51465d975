import OMSecrets
import OMSystem
import Testing

@testable import OMAuth

@Suite("The age of a fresh login, and the times of the log") struct FreshLoginTests {
    private func times(_ logins: Authenticator) throws -> [Int64] { try logins.log().entries.map(\.time) }

    private func context(_ logins: Authenticator, _ profile: Profile, serverTime: Int64) throws -> LoginDetails {
        let receipt = try logins.login(
            LoginRequest(ada, profile), password: Password("right"),
            asking: TestProvider(knowing: "right", time: serverTime))
        return receipt.details
    }

    @Test("a login that a server has just granted has age 0, although the server's clock is seconds behind")
    func age() async throws {
        let place = MemoryLoginBackend(), clock = TestClock(), logins = place.authenticator(clock: clock)
        let profile = try serverProfile(3, maxAge: 1_000)
        let wall = clock.read().wall
        let context = try context(logins, profile, serverTime: wall - 18)
        #expect(context.age == 0 && context.expires == wall + 1_000)
        _ = logins.end("right", profile, .offline, asking: nil)
        #expect(try times(logins) == [wall, wall])
    }

    @Test("a server's clock beyond the tolerance behind this machine's corrects it")
    func corrected() async throws {
        let place = MemoryLoginBackend(), clock = TestClock(), logins = place.authenticator(clock: clock)
        let profile = try serverProfile(3, maxAge: 1_000)
        let wall = clock.read().wall, server = wall - LastSeenTime.tolerance - 1
        #expect(try context(logins, profile, serverTime: server).expires == server + 1_000)
    }

    @Test("a log entry has the time at which its process got the log's lock, not the time at which it began to wait")
    func waiting() async throws {
        let place = MemoryLoginBackend(), clock = TestClock(), logins = place.authenticator(clock: clock)
        let profile = try serverProfile(3), start = clock.read().wall
        _ = logins.end("right", profile, asking: TestProvider(knowing: "right"))
        let log = try #require(Set(place.disk.marks.keys).subtracting(place.disk.rows.keys).first)
        place.prelude = (log, { clock.advance(wall: 5, boot: 5) })
        _ = logins.end("guess", profile, .offline, user: known("eve"), asking: nil)
        #expect(try times(logins) == [start, start + 5])
    }
}
