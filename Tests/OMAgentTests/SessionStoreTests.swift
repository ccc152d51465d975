// The store of sessions with a clock and a server of the test's.

import Foundation
import Glibc
import OMAuth
import OMOnlineModel
import OMSecrets
import Synchronization
import TestSupport
import Testing

@testable import OMAgent

@Suite("Sessions in the agent", .onOwnThreads) struct SessionStoreTests {
    private let clock = SessionClock()
    private let server = SessionServer()

    /// Waits until nothing is asked or cleared any more on other threads: there is one errand for each ending.
    private func asked(_ count: Int) async throws -> [AskedOf] {
        try await eventually { server.asked.count >= count }
        return server.asked
    }

    @Test("ten who ask for new tokens at once are one question, get the one answer, and the next question has the new ones")
    func singleFlight() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login))
        server.say(.yes("token 2"))
        server.close()
        let verdicts = Mutex<[SessionCheckResult]>([])
        for _ in 0..<10 {
            Thread.detachNewThread {
                let verdict = store.renew(login, anew: true)
                verdicts.withLock { $0.append(verdict) }
            }
        }
        try await eventually { store.waiters(of: login) == 9 }
        // Who only wants to know whether it counts rides along.
        Thread.detachNewThread {
            let verdict = store.renew(login, anew: false)
            verdicts.withLock { $0.append(verdict) }
        }
        try await eventually { store.waiters(of: login) == 10 }
        // Nothing is locked meanwhile.
        #expect(store.list().count == 1)
        server.open()
        try await eventually { verdicts.withLock { $0.count } == 11 }
        #expect(server.asked == [AskedOf(task: .refresh, session: "token 1")])
        let all = verdicts.withLock { $0 }
        let session = try #require(store.use(login))
        #expect(Set(all) == [.valid(session)])
        _ = store.renew(login, anew: true)
        #expect(server.asked.last == AskedOf(task: .refresh, session: "token 2"))
    }

    @Test("a check that is under way does not answer for new tokens: they are asked for after it")
    func checkIsNoRefresh() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login))
        server.close()
        let done = Atomic(0)
        Thread.detachNewThread {
            _ = store.renew(login, anew: false)
            done.add(1, ordering: .sequentiallyConsistent)
        }
        try await eventually { server.asked.count == 1 }
        Thread.detachNewThread {
            _ = store.renew(login, anew: true)
            done.add(1, ordering: .sequentiallyConsistent)
        }
        try await eventually { store.waiters(of: login) == 1 }
        server.open()
        try await eventually { done.load(ordering: .sequentiallyConsistent) == 2 }
        #expect(server.asked.map(\.task) == [.check, .refresh])
    }

    @Test("a logout waits for the tokens that are on their way, and takes those back; until then nobody can use the session")
    func logoutDuringFlight() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login))
        server.say(.yes("token 2"))
        server.close()
        let endings = Mutex<[SessionEnding]>([])
        Thread.detachNewThread { _ = store.renew(login, anew: true) }
        try await eventually { server.asked.count == 1 }
        Thread.detachNewThread {
            let ending = store.end(login, waits: true, password: nil)
            endings.withLock { $0.append(ending) }
        }
        try await eventually { store.list().isEmpty }
        #expect(store.use(login) == nil && store.renew(login, anew: true) == .none)
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

    @Test("a server that cannot be reached keeps no session alive here, and the ending says why")
    func unreachable() throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login, .basic))
        server.say(.no(.unreachable(.refused)))
        let ending = store.end(login, waits: true, password: bytes("pass word"))
        #expect(ending == .endedHereOnly(.unreachable(.refused)))
        #expect(server.asked == [AskedOf(task: .logout(user: "ada"), session: "token 1")])
        #expect(store.list().isEmpty)
    }

    @Test("unused for its idle time a session is good for nothing, and an offline login goes on with what the server gave")
    func idle() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login, idle: 100, session: 1_000))
        clock.advance(91)
        #expect(store.list().first?.isWarningDue == true && store.list().first?.idleLeft == 9)
        #expect(store.use(login)?.idleLeft == 100)
        #expect(store.expireDue() == 5_191)
        clock.advance(100)
        #expect(store.use(login)?.state == .idle)
        #expect(store.renew(login, anew: true) == .none)
        #expect(store.expireDue() == 6_000)
        #expect(store.expireDue() == 6_000)
        try await eventually { server.cleared.count >= 1 }
        #expect(try store.keeps(login, token: nil, idle: 100, session: 1_000, mode: .offline))
        let session = try #require(store.use(login))
        #expect(session.state == .valid && session.mode == .offline && session.hasServerSession)
        #expect(session.sessionLeft == 1_000)
        _ = store.renew(login, anew: true)
        #expect(server.asked == [AskedOf(task: .refresh, session: "token 1")])
        #expect(server.cleared == [.idleTimeOut])
    }

    @Test("an offline login under another profile begins anew, and the tokens that the server gave to the old one are taken back")
    func otherProfile() async throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login, under: "one"))
        #expect(store.list().map(\.profile) == [try said("one")])
        #expect(try store.keeps(login, token: nil, mode: .offline, under: "another"))
        let session = try #require(store.use(login))
        #expect(session.profile == (try said("another")) && !session.hasServerSession)
        #expect(try await asked(1) == [AskedOf(task: .logout(user: nil), session: "token 1")])
    }

    @Test("at its session time-out a session goes, the login is cleared, and the server is told, without anybody asking")
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

    @Test("a new login's tokens replace the old ones, which are revoked; a cookie that may be the same is let be")
    func replaced() async throws {
        let store = server.store(clock), login = try sessionLogin(), other = try sessionLogin("bob")
        #expect(try store.keeps(login))
        #expect(try store.keeps(login, token: "token 2"))
        #expect(try await asked(1) == [AskedOf(task: .logout(user: nil), session: "token 1")])
        #expect(try store.keeps(other, .basic))
        #expect(try store.keeps(other, .basic, token: "token 2"))
        _ = store.renew(other, anew: true)
        #expect(server.asked.dropFirst() == [AskedOf(task: .check, session: "token 2")])
        // Another server's: nothing of the old one goes there.
        #expect(try store.keeps(other, .oauth, token: nil))
        #expect(store.use(other)?.hasServerSession == false)
        #expect(store.renew(other, anew: true) == .refused(.failed(.unusableSession)))
    }

    @Test(
        "what is spent ends, what is only out of reach stays as it was",
        arguments: [
            (OnlineRefusal.rejected, true), (.blocked, true), (.failed(.invalidGrant, status: 400), true),
            (.unreachable(.timedOut), false), (.untrusted(.certificate), false), (.forbidden(.status), false),
            (.failed(.serverError, status: 500), false), (.failed(.helper), false),
        ])
    func refused(_ refusal: OnlineRefusal, isEnd: Bool) throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(try store.keeps(login))
        server.say(.no(refusal))
        #expect(store.renew(login, anew: true) == .refused(refusal))
        #expect(store.list().isEmpty == isEnd)
        guard !isEnd else { return }
        _ = store.renew(login, anew: true)
        #expect(server.asked.last == AskedOf(task: .refresh, session: "token 1"))
    }

    @Test("64 sessions are kept; for one more an idle one goes, never a valid one")
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
