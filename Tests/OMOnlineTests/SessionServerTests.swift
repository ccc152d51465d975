// The agent's sessions against a running server: its counts, and the sessions that are dead there afterwards.

import Foundation
import OMAuth
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Sessions and their server", .onOwnThreads) struct SessionServerTests {
    private static let program = Programs.path(of: "omvault-agent")

    /// An agent for this test only.
    private final class Home {
        private let folder: TestFolder
        var root: String { folder.path }
        let client: AgentClient

        init() throws {
            folder = try TestFolder()
            let socket = try AgentSocket(path: folder.file("agent.sock"))
            client = AgentClient(socket)
            #expect(try AgentProcess.start(SessionServerTests.program, at: socket))
        }

        deinit { try? client.stepDown() }

        func login() throws -> LoginReference {
            let key = LoginKey(profile: try ProfileName("work"), user: try UserName("alice"))
            return try #require(LoginReference(state: root, device: root, key: key))
        }
    }

    @Test("glewlwyd refuses none of eight simultaneous renewals with a single-use token, and after logout the session is dead")
    func oauth() async throws {
        let server = try await Server.glewlwyd.value, home = try Home(), login = try home.login()
        let endpoint = OAuthService.Endpoint.discovery(server["issuer"] + "/.well-known/openid-configuration")
        let service = OnlineService(
            .oauth(OAuthService(endpoint, clientID: "omvault", scopes: ["openid", "profile"])), deadlines: patient)
        let helper = OnlineClient(program: Self.program)
        func tokens() throws -> SecretBytes {
            let question = OnlineQuestion.login(
                "alice", password: bytes("correct horse 42"), of: service, clientSecret: bytes("omvault-secret"))
            return try helper.ask(question).get().session()
        }
        func keep(_ session: borrowing SecretBytes) throws {
            let asked = NewSession.ServerPart(
                service: service, clientSecret: bytes("omvault-secret"), logout: 40_000, session: session.duplicate(),
                access: nil, expires: nil)
            try home.client.keep(
                NewSession(
                    login: login, profile: try Profile(login.key.profile, values: [:]).digest, mode: .online,
                    limits: SessionLimits(idle: nil, session: nil), release: .never, serverPart: asked))
        }
        let first = try tokens()
        try keep(first)
        let client = home.client
        let areValid = try await atOnce(8) { _ in
            guard case .valid = try client.renewSession(login, newTokens: true) else { return false }
            return true
        }
        #expect(areValid == Array(repeating: true, count: 8))
        // The token was used, so it is no longer valid.
        let spent = try refusal(helper, .refresh(first, of: service, clientSecret: bytes("omvault-secret")))
        #expect(spent != nil)
        let gone = try client.endSession(login)
        #expect(gone == .endedAtServer)

        // A session without a renewal, so that the test knows its tokens: alive before, dead after.
        let second = try tokens()
        let alive = try helper.ask(.refresh(second, of: service, clientSecret: bytes("omvault-secret"))).get().session()
        try keep(alive)
        #expect(try client.endSession(login) == .endedAtServer)
        let dead = try refusal(helper, .refresh(alive, of: service, clientSecret: bytes("omvault-secret")))
        #expect(dead != nil)
    }
}

private func refusal(_ client: OnlineClient, _ question: consuming OnlineQuestion) throws -> OnlineRefusal? {
    switch try client.ask(question) {
    case .accepted: nil
    case .refused(let refusal): refusal
    case .asked: .failed(.challenge)
    }
}

extension OnlineAcceptance {
    fileprivate consuming func session() throws -> SecretBytes {
        guard let session = takeSession() else { throw NoSession() }
        return session
    }
}
