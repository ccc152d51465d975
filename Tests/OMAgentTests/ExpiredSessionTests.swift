// Sessions with an expired access token.

import OMAuth
import OMOnlineModel
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Sessions with an expired access token", .onOwnThreads) struct ExpiredSessionTests {
    private let clock = SessionClock()
    private let server = SessionServer()

    @Test("a session is expired from the second in which its token ends, until the server gives a new token")
    func expires() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login, idle: 1_000, expires: 5_060))
        clock.advance(59)
        #expect(store.use(login)?.state == .valid)
        clock.advance(1)
        #expect(store.use(login)?.state == .expired)
        #expect(store.list().map(\.state) == [.expired])
        server.say(.yes("token 2", lifetime: 30), .yes("token 3"))
        guard case .valid(let renewed) = store.renew(login, newTokens: true) else { throw Missing() }
        #expect(renewed.state == .valid && server.asked == [AskedOf(task: .refresh, session: "token 1")])
        clock.advance(30)
        #expect(store.use(login)?.state == .expired)
        // A token without an end.
        _ = store.renew(login, newTokens: true)
        clock.advance(500)
        #expect(store.use(login)?.state == .valid)
    }

    @Test("a refused renewal ends an expired session, and a failed renewal leaves it expired")
    func refused() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login, expires: 5_000))
        server.say(.no(.unreachable(.timedOut)), .no(.failed(.invalidGrant, status: 400)))
        #expect(store.renew(login, newTokens: true) == .refused(.unreachable(.timedOut)))
        #expect(store.use(login)?.state == .expired)
        #expect(store.renew(login, newTokens: true) == .refused(.failed(.invalidGrant, status: 400)))
        #expect(store.list().isEmpty)
    }

    @Test("an offline login that continues with an expired token is valid, because the token gave no access")
    func offline() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login, expires: 5_000))
        #expect(store.use(login)?.state == .expired)
        #expect(try store.keeps(login, token: nil, mode: .offline))
        let session = try #require(store.use(login))
        #expect(session.state == .valid && session.mode == .offline && session.hasServerSession)
    }

    @Test("a logout without a known address is reported as not asked of the server, without a number")
    func noLogout() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login))
        server.say(.no(.failed(.noLogout)))
        let ending = store.ends(login)
        #expect(ending == .endedHereOnly(.failed(.noLogout)))
        #expect(ending.sdkCode == nil)
        #expect(store.list().isEmpty)
    }

    private struct Missing: Error {}
}
