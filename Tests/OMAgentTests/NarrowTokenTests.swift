// Access tokens beside a session's own: with fewer scopes, or for a resource. The test sets the clock and answers as the server.

import Foundation
import OMAuth
import OMOnlineModel
import OMSecrets
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Access tokens with exact scopes", .onOwnThreads) struct NarrowTokenTests {
    private let clock = SessionClock()
    private let server = SessionServer()

    private func narrowing(_ scopes: [String], _ resource: String? = nil) throws -> TokenNarrowing {
        let set = try #require(ScopeSet(scopes))
        return try #require(TokenNarrowing(scopes: set, resource: resource))
    }

    private func question(
        _ scopes: [String], _ resource: String? = nil, needsLife: Bool = false, isFresh: Bool = false
    ) throws -> TokenQuestion {
        TokenQuestion(
            atLeast: 60, needsLife: needsLife, isFresh: isFresh, narrowing: try narrowing(scopes, resource))
    }

    private func store(_ login: LoginReference, release: TokenRelease = .allow) throws -> SessionStore {
        let store = server.store(clock)
        #expect(try store.keeps(login, expires: 5_100, access: "at 1", scopes: ["a", "b"], release: release))
        return store
    }

    @Test("a token with exactly the scopes comes from one question, and then from memory; the session's own stays")
    func exact() throws {
        let login = try sessionLogin(), store = try store(login), own = TokenQuestion(atLeast: 60)
        server.say(
            .yes("token 2", access: "at a", scopes: ["a"], lifetime: 100),
            .yes("token 3", access: "at r", scopes: ["a", "b"], lifetime: 90))
        for _ in 0..<3 { #expect(store.told(login, try question(["a"])) == "at a [a] 100 good") }
        #expect(store.told(login, try question([], "https://r.example")) == "at r [a b] 90 good")
        #expect(store.told(login, own) == "at 1 [a b] 100 good")
        #expect(
            server.asked == [
                AskedOf(task: .narrow(try narrowing(["a"])), session: "token 1"),
                AskedOf(task: .narrow(try narrowing([], "https://r.example")), session: "token 2"),
            ])
    }

    @Test("a token that lives too short, and a fresh one, are asked for with the newest refresh token")
    func renewed() throws {
        let login = try sessionLogin(), store = try store(login)
        let refusal = OnlineRefusal.unreachable(.refused)
        server.say(
            .yes("token 2", access: "at 2", scopes: ["a"], lifetime: 100),
            .yes("token 3", access: "at 3", scopes: ["a"], lifetime: 100),
            .yes("token 4", access: "at 4", scopes: ["a"], lifetime: 100), .no(refusal), .no(refusal), .no(refusal))
        #expect(store.told(login, try question(["a"])) == "at 2 [a] 100 good")
        clock.advance(41)
        #expect(store.told(login, try question(["a"])) == "at 3 [a] 100 good")
        #expect(store.told(login, try question(["a"], isFresh: true)) == "at 4 [a] 100 good")
        clock.advance(50)
        #expect(store.told(login, try question(["a"])) == "at 4 [a] 50 unrenewed")
        // That counts for two seconds, for every token of the session.
        #expect(store.told(login, try question(["a"], isFresh: true)) == "server \(refusal)")
        #expect(store.told(login, TokenQuestion(atLeast: 60, isFresh: true)) == "server \(refusal)")
        clock.advance(3)
        #expect(store.told(login, try question(["a"], needsLife: true)) == "server \(refusal)")
        clock.advance(47)
        #expect(store.told(login, try question(["a"])) == "server \(refusal)")
        #expect(server.asked.map(\.session) == ["token 1", "token 2", "token 3", "token 4", "token 4", "token 4"])
        // The session is as it was.
        #expect(store.list().count == 1)
    }

    @Test("a server that gives other scopes gives no token, and its new refresh token is kept")
    func otherScopes() throws {
        let login = try sessionLogin(), store = try store(login)
        server.say(
            .yes("token 2", access: "at 2", scopes: ["a", "b"], lifetime: 100), .yes("token 3", access: "at 3", lifetime: 100),
            .yes("token 4", access: "at 4", scopes: ["a"], lifetime: 100))
        #expect(store.told(login, try question(["a"])) == "other scopes [a b]")
        // That counts for two seconds, also for a fresh one, and for these scopes only.
        clock.advance(2)
        #expect(store.told(login, try question(["a"], isFresh: true)) == "other scopes [a b]")
        #expect(store.told(login, TokenQuestion(atLeast: 60)) == "at 1 [a b] 98 good")
        #expect(server.asked.count == 1)
        clock.advance(1)
        #expect(store.told(login, try question(["a"])) == "other scopes []")
        clock.advance(3)
        #expect(store.told(login, try question(["a"])) == "at 4 [a] 100 good")
        #expect(server.asked.map(\.session) == ["token 1", "token 2", "token 3"])
    }

    @Test("wider scopes, never and confirm are refused without a question; a spent refresh token ends the session")
    func refused() throws {
        let login = try sessionLogin(), store = try store(login)
        #expect(store.told(login, try question(["a", "c"])) == "scopes [a b]")
        #expect(try self.store(login, release: .never).told(login, try question(["a"])) == "never")
        #expect(try self.store(login, release: .confirm).told(login, try question(["a"])) == "unconfirmed")
        #expect(server.asked.isEmpty)
        server.say(.no(.failed(.invalidScope, status: 400)), .no(.failed(.invalidGrant, status: 400)))
        #expect(store.told(login, try question(["a"])) == "server \(OnlineRefusal.failed(.invalidScope, status: 400))")
        // That counts for two seconds, and says nothing about the session's own token.
        #expect(store.told(login, try question(["a"])) == "server \(OnlineRefusal.failed(.invalidScope, status: 400))")
        #expect(server.asked.count == 1)
        #expect(store.told(login, TokenQuestion(atLeast: 60)) == "at 1 [a b] 100 good")
        #expect(store.told(login, try question(["b"])) == "server \(OnlineRefusal.failed(.invalidGrant, status: 400))")
        #expect(store.list().isEmpty)
    }

    @Test("a session keeps sixteen of them, and drops the least recently used")
    func bounded() throws {
        let login = try sessionLogin(), store = try store(login)
        func address(_ number: Int) -> String { "https://r\(number).example" }
        for number in 0...NarrowToken.maximum {
            server.say(.yes("token", access: "at \(number)", scopes: ["a", "b"], lifetime: 100))
            #expect(store.told(login, try question([], address(number))) == "at \(number) [a b] 100 good")
            // The first one stays in use.
            #expect(store.told(login, try question([], address(0))) == "at 0 [a b] 100 good")
        }
        #expect(store.entries.withLock { $0[login]?.narrowTokens.count } == NarrowToken.maximum)
        #expect(server.asked.count == NarrowToken.maximum + 1)
        server.say(.yes("token", access: "at 1 again", scopes: ["a", "b"], lifetime: 100))
        #expect(store.told(login, try question([], address(1))) == "at 1 again [a b] 100 good")
    }

    @Test("a crowd makes one question, and a check that waits for it is not refused with it")
    func singleFlight() async throws {
        let login = try sessionLogin(), store = try store(login), ask = try question(["a"])
        server.say(.yes("token 2", access: "at 2", scopes: ["a"], lifetime: 100))
        server.close()
        let told = Mutex<[String]>([])
        for _ in 0..<20 {
            Thread.detachNewThread {
                let reply = store.told(login, ask)
                told.withLock { $0.append(reply) }
            }
        }
        try await eventually { store.waiting(for: login) == 19 }
        server.open()
        try await eventually { told.withLock { $0.count } == 20 }
        #expect(told.withLock { Set($0) } == ["at 2 [a] 100 good"] && server.asked.count == 1)
        server.close()
        server.say(.no(.failed(.invalidScope, status: 400)), .yes(nil))
        let other = try question(["b"])
        for check in [false, true] {
            Thread.detachNewThread {
                let reply = check ? "\(store.renew(login, newTokens: false))".prefix(5) : store.told(login, other).prefix(6)
                told.withLock { $0.append(String(reply)) }
            }
            try await eventually { server.asked.count == 2 }
        }
        try await eventually { store.waiting(for: login) == 1 }
        server.open()
        try await eventually { told.withLock { $0.count } == 22 }
        #expect(told.withLock { Set($0.suffix(2)) } == ["server", "valid"])
    }

    @Test("a token that a server refused is dropped, and the session's own is not asked for again")
    func forgotten() throws {
        let login = try sessionLogin(), store = try store(login)
        server.say(
            .yes("token 2", access: "at 2", scopes: ["a"], lifetime: 100),
            .yes("token 3", access: "at 3", scopes: ["a"], lifetime: 100))
        #expect(store.told(login, try question(["a"])) == "at 2 [a] 100 good")
        store.forgetToken(of: login, refused: bytes("at 2"))
        #expect(store.told(login, TokenQuestion(atLeast: 60)) == "at 1 [a b] 100 good")
        #expect(store.told(login, try question(["a"])) == "at 3 [a] 100 good")
        #expect(server.asked.count == 2)
    }

    @Test("a resource is an absolute address of printable ASCII without a fragment")
    func resources() throws {
        for text in ["https://a.example", "https://a.example/b?c", "urn:example:a"] {
            #expect(TokenNarrowing(scopes: ScopeSet(), resource: text) != nil, "\(text)")
        }
        for text in ["", "a.example", ":a", "https:", "https://a.example/#b", "https://a b", "https://ä", "a:\n"] {
            #expect(TokenNarrowing(scopes: ScopeSet(), resource: text) == nil, "\(text)")
        }
        #expect(TokenNarrowing(scopes: ScopeSet(), resource: nil) == nil)
        #expect(TokenNarrowing(scopes: ScopeSet(), resource: "a:" + String(repeating: "b", count: 2_047)) == nil)
    }
}
