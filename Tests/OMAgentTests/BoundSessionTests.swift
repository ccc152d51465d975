// Sessions whose tokens are bound to a key, in the agent.

import OMAuth
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Sessions with bound tokens") struct BoundSessionTests {
    private let clock = SessionClock()
    private let server = SessionServer()

    private func reply(_ store: SessionStore, _ question: TokenQuestion) throws -> String {
        switch store.token(of: try sessionLogin(), question) {
        case .given(let token, _, _): token.value.text
        case .none: "none"
        case .refused(let refusal): "\(refusal)"
        }
    }

    @Test("a bound token leaves the agent only in a request, whatever TokenRelease says, and its ID token may leave")
    func refused() throws {
        let store = server.store(clock), login = try sessionLogin()
        #expect(
            try store.keeps(login, .bound, expires: 9_000, access: "at 1", scopes: ["a"], release: .allow, idToken: "it"))
        for question in [
            TokenQuestion(atLeast: 0), TokenQuestion(atLeast: 0, isAgreed: true), TokenQuestion(atLeast: 0, isFresh: true),
            TokenQuestion(atLeast: 0, narrowing: TokenNarrowing(scopes: try #require(ScopeSet(["a"])), resource: nil)),
        ] {
            #expect(try reply(store, question) == "bound")
        }
        #expect(server.asked.isEmpty)
        #expect(try reply(store, TokenQuestion(atLeast: 0).forRequest) == "at 1")
        #expect(try reply(store, TokenQuestion(atLeast: 0, isForIDToken: true)) == "it")
        #expect(store.list().first?.token?.kind == .dpop)
        let facts = try #require(store.requestFacts(of: login))
        #expect(facts.key != nil)
    }

    @Test("the key goes into each question, is in the ticket, and signs nothing once the session has ended")
    func kept() throws {
        let kept = try keptSession(try sessionLogin(), .bound, survives: true, access: "at 1")
        let entry = SessionEntry(kept, at: clock.read())
        let key = try #require(entry.tokenKey)
        func asks(_ question: consuming OnlineQuestion?) -> Bool {
            switch consume question {
            case .none: false
            case .some(let question): question.tokenKey === key
            }
        }
        let refresh = asks(entry.question(newTokens: true)), userInfo = asks(entry.question(.userInfo))
        #expect(refresh && userInfo)
        let ticket = entry.encoded()
        let again = try ticket.withBytes { bytes in try SessionEntry.decode(bytes, at: clock.read()) }
        #expect(again.tokenKey?.thumbprint == key.thumbprint)
        // No proof is needed to revoke tokens.
        let logout = asks(entry.takeLogout(password: nil))
        #expect(logout)
        #expect(throws: OnlineRefusal.failed(.unusableClientKey)) {
            _ = try key.prove(KeyProofClaims("GET", "http://127.0.0.1:1/"), now: 1).count
        }
    }

    @Test("the key signs nothing from the moment that its session is removed, also while the server is asked")
    func removed() async throws {
        func signs(_ key: TokenKey) -> Bool {
            (try? key.prove(KeyProofClaims("GET", "http://127.0.0.1:1/"), now: 1).count) != nil
        }
        let login = try sessionLogin(), others = try (1...SessionStore.maximum).map { try sessionLogin("u\($0)") }
        let removals: [@Sendable (SessionStore, SessionClock) throws -> Void] = [
            { store, _ in _ = store.end(login, waits: false, password: nil) },
            { store, _ in _ = try store.keeps(login, .bound, token: "token 2") },
            { store, clock in
                clock.advance(101)
                _ = store.expireDue()
            },
            { store, clock in
                clock.advance(11)
                for other in others { _ = try store.keeps(other, .noServer) }
            },
        ]
        for remove in removals {
            let server = SessionServer(), clock = SessionClock(), store = server.store(clock)
            server.close()
            #expect(try store.keeps(login, .bound, idle: 10, session: 100))
            let key = try #require(store.requestFacts(of: login)?.key)
            async let renewed = onOwnThread { store.renew(login, newTokens: true) }
            try await eventually { server.asked.count == 1 }
            let before = signs(key)
            try remove(store, clock)
            let after = signs(key)
            server.open()
            _ = await renewed
            #expect(before && !after)
        }
    }

    @Test("a session whose tokens are bound is read only with its key, and no other session with one")
    func wire() throws {
        func isRead(_ kind: SessionKind, _ key: TokenKey?) throws -> Bool {
            let made = try keptSession(try sessionLogin(), kind, access: kind == .basic ? nil : "at 1")
            var body = SecretBuffer()
            switch made.takeServerPart() {
            case .none: return false
            case .some(var part):
                part.tokenKey = key
                body.write(part)
            }
            return body.withBytes { bytes in
                var wire = WireReader(bytes)
                return (try? wire.read(NewSession.ServerPart.self)) != nil && wire.isAtEnd
            }
        }
        let key = try #require(TokenKey.make())
        #expect(try isRead(.bound, key) && isRead(.oauth, nil) && isRead(.basic, nil))
        #expect(try !isRead(.bound, nil) && !isRead(.oauth, key) && !isRead(.basic, key))
    }
}
