// Sessions of the agent that the ledger remembers: the ledger has each new refresh token before a caller has the access token.

import Foundation
import OMAuth
import OMOnlineModel
import OMSecrets
import OMSystem
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Sessions in the agent that the ledger remembers", .onOwnThreads) struct RememberedTokensTests {
    private let clock = SessionClock()
    private let server = SessionServer()
    private let ledger = MemorySessionLedger()

    private func store(_ tickets: SessionTickets? = nil) -> SessionStore {
        SessionStore(
            tickets, ask: { (question: consuming OnlineQuestion) in server.ask(question) }, clear: { _, _ in },
            ledger: ledger.sessions, clock: { clock.read() })
    }

    /// A session of which the ledger has this state.
    private func kept(
        _ login: LoginReference, _ generation: UInt64 = 1, token: String = "token 1", survives: Bool = false,
        expires: Int64? = nil, idle: Int64? = nil
    ) throws -> NewSession {
        var kept = try keptSession(
            login, token: token, idle: idle, survives: survives, expires: expires, access: "at 1", scopes: ["a"], release: .allow,
            idToken: "id")
        kept.row = SessionRowKey(bytes(String(repeating: "k", count: 32)), generation: generation)
        return kept
    }

    private func text(_ reply: consuming TokenReply) -> String {
        switch consume reply {
        case .given(let token, _, _): token.value.text
        case .none: "none"
        case .refused(.server(.failed(let failure, _, _))): "\(failure)"
        case .refused(let refusal): "\(refusal)"
        }
    }

    private let fresh = TokenQuestion(atLeast: 0, isFresh: true)
    private let any = TokenQuestion(atLeast: 0)

    @Test("new tokens are in the ledger before any caller gets one, and a ledger that is full gives none")
    func order() throws {
        let store = store(), login = try sessionLogin()
        ledger.has(1)
        #expect(store.keep(try kept(login)))
        #expect(store.list().first?.isRemembered == true)
        server.say(.yes("token 2", access: "at 2", scopes: ["a"], lifetime: 600))
        #expect(text(store.token(of: login, fresh)) == "at 2")
        #expect(ledger.states == ["2 token 2 at 2 id 600"])
        // The disk is full. The server has replaced the refresh token already.
        ledger.fails = true
        server.say(.yes("token 3", access: "at 3", scopes: ["a"], lifetime: 600))
        #expect(text(store.token(of: login, fresh)) == "unkeptTokens")
        #expect(text(store.token(of: login, any)) == "unkeptTokens")
        #expect(server.asked.count == 2)
        ledger.fails = false
        #expect(text(store.token(of: login, any)) == "at 3")
        #expect(ledger.states.last == "3 token 3 at 3 id 600" && server.asked.count == 2)
        // A mark that is not written is written with the next question.
        ledger.lacksMark = true
        server.say(.yes("token 4", access: "at 4", scopes: ["a"], lifetime: 600))
        #expect(text(store.token(of: login, fresh)) == "unkeptTokens")
        #expect(text(store.token(of: login, any)) == "at 4" && ledger.states.last == "5 token 4 at 4 id 600")
        // A further token brings a refresh token too, and the session's own access token stays.
        let scopes = try #require(ScopeSet(["a"])), narrowing = try #require(TokenNarrowing(scopes: scopes, resource: nil))
        server.say(.yes("token 5", access: "narrow", scopes: ["a"], lifetime: 60))
        #expect(text(store.token(of: login, TokenQuestion(atLeast: 0, narrowing: narrowing))) == "narrow")
        #expect(ledger.states.last == "6 token 5 at 4 id 600")
    }

    @Test("fifty threads make one request and one state, and none has a token before the state is written")
    func crowd() async throws {
        let store = store(), login = try sessionLogin(), isWritten = Flag()
        ledger.has(1)
        #expect(store.keep(try kept(login, expires: clock.read().sinceBoot)))
        server.say(.yes("token 2", access: "at 2", scopes: ["a"], lifetime: 600))
        ledger.beforeWriting = { isWritten.set() }
        let got = try await atOnce(50) { _ in
            let token = text(store.token(of: login, any))
            return (token, isWritten.isSet)
        }
        #expect(got.allSatisfy { $0 == ("at 2", true) } && got.count == 50)
        #expect(server.asked.count == 1 && ledger.states.count == 1)
    }

    @Test("a session whose row is gone gives no token and is ended at the server, with its newest tokens")
    func gone() async throws {
        let store = store(), login = try sessionLogin()
        ledger.has(1)
        #expect(store.keep(try kept(login)))
        ledger.has(nil)
        #expect(text(store.token(of: login, fresh)) == "none" && store.list().isEmpty)
        try await eventually { server.asked == [AskedOf(task: .logout(user: nil), session: "token 1")] }
        // It is deleted while the server is asked.
        ledger.has(1)
        #expect(store.keep(try kept(login)))
        ledger.beforeWriting = { ledger.has(nil) }
        server.say(.yes("token 2", access: "at 2", scopes: ["a"], lifetime: 600))
        #expect(text(store.token(of: login, fresh)) == "none" && store.list().isEmpty)
        try await eventually { server.asked.last == AskedOf(task: .logout(user: nil), session: "token 2") }
        #expect(ledger.generation == nil)
    }

    @Test("what ends a session deletes its row, and a later login's row stays")
    func ends() async throws {
        let store = store(), login = try sessionLogin()
        ledger.has(1)
        #expect(store.keep(try kept(login)))
        #expect(store.ends(login).wasThere)
        #expect(ledger.generation == nil)
        ledger.has(2)
        #expect(store.keep(try kept(login, 2)))
        server.say(.no(.failed(.invalidGrant)))
        _ = store.renew(login, newTokens: true)
        #expect(store.list().isEmpty)
        try await eventually { ledger.generation == nil }
        ledger.has(3)
        #expect(store.keep(try kept(login, 3)))
        ledger.has(4)
        #expect(store.keep(try kept(login, 4, token: "token 4")))
        try await eventually { server.asked.last?.task == .logout(user: nil) }
        #expect(ledger.generation == 4)
    }

    @Test("a session that another process restored and renewed meanwhile is not taken from an older state")
    func restored() throws {
        let store = store(), login = try sessionLogin()
        ledger.has(7)
        #expect(store.restore(try kept(login, 7), since: 42) == .done)
        #expect(ledger.generation == 8 && store.list().first?.since == 42)
        server.say(.yes("token 2", access: "at 2", scopes: ["a"], lifetime: 600))
        #expect(text(store.token(of: login, fresh)) == "at 2" && ledger.generation == 9)
        // The agent's session is newer than what another command has read.
        #expect(store.restore(try kept(login, 7), since: 42) == .done)
        #expect(text(store.token(of: login, any)) == "at 2")
        // Another agent has none, and the state was read too early.
        let other = self.store()
        #expect(other.restore(try kept(login, 7), since: 42) == .gone && other.list().isEmpty)
        ledger.fails = true
        #expect(other.restore(try kept(login, 9), since: 42) == .failed && other.list().isEmpty)
    }

    @Test("a session that another agent has renewed asks its server nothing any more, and tells it nothing")
    func overtaken() throws {
        let first = store(), second = store(), login = try sessionLogin()
        ledger.has(1)
        #expect(first.keep(try kept(login)))
        #expect(second.restore(try kept(login), since: 42) == .done)
        let scopes = try #require(ScopeSet(["a"])), narrowing = try #require(TokenNarrowing(scopes: scopes, resource: nil))
        for question in [fresh, TokenQuestion(atLeast: 0, narrowing: narrowing)] {
            #expect(text(first.token(of: login, question)) == "none" && first.list().isEmpty)
            #expect(first.keep(try kept(login)))
        }
        #expect(first.renew(login, newTokens: false) == .none && first.list().isEmpty)
        // A client compares it before it deletes the ledger's row.
        #expect(first.keep(try kept(login)))
        for store in [first, second] { store.deleteOvertaken(login) }
        #expect(first.list().isEmpty && second.list().count == 1)
        #expect(server.asked.isEmpty && ledger.generation == 2)
        #expect(text(second.token(of: login, any)) == "at 1")
        // This agent writes the newer state itself while it is compared.
        server.say(.yes("token 2", access: "at 2", scopes: ["a"], lifetime: 600))
        ledger.beforeLooking = {
            ledger.beforeLooking = {}
            #expect(text(second.token(of: login, fresh)) == "at 2")
        }
        second.deleteOvertaken(login)
        #expect(text(second.token(of: login, any)) == "at 2" && ledger.generation == 3)
    }

    @Test("a refusal after another agent's renewal ends no session, and neither does a logout: the ledger keeps the newer state")
    func overtakenMeanwhile() throws {
        let store = store(), login = try sessionLogin()
        let scopes = try #require(ScopeSet(["a"])), narrowing = try #require(TokenNarrowing(scopes: scopes, resource: nil))
        for question in [fresh, TokenQuestion(atLeast: 0, narrowing: narrowing)] {
            ledger.has(1)
            #expect(store.keep(try kept(login)))
            // The other agent's renewal is between the look and the question.
            ledger.afterLooking = { ledger.has(2) }
            server.say(.no(.failed(.invalidGrant)))
            #expect(text(store.token(of: login, question)) == "none" && store.list().isEmpty)
            ledger.afterLooking = {}
            #expect(ledger.generation == 2)
        }
        #expect(server.asked.count == 2)
        ledger.has(1)
        #expect(store.keep(try kept(login)))
        ledger.has(2)
        #expect(store.ends(login) == .overtaken && store.list().isEmpty)
        #expect(server.asked.count == 2 && ledger.generation == 2)
    }

    @Test("tokens that the ledger lacks are not renewed, whatever asks")
    func unkept() throws {
        let store = store(), login = try sessionLogin()
        ledger.has(1)
        #expect(store.keep(try kept(login)))
        ledger.fails = true
        server.say(.yes("token 2", access: "at 2", scopes: ["a"], lifetime: 600))
        for _ in 0..<2 { #expect(store.renew(login, newTokens: true) == .refused(.failed(.unkeptTokens))) }
        #expect(server.asked.count == 1)
    }

    @Test("an offline login's session without tokens gets those of the ledger, and keeps its own time")
    func offlineFirst() throws {
        let store = store(), login = try sessionLogin()
        ledger.has(1)
        #expect(store.keep(try keptSession(login, token: nil, mode: .offline, release: .allow)))
        ledger.fails = true
        #expect(store.restore(try kept(login), since: 42) == .failed)
        #expect(store.list().map(\.hasServerSession) == [false])
        ledger.fails = false
        #expect(store.restore(try kept(login), since: 42) == .done)
        #expect(store.list().map(\.hasServerSession) == [true] && store.list().first?.mode == .offline)
        #expect(text(store.token(of: login, any)) == "at 1")
    }

    @Test("a ticket's session is compared with the ledger at its first use, not before, and not while it is idle")
    func ticketsAreLazy() throws {
        let home = try TestFolder(in: "/dev/shm"), tickets = SessionTickets(try RuntimeFolder.make(home.path))
        defer { for id in tickets.ids { tickets.remove(id) } }
        let login = try sessionLogin("ada \(UUID().uuidString)")
        ledger.has(1)
        #expect(store(tickets).keep(try kept(login, survives: true, idle: 100)))
        // The ledger is busy, or the disk is full. The ticket has the only tokens.
        ledger.fails = true
        let second = store(tickets)
        second.resume()
        #expect(text(second.token(of: login, any)) == "unkeptTokens" && second.list().count == 1)
        ledger.fails = false
        let third = store(tickets)
        third.resume()
        #expect(ledger.states.isEmpty)
        clock.advance(100)
        #expect(text(third.token(of: login, any)) == "none" && third.renew(login, newTokens: true) == .none)
        #expect(ledger.states.isEmpty && server.asked.isEmpty)
        clock.advance(-50)
        let fourth = store(tickets)
        fourth.resume()
        #expect(text(fourth.token(of: login, any)) == "at 1" && ledger.generation == 2)
    }

    @Test("a ticket that is older than the row gives no session; one of the row's state gives it")
    func tickets() throws {
        let home = try TestFolder(in: "/dev/shm"), tickets = SessionTickets(try RuntimeFolder.make(home.path))
        defer { for id in tickets.ids { tickets.remove(id) } }
        let login = try sessionLogin("ada \(UUID().uuidString)")
        ledger.has(1)
        #expect(store(tickets).keep(try kept(login, survives: true)))
        let second = store(tickets)
        second.resume()
        #expect(text(second.token(of: login, any)) == "at 1" && ledger.generation == 2)
        // The agent is killed after the row, and before the ticket.
        ledger.has(3)
        let third = store(tickets)
        third.resume()
        #expect(text(third.token(of: login, any)) == "none" && ledger.generation == 3)
        // The server would take its refresh token for a stolen one.
        #expect(third.list().isEmpty && tickets.ids.isEmpty && server.asked.isEmpty)
    }
}

/// A ledger with the row of one session.
private final class MemorySessionLedger: Sendable {
    private struct State {
        var generation: UInt64?
        var states: [String] = []
        var fails = false
        var lacksMark = false
        var beforeWriting: @Sendable () -> Void = {}
        var beforeLooking: @Sendable () -> Void = {}
        var afterLooking: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())

    var generation: UInt64? { state.withLock { $0.generation } }
    /// Each state that was written: generation, session, access token, ID token and the life of the access token.
    var states: [String] { state.withLock { $0.states } }
    var fails: Bool {
        get { state.withLock { $0.fails } }
        set { state.withLock { $0.fails = newValue } }
    }
    /// Whether the next mark is not written.
    var lacksMark: Bool {
        get { state.withLock { $0.lacksMark } }
        set { state.withLock { $0.lacksMark = newValue } }
    }
    var beforeWriting: @Sendable () -> Void {
        get { state.withLock { $0.beforeWriting } }
        set { state.withLock { $0.beforeWriting = newValue } }
    }
    var beforeLooking: @Sendable () -> Void {
        get { state.withLock { $0.beforeLooking } }
        set { state.withLock { $0.beforeLooking = newValue } }
    }
    var afterLooking: @Sendable () -> Void {
        get { state.withLock { $0.afterLooking } }
        set { state.withLock { $0.afterLooking = newValue } }
    }

    func has(_ generation: UInt64?) { state.withLock { $0.generation = generation } }

    var sessions: SessionLedger {
        SessionLedger(
            write: { _, update in
                self.beforeWriting()
                let (parts, left) = (
                    "\(update.parts.session.text) \(update.parts.access.value.text) \(update.parts.access.idToken.text)",
                    update.accessLeft.map { "\($0)" } ?? "-"
                )
                let known = update.key.generation
                return self.state.withLock { state in
                    guard !state.fails else { return .failed }
                    guard state.generation == known else { return .gone }
                    state.generation = known + 1
                    state.states.append("\(known + 1) \(parts) \(left)")
                    defer { state.lacksMark = false }
                    return state.lacksMark ? .unmarked(known + 1) : .written(known + 1)
                }
            },
            look: { _, generation in
                self.beforeLooking()
                let known: SessionLedger.Known = self.state.withLock { state in
                    state.generation == nil ? .absent : state.generation == generation ? .same : .other
                }
                self.afterLooking()
                return known
            },
            forget: { _, generation in
                self.state.withLock { state in
                    if state.generation.map({ $0 <= generation }) ?? false { state.generation = nil }
                }
            })
    }
}

private final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
