// Questions about the tokens of sessions, ID tokens, and the end of a server's own session. The test answers as the server.

import Foundation
import OMAuth
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Questions about the tokens of sessions", .onOwnThreads) struct TokenInquiryStoreTests {
    private let clock = SessionClock()
    private let server = SessionServer()

    private func store(
        _ login: LoginReference, _ kind: SessionKind = .oauth, life: Int64 = 100, access: String? = "at 1",
        release: TokenRelease = .never, idToken: String = ""
    ) throws -> SessionStore {
        let store = server.store(clock)
        #expect(
            try store.keeps(
                login, kind, expires: 5_000 + life, access: access, scopes: ["a"], release: release, idToken: idToken))
        return store
    }

    private func claims(_ store: SessionStore, _ login: LoginReference, _ inquiry: TokenInquiry) -> String {
        switch store.claims(of: login, inquiry) {
        case .given(let claims): claims.text
        case .none: "none"
        case .noToken: "no token"
        case .refused(let refusal): "\(refusal)"
        }
    }

    @Test("a question about the user renews a dead token first, and a question about the token does not")
    func renewal() throws {
        let login = try sessionLogin(), store = try store(login)
        server.say(.claims("{\"a\":1}"))
        #expect(claims(store, login, .userInfo) == "{\"a\":1}")
        clock.advance(100)
        server.say(.claims("{\"active\":true}"))
        #expect(claims(store, login, .introspection) == "{\"active\":true}")
        server.say(.yes("token 2", access: "at 2", lifetime: 60), .claims("{}"))
        #expect(claims(store, login, .userInfo) == "{}")
        #expect(
            server.asked == [
                AskedOf(task: .userInfo, session: "token 1"), AskedOf(task: .introspect, session: "token 1"),
                AskedOf(task: .refresh, session: "token 1"), AskedOf(task: .userInfo, session: "token 2"),
            ])
    }

    @Test("a question about a token is signed in the vault of its session, and a locked key is told before the server is asked")
    func signing() throws {
        let paths = try #require(VaultPaths(vault: "/v", device: ""))
        let service = OnlineService(
            .oauth(
                OAuthService(
                    .token("http://127.0.0.1:1/token", revocation: nil), clientID: "id",
                    proof: ClientProof(.signedAssertion, key: "robot"))))
        let kept = NewSession(
            login: try sessionLogin(), profile: try said("this"), mode: .online,
            limits: SessionLimits(survivesRestart: false, idle: nil, session: nil), release: .never,
            serverPart: NewSession.ServerPart(
                service: service, clientSecret: bytes(""), logout: 5_000, session: bytes("token 1"),
                access: OMAgentTests.token("at 1", []),
                expires: nil, vault: paths))
        let entry = SessionEntry(kept, at: clock.read())
        for (inquiry, identities) in [(.introspection, ["robot"]), (.userInfo, [])] as [(TokenInquiry, [String])] {
            switch entry.question(inquiry) {
            case .none: Issue.record("no question")
            case .some(let question):
                let (vault, needed) = (question.keyVault, question.neededIdentities)
                #expect(vault == paths && needed == identities, "\(inquiry)")
            }
        }
    }

    @Test("a token that the server refuses is renewed once, and the session stays")
    func refused() throws {
        let login = try sessionLogin(), store = try store(login)
        let refusal = OnlineRefusal.failed(.tokenRefused, status: 401)
        server.say(.no(refusal), .yes("token 2", access: "at 2", lifetime: 60), .claims("{}"))
        #expect(claims(store, login, .userInfo) == "{}")
        server.say(.no(refusal), .yes("token 3", access: "at 3", lifetime: 60), .no(refusal))
        #expect(claims(store, login, .userInfo) == "\(refusal)")
        #expect(server.asked.map(\.task) == [.userInfo, .refresh, .userInfo, .userInfo, .refresh, .userInfo])
        server.say(.no(refusal))
        #expect(claims(store, login, .introspection) == "\(refusal)")
        #expect(store.list().count == 1)
        // The server says that the refresh token is spent.
        server.say(.no(refusal), .no(.failed(.invalidGrant, status: 400)))
        #expect(claims(store, login, .userInfo) == "\(OnlineRefusal.failed(.invalidGrant, status: 400))")
        #expect(store.list().isEmpty)
    }

    @Test("a server whose new tokens have ended already is asked for new ones once, and then about the user")
    func deadRenewal() throws {
        let login = try sessionLogin(), store = try store(login, life: 0)
        let refusal = OnlineRefusal.failed(.tokenRefused, status: 401)
        // After these the server would say yes without claims.
        server.say(.yes("token 2", access: "at 2", lifetime: 0), .claims("{}"))
        server.say(.yes("token 3", access: "at 3", lifetime: 0), .no(refusal), .claims("{}"))
        #expect(claims(store, login, .userInfo) == "{}")
        #expect(claims(store, login, .userInfo) == "\(refusal)")
        #expect(server.asked.map(\.task) == [.refresh, .userInfo, .refresh, .userInfo])
    }

    @Test("a question about a token is signed with the key of the client where a renewal is")
    func signed() throws {
        let login = try sessionLogin(), vault = try #require(VaultPaths(vault: "/a/vault", device: ""))
        let vaults = Guarded<[VaultPaths?]>([])
        let store = SessionStore(
            nil,
            ask: { (question: consuming OnlineQuestion) in
                let vault = question.keyVault
                vaults.withLock { $0.append(vault) }
                return .accepted(OnlineAcceptance(session: nil, claims: bytes("{}")))
            }, clear: { _, _ in })
        #expect(store.keep(try keptSession(login, access: "at 1", vault: vault)))
        #expect(claims(store, login, .userInfo) == "{}" && claims(store, login, .introspection) == "{}")
        #expect(vaults.withLock { $0 } == [vault, vault])
    }

    @Test("without a session or a token nothing is asked")
    func nothing() throws {
        let login = try sessionLogin(), store = try store(login, access: nil)
        #expect(claims(store, login, .userInfo) == "no token")
        #expect(claims(store, try sessionLogin("bob"), .introspection) == "none")
        #expect(server.asked.isEmpty)
    }

    private func token(_ store: SessionStore, _ login: LoginReference, isFresh: Bool = false, isAgreed: Bool = false) -> String {
        let question = TokenQuestion(
            scopes: ScopeSet(), atLeast: 60, isFresh: isFresh, isAgreed: isAgreed, isForIDToken: true)
        switch store.token(of: login, question) {
        case .given(let token, let left, _):
            let isAlone = token.idToken.count == 0
            return "\(token.value.text) \(left ?? -1) \(isAlone)"
        case .none: return "none"
        case .refused(let refusal): return "\(refusal)"
        }
    }

    @Test(
        "an ID token is given under the same rules as the access token, stays without a new one, and is never beside the access token"
    )
    func idToken() throws {
        let login = try sessionLogin()
        #expect(token(try store(login, idToken: "it 1"), login) == "never")
        let confirmed = try store(login, release: .confirm, idToken: "it 1")
        #expect(token(confirmed, login) == "unconfirmed" && token(confirmed, login, isAgreed: true) == "it 1 -1 true")
        #expect(token(try store(login, release: .allow), login) == "noIDToken")
        let store = try store(login, release: .allow, idToken: "it 1")
        #expect(token(store, login) == "it 1 -1 true" && server.asked.isEmpty)
        server.say(.yes("token 2", access: "at 2", lifetime: 90))
        #expect(token(store, login, isFresh: true) == "it 1 -1 true")
        server.say(.yes("token 3", access: "at 3", lifetime: 90, idToken: "it 2"), .no(.unreachable(.refused)))
        #expect(token(store, login, isFresh: true) == "it 2 -1 true")
        #expect(token(store, login, isFresh: true) == "\(TokenRefusal.server(.unreachable(.refused)))")
        switch store.token(of: login, TokenQuestion(atLeast: 60)) {
        case .given(let token, _, _):
            let isAlone = token.idToken.count == 0
            #expect(isAlone)
        case .none: Issue.record("no session")
        case .refused: Issue.record("no token")
        }
    }

    @Test("a browser is sent to the server's page only after a login there, and after the server was told and was reached")
    func inBrowser() throws {
        let login = try sessionLogin()
        func end(_ kind: SessionKind, idToken: String, inBrowser: Bool = true) throws -> String {
            let store = try store(login, kind, idToken: idToken)
            let (ending, address) = store.end(login, waits: true, inBrowser: inBrowser, password: nil)
            #expect(store.list().isEmpty)
            return "\(ending) \(address ?? "-")"
        }
        #expect(try end(.browser, idToken: "it 1") == "endedAtServer http://127.0.0.1:1/once")
        #expect(try end(.browser, idToken: "it 2", inBrowser: false) == "endedAtServer -")
        #expect(try end(.browser, idToken: "") == "endedAtServer -" && end(.oauth, idToken: "it 3") == "endedAtServer -")
        #expect(try end(.device, idToken: "it 4") == "endedAtServer -")
        let (unreached, told) = (OnlineRefusal.unreachable(.refused), OnlineRefusal.failed(.noLogout))
        server.say(.no(unreached), .no(told))
        #expect(try end(.browser, idToken: "it 5") == "\(SessionEnding.endedHereOnly(unreached)) -")
        #expect(try end(.browser, idToken: "it 6") == "\(SessionEnding.endedHereOnly(told)) http://127.0.0.1:1/once")
        let logout = OnlineTask.logout(user: nil)
        #expect(server.ledOut == [LedOut(idToken: "it 1", after: logout), LedOut(idToken: "it 6", after: logout)])
    }

    @Test("an offline login continues the session of a login by a code, under the same profile")
    func continuesByDevice() throws {
        let login = try sessionLogin(), store = try store(login, .device)
        #expect(try store.keeps(login, .browser, token: nil, mode: .offline))
        #expect(claims(store, login, .introspection) != "none")
        #expect(server.asked == [AskedOf(task: .introspect, session: "token 1")])
    }

    @Test("a page for the end of a server's session has an origin of the profile, and characters that mean nothing to a shell")
    func pages() {
        let oauth = OAuthService(
            .discovery("https://i.example/d"), clientID: "c", grant: .authorizationCode, origins: ["https://o.example"],
            browser: BrowserLogin(redirect: "http://127.0.0.1"))
        for (page, isAllowed) in [
            ("https://i.example/out", true), ("https://o.example/out?x=1", true), ("https://evil.example/out", false),
            ("https://i.example.evil.example/", false), ("http://i.example/out", false), ("https://i.example/$(id)", false),
            ("javascript:alert(1)", false),
        ] {
            #expect((BrowserLeadOut.page([ServerEndpoint(.endSession, page)], of: oauth) == page) == isAllowed, "\(page)")
        }
        #expect(BrowserLeadOut.page([ServerEndpoint(.token, "https://i.example/t")], of: oauth) == nil)
    }
}
