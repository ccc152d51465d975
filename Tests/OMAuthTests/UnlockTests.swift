// The end of a lock-out, and the attempts that it gives back.

import OMOnlineModel
import OMSecrets
import Testing

@testable import OMAuth

@Suite("The end of a lock-out") struct UnlockTests {
    @Test(
        "login unlock gives back no comparison after a server's 401: N + 1 happen between two online successes"
    )
    func comparisons() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(2, .lockout), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        let server = TestProvider(.rejected)
        for _ in 0..<2 { #expect(authenticator.end("guess", profile, .online, asking: server) == .refused(.online(.rejected))) }
        for _ in 0..<3 { _ = authenticator.end("guess", profile, .offline, asking: server) }
        #expect(authenticator.end("right", profile, .offline, asking: server) == .refused(.lockedOut))
        #expect(try authenticator.unlock(ada, profile) == 3)
        let row = try #require(try place.row(profile))
        #expect(row.charged == 0 && row.failed == 0 && row.onlineCompares == 2)
        for _ in 0..<5 {
            _ = authenticator.end("guess", profile, .online, asking: server)
            _ = try authenticator.unlock(ada, profile)
        }
        #expect(try place.row(profile)?.onlineCompares == 3)
        #expect(authenticator.end("right", profile, .offline, asking: server) == .offline(nil))
    }
}
