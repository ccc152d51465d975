// Sessions in a running agent: over its socket, by its own clock, through its helper and after its death.

import Foundation
import Glibc
import OMAuth
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Sessions over the agent's socket", .onOwnThreads) struct SessionAgentTests {
    @Test("a session is kept, used, listed, told apart by login, and ended without its server")
    func course() throws {
        let home = try AgentHome(), login = try sessionLogin(), other = try sessionLogin("bob")
        #expect(try home.client.useSession(login) == nil)
        #expect(try home.client.sessions().isEmpty)
        try home.client.keep(try keptSession(login, token: tokens("access 1"), idle: 1_000, session: 2_000))
        let session = try #require(try home.client.useSession(login))
        #expect(session.login == login && session.mode == .online && session.state == .valid)
        #expect((990...1_000).contains(session.idleLeft ?? 0) && (1_990...2_000).contains(session.sessionLeft ?? 0))
        #expect(session.hasServerSession && !session.survivesRestart && !session.isWarningDue)
        #expect(try home.client.useSession(other) == nil)
        #expect(try home.client.sessions().map(\.login) == [login])
        // The agent's own program asks, and finds no server at port 1.
        #expect(try home.client.renewSession(login, newTokens: true) == .refused(.unreachable(.refused)))
        #expect(try home.client.renewSession(other, newTokens: true) == .none)
        #expect(try home.client.useSession(login) != nil)
        let ending = try home.client.endSession(login)
        #expect(ending == .endedHereOnly(.unreachable(.refused)))
        #expect(try home.client.sessions().isEmpty)
        let none = try home.client.endSession(login)
        #expect(!none.wasThere)
    }

    @Test("a session becomes idle and ends by the agent's clock, without any request")
    func timeOuts() async throws {
        let home = try AgentHome(), login = try sessionLogin(), other = try sessionLogin("bob")
        try home.client.keep(try keptSession(login, .noServer, idle: 1, session: 3_600, mode: .offline))
        try home.client.keep(try keptSession(other, .noServer, session: 1, mode: .offline))
        try await eventually { try home.client.sessions().map(\.login) == [login] }
        try await eventually { try home.client.sessions().first?.state == .idle }
        #expect(try home.client.useSession(login)?.state == .idle)
        #expect(try home.client.useSession(other) == nil)
    }

    @Test("a killed agent loses its sessions, except those whose profile lets them survive")
    func killed() async throws {
        // All tests share the user's keyring, so simultaneous tests use different names.
        let mark = UUID().uuidString
        let home = try AgentHome(in: "/dev/shm"), login = try sessionLogin("ada \(mark)")
        let other = try sessionLogin("bob \(mark)")
        try home.client.keep(try keptSession(login, token: tokens("access 1"), session: 3_600, survives: true))
        try home.client.keep(try keptSession(other, token: tokens("access 2"), session: 3_600))
        kill(try home.process(), SIGKILL)
        try await eventually {
            do throws(AgentError) { _ = try home.client.status() } catch { return error == .notRunning }
            return false
        }
        #expect(home.client.hasSessionTicket(login) && !home.client.hasSessionTicket(other))
        try home.start()
        #expect(try home.client.sessions().map(\.login) == [login])
        #expect(try home.client.useSession(login)?.hasServerSession == true)
        _ = try home.client.endSession(login, waits: false)
        #expect(!home.client.hasSessionTicket(login))
        try home.client.stepDown()
        try home.start()
        #expect(try home.client.sessions().isEmpty)
    }

    @Test("the agent keeps as many sessions as it has places, then refuses the next")
    func full() throws {
        let home = try AgentHome()
        for number in 0..<SessionStore.maximum {
            try home.client.keep(try keptSession(try sessionLogin("u\(number)"), .noServer))
        }
        let more = try sessionLogin("one more")
        #expect(throws: AgentError.full) { try home.client.keep(try keptSession(more, .noServer)) }
        #expect(try home.client.sessions().count == SessionStore.maximum)
    }
}

/// A session as the helper reads it. Its tokens are revoked at a port without a server.
func tokens(_ access: String) -> String {
    """
    {"tokens":{"_0":{"access":"\(access)","refresh":"refresh of \(access)","issued":0,"lifetime":1,"scopes":[],\
    "revocation":"http://127.0.0.1:1/revoke"}}}
    """
}
