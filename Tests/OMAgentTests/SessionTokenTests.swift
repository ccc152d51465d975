// Access tokens of sessions: from memory, from the server, or refused. The test sets the clock and answers as the server.

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

@Suite("Access tokens of sessions", .onOwnThreads) struct SessionTokenTests {
    private let clock = SessionClock()
    private let server = SessionServer()

    private func question(
        _ scopes: [String] = [], atLeast: UInt32 = 60, needsLife: Bool = false, isFresh: Bool = false
    ) throws -> TokenQuestion {
        TokenQuestion(
            scopes: try #require(ScopeSet(scopes)), atLeast: atLeast, needsLife: needsLife, isFresh: isFresh)
    }

    /// A store with a session whose token "at 1" lives for `life` seconds.
    private func store(
        _ login: LoginReference, life: Int64? = 100, access: String? = "at 1", scopes: [String] = ["a", "b"],
        release: TokenRelease = .allow
    ) throws -> SessionStore {
        let store = server.store(clock)
        #expect(
            try store.keeps(
                login, expires: life.map { 5_000 + $0 }, access: access, scopes: scopes, release: release))
        return store
    }

    @Test("a token comes from memory as long as it lives for the least life, and then from the server")
    func life() throws {
        let login = try sessionLogin(), store = try store(login)
        #expect(store.told(login, try question()) == "at 1 [a b] 100 good")
        clock.advance(40)
        #expect(store.told(login, try question()) == "at 1 [a b] 60 good")
        #expect(server.asked.isEmpty)
        clock.advance(1)
        server.say(.yes("token 2", access: "at 2", scopes: ["a"], lifetime: 3_600))
        #expect(store.told(login, try question()) == "at 2 [a] 3600 good")
        #expect(server.asked == [AskedOf(task: .refresh, session: "token 1")])
        // The least life decides, not the end.
        clock.advance(3_595)
        #expect(store.told(login, try question(atLeast: 5)) == "at 2 [a] 5 good")
        #expect(store.told(login, try question(atLeast: 0)) == "at 2 [a] 5 good")
        #expect(server.asked.count == 1)
    }

    @Test("a small program gets the token of the session that was compared with the profile, and not that of a later login")
    func known() throws {
        let login = try sessionLogin(), store = try store(login)
        func known(_ reading: ProfileReading) throws -> String? {
            let question = KnownTokenQuestion(state: "/a/state", device: "/a/device", profile: "work", reading: reading)
            switch store.knownToken(try #require(question)) {
            case .none: return nil
            case .some(let known): return known.access.value.text
            }
        }
        let old = ProfileReading(profile: [1], bounds: nil), new = ProfileReading(profile: [2], bounds: nil)
        #expect(try known(old) == nil)
        store.note(old, of: try said("this"), login)
        #expect(try known(old) == "at 1" && known(new) == nil)
        // Attack, or accident: the profile is changed, and a slow client has read the one before.
        #expect(try store.keeps(login, under: "other", expires: 5_100, access: "at 2", release: .allow))
        store.note(old, of: try said("this"), login)
        #expect(try known(old) == nil)
        store.note(new, of: try said("other"), login)
        #expect(try known(new) == "at 2" && known(old) == nil)
    }

    @Test("a token without an end always lives for long enough")
    func endless() throws {
        let login = try sessionLogin(), store = try store(login, life: nil)
        clock.advance(1_000_000)
        #expect(store.told(login, try question(atLeast: TokenQuestion.longest)) == "at 1 [a b] endless good")
        #expect(server.asked.isEmpty)
    }

    @Test("if the server's tokens are shorter than the least life, the newest one comes and is marked")
    func shortLived() throws {
        let login = try sessionLogin(), store = try store(login, life: 5)
        server.say(.yes("token 2", access: "at 2", lifetime: 5), .yes("token 3", access: "at 3", lifetime: 0))
        #expect(store.told(login, try question()) == "at 2 [] 5 shortLived")
        #expect(store.told(login, try question(atLeast: 3)) == "at 2 [] 5 good")
        #expect(store.told(login, try question()) == "dead")
        #expect(server.asked.map(\.session) == ["token 1", "token 2"])
    }

    @Test("a fresh token is asked for in any case, and an old one does not stand in for it")
    func fresh() throws {
        let login = try sessionLogin(), store = try store(login, life: 3_600)
        server.say(.yes("token 2", access: "at 2", lifetime: 3_600), .no(.unreachable(.refused)))
        #expect(store.told(login, try question(isFresh: true)) == "at 2 [] 3600 good")
        #expect(store.told(login, try question(isFresh: true)) == "server \(OnlineRefusal.unreachable(.refused))")
        #expect(store.told(login, try question()) == "at 2 [] 3600 good")
        #expect(server.asked.map(\.task) == [.refresh, .refresh])
    }

    @Test("without a network a live token comes and is marked, unless the least life is needed; a dead one does not come")
    func offline() throws {
        let login = try sessionLogin(), store = try store(login, life: 50)
        let refusal = OnlineRefusal.unreachable(.refused)
        server.say(.no(refusal), .no(refusal), .no(refusal), .no(refusal), .yes("token 2", access: "at 2", lifetime: 90))
        #expect(store.told(login, try question()) == "at 1 [a b] 50 unrenewed")
        clock.advance(3)
        #expect(store.told(login, try question(needsLife: true)) == "server \(refusal)")
        clock.advance(46)
        #expect(store.told(login, try question()) == "at 1 [a b] 1 unrenewed")
        clock.advance(3)
        #expect(store.told(login, try question()) == "server \(refusal)")
        clock.advance(3)
        // Nothing was cleared: with the network it works again, with the same refresh token.
        #expect(store.told(login, try question()) == "at 2 [] 90 good")
        #expect(server.asked.map(\.session) == Array(repeating: "token 1", count: 5))
    }

    @Test(
        "a server's error leaves the session as it was, and a spent refresh token ends it",
        arguments: [
            (OnlineRefusal.failed(.serverError, status: 500), false), (.untrusted(.certificate), false),
            (.failed(.invalidGrant, status: 400), true), (.rejected, true),
        ])
    func refused(_ refusal: OnlineRefusal, isEnd: Bool) throws {
        let login = try sessionLogin(), store = try store(login, life: 10)
        server.say(.no(refusal), .no(refusal))
        // An error of the server says nothing about the held token. So it comes, unless its life is needed.
        if !isEnd { #expect(store.told(login, try question()) == "at 1 [a b] 10 unrenewed") }
        clock.advance(3)
        #expect(store.told(login, try question(needsLife: true)) == "server \(refusal)")
        #expect(store.list().isEmpty == isEnd)
        #expect(store.told(login, try question(atLeast: 5)) == (isEnd ? "none" : "at 1 [a b] 7 good"))
    }

    @Test("a server that gave no refresh token has no newer token than the held one")
    func noRefreshToken() throws {
        let login = try sessionLogin(), store = try store(login, life: 10)
        server.say(.no(.failed(.unusableSession)), .no(.failed(.unusableSession)))
        #expect(store.told(login, try question()) == "at 1 [a b] 10 shortLived")
        clock.advance(10)
        #expect(store.told(login, try question()) == "server \(OnlineRefusal.failed(.unusableSession))")
    }

    @Test("with never no token comes, with confirm only to a client that says that the user agreed; no server is asked")
    func release() throws {
        let login = try sessionLogin(), ask = try question()
        let never = try store(login, life: 0, release: .never)
        #expect(never.told(login, ask) == "never" && never.told(login, ask.agreed) == "never")
        let confirm = try store(login, release: .confirm)
        #expect(confirm.told(login, ask) == "unconfirmed")
        #expect(confirm.told(login, ask.agreed) == "at 1 [a b] 100 good")
        // Not for the next question too.
        #expect(confirm.told(login, ask) == "unconfirmed")
        #expect(server.asked.isEmpty)
        #expect(confirm.list().map(\.release) == [.confirm])
    }

    @Test("a token comes for the scopes that it has, and for wider ones no server is asked")
    func scopes() throws {
        let login = try sessionLogin(), store = try store(login)
        #expect(store.told(login, try question(["b"])) == "at 1 [a b] 100 good")
        #expect(store.told(login, try question(["a", "b"])) == "at 1 [a b] 100 good")
        #expect(store.told(login, try question(["a", "c"], isFresh: true)) == "scopes [a b]")
        #expect(server.asked.isEmpty)
        let none = try self.store(login, scopes: [])
        #expect(none.told(login, try question(["a"])) == "scopes []")
        #expect(none.told(login, try question()) == "at 1 [] 100 good")
    }

    @Test("no session, an idle session, another user's session and a session without a token give none")
    func none() throws {
        let login = try sessionLogin(), other = try sessionLogin("bob"), store = server.store(clock)
        #expect(store.told(login, try question()) == "none")
        #expect(try store.keeps(login, idle: 50, access: "at 1", release: .allow))
        #expect(store.told(other, try question()) == "none")
        clock.advance(49)
        #expect(store.told(login, try question()) == "at 1 [] endless good")
        // That was a use.
        clock.advance(49)
        #expect(store.told(login, try question()) == "at 1 [] endless good")
        clock.advance(50)
        #expect(store.told(login, try question()) == "none")
        #expect(try store.keeps(other, token: nil, mode: .offline, release: .allow))
        #expect(store.told(other, try question()) == "noToken")
        #expect(try store.keeps(other, .basic, release: .allow))
        #expect(store.told(other, try question()) == "noToken")
    }

    @Test("an offline login goes on with the token of the login before it")
    func continued() throws {
        let login = try sessionLogin(), store = try store(login)
        #expect(try store.keeps(login, token: nil, mode: .offline, release: .allow))
        #expect(store.told(login, try question()) == "at 1 [a b] 100 good")
    }

    @Test("fifty clients with an expired token make one question to the server, and get the same token")
    func singleFlight() async throws {
        let login = try sessionLogin(), store = try store(login, life: 0), ask = try question()
        server.say(.yes("token 2", access: "at 2", lifetime: 3_600))
        server.close()
        let told = Mutex<[String]>([])
        for _ in 0..<50 {
            Thread.detachNewThread {
                let reply = store.told(login, ask)
                told.withLock { $0.append(reply) }
            }
        }
        try await eventually { store.waiting(for: login) == 49 }
        server.open()
        try await eventually { told.withLock { $0.count } == 50 }
        #expect(told.withLock { Set($0) } == ["at 2 [] 3600 good"])
        #expect(server.asked == [AskedOf(task: .refresh, session: "token 1")])
    }

    @Test("clients that wait for a question get its refusal, and ask no second one")
    func sharedRefusal() async throws {
        let login = try sessionLogin(), store = try store(login, life: 0), ask = try question()
        server.say(.no(.unreachable(.timedOut)))
        server.close()
        let told = Mutex<[String]>([])
        for _ in 0..<5 {
            Thread.detachNewThread {
                let reply = store.told(login, ask)
                told.withLock { $0.append(reply) }
            }
        }
        try await eventually { store.waiting(for: login) == 4 }
        server.open()
        try await eventually { told.withLock { $0.count } == 5 }
        #expect(told.withLock { Set($0) } == ["server \(OnlineRefusal.unreachable(.timedOut))"])
        #expect(server.asked.count == 1)
    }

    @Test("a refusal of new tokens counts for two seconds for those who ask next, also for a fresh token; then one asks again")
    func sharedForTwoSeconds() throws {
        let login = try sessionLogin(), store = try store(login, life: 30)
        let refusal = OnlineRefusal.unreachable(.refused)
        server.say(.no(refusal), .no(refusal), .yes("token 2", access: "at 2", lifetime: 3_600), .no(refusal))
        #expect(store.told(login, try question(isFresh: true)) == "server \(refusal)")
        for _ in 0..<3 {
            #expect(store.told(login, try question(isFresh: true)) == "server \(refusal)")
            #expect(store.told(login, try question(needsLife: true)) == "server \(refusal)")
            // Each question is decided by itself.
            #expect(store.told(login, try question()).hasSuffix("unrenewed"))
            #expect(server.asked.count == 1)
            clock.advance(1)
        }
        #expect(store.told(login, try question(isFresh: true)) == "server \(refusal)")
        #expect(server.asked.count == 2)
        // The user asks for new tokens at once. That is a question of its own, and its answer counts.
        if case .valid = store.renew(login, newTokens: true) {} else { Issue.record("not renewed") }
        #expect(store.told(login, try question()) == "at 2 [] 3600 good")
        #expect(store.told(login, try question(isFresh: true)) == "server \(refusal)")
        #expect(server.asked.count == 4)
    }

    @Test("the refusal of a check, and of another session, is no refusal of new tokens")
    func otherRefusals() throws {
        let login = try sessionLogin(), other = try sessionLogin("bob"), store = try store(login, life: 0)
        #expect(try store.keeps(other, expires: 5_000, access: "at 7", release: .allow))
        let refusal = OnlineRefusal.unreachable(.refused)
        server.say(.no(refusal), .no(refusal), .yes("token 2", access: "at 2", lifetime: 3_600))
        #expect(store.renew(login, newTokens: false) == .refused(refusal))
        #expect(store.told(other, try question()) == "server \(refusal)")
        #expect(store.told(login, try question()) == "at 2 [] 3600 good")
    }

    @Test("a token that a server refused is asked for again once, also if a crowd reports it, and stays if no other one comes")
    func forgotten() throws {
        let login = try sessionLogin(), store = try store(login)
        let refusal = OnlineRefusal.unreachable(.refused)
        server.say(.yes("token 2", access: "at 2", lifetime: 100), .no(refusal), .yes("token 3", access: "at 3", lifetime: 100))
        store.forgetToken(of: login, refused: bytes("at 0"))
        #expect(store.told(login, try question()) == "at 1 [a b] 100 good")
        for _ in 0..<3 { store.forgetToken(of: login, refused: bytes("at 1")) }
        #expect(server.asked.isEmpty)
        #expect(store.told(login, try question()) == "at 2 [] 100 good")
        store.forgetToken(of: login, refused: bytes("at 1"))
        #expect(store.told(login, try question()) == "at 2 [] 100 good")
        #expect(server.asked.count == 1)
        // Without a token the caller means whichever there is.
        store.forgetToken(of: login, refused: nil)
        #expect(store.told(login, try question()) == "at 2 [] 100 good")
        #expect(server.asked.count == 2)
        clock.advance(3)
        #expect(store.told(login, try question()) == "at 3 [] 100 good")
        #expect(store.told(login, try question()) == "at 3 [] 100 good")
        #expect(server.asked.count == 3)
        store.forgetToken(of: try sessionLogin("bob"), refused: nil)
    }

    @Test("a token's life counts from the question to the server, however late the answer is")
    func lateAnswer() async throws {
        let login = try sessionLogin(), store = try store(login, life: 0), ask = try question()
        server.say(.yes("token 2", access: "at 2", lifetime: 100))
        server.close()
        let told = Mutex<String?>(nil)
        Thread.detachNewThread {
            let reply = store.told(login, ask)
            told.withLock { $0 = reply }
        }
        try await eventually { server.asked.count == 1 }
        clock.advance(30)
        server.open()
        try await eventually { told.withLock { $0 != nil } }
        #expect(told.withLock { $0 } == "at 2 [] 70 good")
        clock.advance(70)
        #expect(store.list().first?.state == .expired)
    }

    @Test("the description of a session names the token's scopes and life, and not the token")
    func description() throws {
        let login = try sessionLogin(), store = try store(login, scopes: ["b", "a"])
        clock.advance(30)
        #expect(store.list().first?.token == HeldToken(scopes: try #require(ScopeSet(["a", "b"])), left: 70, kind: .bearer))
        clock.advance(100)
        #expect(store.list().first?.token?.left == 0)
        #expect(store.ends(login).wasThere && store.list().isEmpty)
    }
}

extension SessionStore {
    /// The reply to a question, as text.
    func told(_ login: LoginReference, _ question: TokenQuestion) -> String {
        switch token(of: login, question) {
        case .given(let token, let left, let state):
            return
                "\(token.value.text) [\(token.scopes.names.joined(separator: " "))] \(left.map { "\($0)" } ?? "endless") \(state)"
        case .none: return "none"
        case .refused(.scopes(let held)): return "scopes [\(held.names.joined(separator: " "))]"
        case .refused(.otherScopes(let given)): return "other scopes [\(given.names.joined(separator: " "))]"
        case .refused(.server(let refusal)): return "server \(refusal)"
        case .refused(let refusal): return "\(refusal)"
        }
    }

    /// How many threads wait for the answer about the session.
    func waiting(for login: LoginReference) -> Int? {
        entries.withLock { $0[login]?.pending?.waiters }
    }
}
