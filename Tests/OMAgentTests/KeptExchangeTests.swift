// Exchanged tokens in the ledger and in the agent: which is changed first, and what the agent's errors do.

import OMAuth
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("An exchanged token in the ledger and in the agent") struct KeptExchangeTests {
    private let folder: TestFolder
    private let authenticator: Authenticator
    private let key: RememberingKey
    private let profile: Profile

    init() throws {
        folder = try TestFolder()
        authenticator = Authenticator(stateFolder: "\(folder.path)/state", deviceFolder: "\(folder.path)/device")
        key = try authenticator.makeDeviceRememberingKey()
        profile = try Profile(
            ProfileName("partner"),
            values: [
                "AuthServerType": .text("OAuthAuthentication"), "OAuthAuthZGrantType": .text("OAuthTokenExchange"),
                "OAuthTokenEndpoint": .text("https://login.example/token"), "OAuthClientID": .text("robot"),
            ])
    }

    /// A server that gives a token.
    private struct Exchanger: AssertionProvider {
        func logIn(
            _ question: AssertionQuestion, with assertion: borrowing SecretBytes, cancellation: Cancellation
        ) -> BrowserAnswer { BrowserAnswer(.refused(.failed(.unsupportedGrant)), user: nil) }

        func exchange(
            _ subject: borrowing SecretBytes, actor: borrowing SecretBytes, for asked: TokenExchange, under profile: Profile,
            scopes: ScopeSet?, cancellation: Cancellation
        ) -> ProviderAnswer {
            .accepted(
                policy: nil, serverTime: nil, session: bytes("session"),
                access: AccessToken(bytes("token"), scopes: ScopeSet(granted: ["a"])), lifetime: 600)
        }

        func end(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal? { nil }
    }

    /// An agent under test control.
    private final class Sessions: ExchangeSessions {
        var held: [LoginKey] = []
        var revoked: [String] = []
        /// Why the agent does not answer, and why it does not end a session.
        var silence: AgentError?
        var failure: AgentError?
        var beforeEnd: () -> Void = {}
        var afterKeep: () -> Void = {}
        private let profile: Profile

        init(_ profile: Profile) { self.profile = profile }

        func sessions(of profile: ProfileName) throws(AgentError) -> [AgentSession] {
            if let silence { throw silence }
            return held.compactMap { key in
                guard let login = LoginReference(state: "/s", device: "/d", key: key) else { return nil }
                return AgentSession(
                    login: login, profile: self.profile.digest, mode: .online, state: .valid, since: 0, idleLeft: nil,
                    sessionLeft: nil, isWarningDue: false, hasServerSession: true, survivesRestart: false, token: nil,
                    release: .allow, isRemembered: false)
            }
        }

        func end(_ key: LoginKey) throws(AgentError) {
            beforeEnd()
            if let failure { throw failure }
            held.removeAll { $0 == key }
        }

        func keep(_ receipt: borrowing LoginReceipt, _ request: LoginRequest) -> Bool {
            guard silence == nil else { return false }
            held.append(request.login)
            afterKeep()
            return true
        }

        func revoke(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal? {
            revoked.append(request.user.text)
            return nil
        }
    }

    private func kept(_ sessions: Sessions) -> KeptExchange<Sessions> { KeptExchange(profile, authenticator, sessions) }

    private func store(_ user: String, _ sessions: Sessions) throws -> (isHeld: Bool, before: ExchangeEnd) {
        let subject = bytes("subject"), actor = bytes("")
        let receipt = try authenticator.exchange(
            subject, actor: actor, for: #require(TokenExchange()), under: profile, user: UserName(user), asking: Exchanger())
        return try kept(sessions).store(receipt, key: key)
    }

    private func stored() throws -> String? { try authenticator.exchangeLogin(profile)?.user.text }

    @Test("the ledger has the new token before the session of the one before ends")
    func order() throws {
        let sessions = Sessions(profile)
        #expect(try store("ada", sessions) == (true, .none))
        var found: String?
        sessions.beforeEnd = { found = try? authenticator.exchangeLogin(profile)?.user.text }
        #expect(try store("bob", sessions) == (true, .ended))
        #expect(found == "bob" && sessions.held.map(\.user.text) == ["bob"] && sessions.revoked.isEmpty)
        // An agent that had nothing asks no server.
        sessions.held = []
        #expect(try store("eve", sessions) == (true, .ended) && sessions.revoked == ["bob"])
    }

    @Test("an agent that may still give a token out is said, and the token is deleted and revoked all the same")
    func stillHeld() throws {
        let sessions = Sessions(profile)
        for (silence, failure) in [(AgentError.deadline, nil), (nil, .busy)] as [(AgentError?, AgentError?)] {
            _ = try store("ada", sessions)
            (sessions.silence, sessions.failure, sessions.revoked) = (silence, failure, [])
            #expect(try kept(sessions).clear(key: key) == .stillHeld(silence ?? .busy))
            #expect(try stored() == nil && sessions.revoked == ["ada"])
            // The same with nothing in the ledger.
            #expect(try kept(sessions).clear(key: key) == .stillHeld(silence ?? .busy))
            (sessions.silence, sessions.failure) = (nil, nil)
            #expect(try kept(sessions).clear(key: key) == .ended && sessions.held.isEmpty)
            #expect(try kept(sessions).clear(key: key) == .none)
        }
    }

    @Test("a token that is cleared while it is loaded is not in the agent afterwards")
    func overtaken() throws {
        let sessions = Sessions(profile)
        _ = try store("ada", sessions)
        sessions.held = []
        // The other program clears it just before and just after this one gives it to the agent.
        sessions.afterKeep = {
            let held = sessions.held
            sessions.held = []
            _ = try? kept(sessions).clear(key: key)
            sessions.held = held
        }
        #expect(try kept(sessions).load(key: key) == .none && sessions.held.isEmpty)
        sessions.afterKeep = {}
        _ = try store("ada", sessions)
        sessions.held = []
        guard case .loaded = try kept(sessions).load(key: key) else {
            Issue.record("not loaded")
            return
        }
        sessions.silence = .deadline
        #expect(try kept(sessions).load(key: key) == .notKept)
        sessions.silence = nil
        #expect(try kept(sessions).clear(key: key) == .ended && sessions.held.isEmpty)
    }
}
