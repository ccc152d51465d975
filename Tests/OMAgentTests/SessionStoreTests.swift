// The store of sessions with a clock and a server that the test controls.

import Foundation
import Glibc
import OMAuth
import OMOnlineModel
import OMSecrets
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Sessions in the agent", .onOwnThreads) struct SessionStoreTests {
    private let clock = SessionClock()
    private let server = SessionServer()

    /// Waits until no other thread asks or clears. Each ending has one task.
    private func asked(_ count: Int) async throws -> [AskedOf] {
        try await eventually { server.asked.count >= count }
        return server.asked
    }

    @Test("ten simultaneous requests for new tokens ask the server once and get the same answer")
    func singleFlight() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login))
        server.say(.yes("token 2"))
        server.close()
        let verdicts = Mutex<[SessionCheckResult]>([])
        for _ in 0..<10 {
            Thread.detachNewThread {
                let verdict = store.renew(login, newTokens: true)
                verdicts.withLock { $0.append(verdict) }
            }
        }
        try await eventually { store.waiters(of: login) == 9 }
        // A caller that only checks validity shares the same answer.
        Thread.detachNewThread {
            let verdict = store.renew(login, newTokens: false)
            verdicts.withLock { $0.append(verdict) }
        }
        try await eventually { store.waiters(of: login) == 10 }
        // Nothing is locked during the question.
        #expect(store.list().count == 1)
        server.open()
        try await eventually { verdicts.withLock { $0.count } == 11 }
        #expect(server.asked == [AskedOf(task: .refresh, session: "token 1")])
        let all = verdicts.withLock { $0 }
        let session = try #require(store.use(login))
        #expect(Set(all) == [.valid(session)])
        _ = store.renew(login, newTokens: true)
        #expect(server.asked.last == AskedOf(task: .refresh, session: "token 2"))
    }

    @Test("a running check does not answer a request for new tokens; the agent asks for them after it")
    func checkIsNoRefresh() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login))
        server.close()
        let done = Atomic(0)
        Thread.detachNewThread {
            _ = store.renew(login, newTokens: false)
            done.add(1, ordering: .sequentiallyConsistent)
        }
        try await eventually { server.asked.count == 1 }
        Thread.detachNewThread {
            _ = store.renew(login, newTokens: true)
            done.add(1, ordering: .sequentiallyConsistent)
        }
        try await eventually { store.waiters(of: login) == 1 }
        server.open()
        try await eventually { done.load(ordering: .sequentiallyConsistent) == 2 }
        #expect(server.asked.map(\.task) == [.check, .refresh])
    }

    @Test("a logout waits for a running renewal and revokes its tokens, and meanwhile no client can use the session")
    func logoutDuringFlight() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login))
        server.say(.yes("token 2"))
        server.close()
        let endings = Mutex<[SessionEnding]>([])
        Thread.detachNewThread { _ = store.renew(login, newTokens: true) }
        try await eventually { server.asked.count == 1 }
        Thread.detachNewThread {
            let ending = store.end(login, waits: true, password: nil)
            endings.withLock { $0.append(ending) }
        }
        try await eventually { store.list().isEmpty }
        #expect(store.use(login) == nil && store.renew(login, newTokens: true) == .none)
        #expect(!store.ends(login).wasThere)
        server.open()
        try await eventually { endings.withLock { $0.count } == 1 }
        #expect(endings.withLock { $0[0] } == .endedAtServer)
        #expect(
            server.asked == [
                AskedOf(task: .refresh, session: "token 1"), AskedOf(task: .logout(user: nil), session: "token 2"),
            ])
        #expect(store.list().isEmpty)
    }

    @Test("a session ends here even if its server cannot be reached, and the ending says why")
    func unreachable() throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login, .basic))
        server.say(.no(.unreachable(.refused)))
        let ending = store.end(login, waits: true, password: bytes("pass word"))
        #expect(ending == .endedHereOnly(.unreachable(.refused)))
        #expect(server.asked == [AskedOf(task: .logout(user: "ada"), session: "token 1")])
        #expect(store.list().isEmpty)
    }

    @Test("a session is useless after its idle time, and an offline login continues with the server's tokens")
    func idle() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login, idle: 100, session: 1_000))
        clock.advance(91)
        #expect(store.list().first?.isWarningDue == true && store.list().first?.idleLeft == 9)
        #expect(store.use(login)?.idleLeft == 100)
        #expect(store.expireDue() == 5_191)
        clock.advance(100)
        #expect(store.use(login)?.state == .idle)
        #expect(store.renew(login, newTokens: true) == .none)
        #expect(store.expireDue() == 6_000)
        #expect(store.expireDue() == 6_000)
        try await eventually { server.cleared.count >= 1 }
        #expect(try store.keeps(login, token: nil, idle: 100, session: 1_000, mode: .offline))
        let session = try #require(store.use(login))
        #expect(session.state == .valid && session.mode == .offline && session.hasServerSession)
        #expect(session.sessionLeft == 1_000)
        _ = store.renew(login, newTokens: true)
        #expect(server.asked == [AskedOf(task: .refresh, session: "token 1")])
        #expect(server.cleared == [.idleTimeOut])
    }

    @Test("an offline login under another profile starts a new session, and the old session's tokens are revoked")
    func otherProfile() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login, under: "one"))
        #expect(store.list().map(\.profile) == [try said("one")])
        #expect(try store.keeps(login, token: nil, mode: .offline, under: "another"))
        let session = try #require(store.use(login))
        #expect(session.profile == (try said("another")) && !session.hasServerSession)
        #expect(try await asked(1) == [AskedOf(task: .logout(user: nil), session: "token 1")])
    }

    @Test("a session time-out ends the session, clears the login and tells the server, without any request")
    func sessionTimeOut() async throws {
        let store = server.store(clock), login = try sessionLogin(), other = try sessionLogin("bob")
        #expect(try store.keeps(login, .basic, session: 50))
        #expect(try store.keeps(other, .basic, session: 500))
        clock.advance(49)
        #expect(store.use(login)?.sessionLeft == 1)
        #expect(store.expireDue() == 5_050)
        #expect(server.asked.isEmpty && server.cleared.isEmpty)
        clock.advance(1)
        #expect(store.use(login) == nil)
        #expect(store.expireDue() == 5_500)
        #expect(try await asked(1) == [AskedOf(task: .logout(user: nil), session: "token 1")])
        #expect(server.cleared == [.sessionTimeOut])
        #expect(store.list().map(\.login) == [other])
    }

    @Test("the tokens of a new login replace the old ones, which are revoked, except a cookie that may be the same")
    func replaced() async throws {
        let store = server.store(clock), login = try sessionLogin(), other = try sessionLogin("bob")
        #expect(try store.keeps(login))
        #expect(try store.keeps(login, token: "token 2"))
        #expect(try await asked(1) == [AskedOf(task: .logout(user: nil), session: "token 1")])
        #expect(try store.keeps(other, .basic))
        #expect(try store.keeps(other, .basic, token: "token 2"))
        _ = store.renew(other, newTokens: true)
        #expect(server.asked.dropFirst() == [AskedOf(task: .check, session: "token 2")])
        // The session of another server: nothing of the old session goes there.
        #expect(try store.keeps(other, .oauth, token: nil))
        #expect(store.use(other)?.hasServerSession == false)
        #expect(store.renew(other, newTokens: true) == .refused(.failed(.unusableSession)))
    }

    @Test(
        "a server's refusal ends the session, and an unreachable server leaves it unchanged",
        arguments: [
            (OnlineRefusal.rejected, true), (.blocked, true), (.failed(.invalidGrant, status: 400), true),
            (.unreachable(.timedOut), false), (.untrusted(.certificate), false), (.forbidden(.status), false),
            (.failed(.serverError, status: 500), false), (.failed(.helper), false),
        ])
    func refused(_ refusal: OnlineRefusal, isEnd: Bool) throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login))
        server.say(.no(refusal))
        #expect(store.renew(login, newTokens: true) == .refused(refusal))
        #expect(store.list().isEmpty == isEnd)
        guard !isEnd else { return }
        _ = store.renew(login, newTokens: true)
        #expect(server.asked.last == AskedOf(task: .refresh, session: "token 1"))
    }

    @Test("the agent keeps 64 sessions and drops an idle one for the next, but never a valid one")
    func bounded() throws {
        let store = server.store(clock)
        #expect(SessionStore.maximum == 64)
        for number in 0..<64 { #expect(try try store.keeps(sessionLogin("u\(number)"), idle: 100)) }
        let next = try sessionLogin("next")
        #expect(try !store.keeps(next))
        clock.advance(50)
        for number in 1..<64 { _ = store.use(try sessionLogin("u\(number)")) }
        clock.advance(50)
        #expect(try store.keeps(next))
        let first = try sessionLogin("u0")
        #expect(store.list().count == 64 && store.use(first) == nil)
    }
}

extension SessionStore {
    /// How many threads wait for the answer about the session.
    fileprivate func waiters(of login: LoginReference) -> Int? {
        entries.withLock { $0[login]?.pending?.waiters }
    }
}
