// Logins at the Mobile and Social service through the real helper, with a profile from a configuration URL.

import Foundation
import OMAgent
import OMAuth
import OMOnlineModel
import OMSecrets
import Synchronization
import TestSupport
import Testing

@Suite("Logins at the Mobile and Social service", .onOwnThreads) struct OAMMSLoginTests {
    /// Answers the server's questions, in their order.
    private final class Answering: LoginPrompter {
        private let answers: Mutex<[String]>
        let asked = Mutex<[String]>([])

        init(_ answers: [String]) { self.answers = Mutex(answers) }

        func input(for prompt: LoginPrompt) -> LoginInput? { nil }

        func answer(_ question: SecretQuestion) -> SecretBytes? {
            asked.withLock { $0.append(question.text) }
            let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return answer.map { bytes($0) }
        }
    }

    /// The example of the SDK's chapter, with scheme, host and port of this server.
    private func profile(_ peer: GoldenPeer) throws -> Profile {
        let url =
            "wp://settings?AuthServerType::=OAMMSAuthentication&OAMMSURL::=\(peer.server.url(""))"
            + "&OAMMSServiceDomain::=MobileServiceDomain&ApplicationName::=WhitePages&TrustedCA::=\(peer.server["ca"])"
            + "&TotalTimeOut::=60&ConnectTimeOut::=60"
        return try ConfigurationURL(url).profile(ProfileName("work"))
    }

    /// The result of a login as text: the epoch of the policy, or the refusal.
    private func logIn(_ peer: GoldenPeer, _ prompter: Answering, _ password: String = GoldenPeer.password) throws -> String {
        let provider = OnlineProvider(program: Programs.path(of: "omvault-agent"))
        let request = LoginRequest(try UserName("ana"), try profile(peer))
        let answer = provider.authenticate(
            request.question, password: try Password(bytes(password)), asking: prompter, cancellation: Cancellation())
        switch consume answer {
        case .accepted(let policy, let problem, _, let session, _, _):
            guard let session else { return "no session" }
            if let problem { return "\(problem)" }
            let ended = provider.end(session, of: request)
            return "epoch \(policy?.epoch ?? -1), at the logout \(ended.map { "\($0)" } ?? "ended")"
        case .refused(let refusal): return "\(refusal)"
        }
    }

    @Test("a configuration URL like the SDK's leads to a login, with the server's policy, and to a logout")
    func course() async throws {
        let peer = try await GoldenPeer(["linux", "4", "6", "8", "15"])
        #expect(try logIn(peer, Answering([])) == "epoch 7, at the logout ended")
        #expect(try peer.seen() == ["4", "6", "8", "15"])
        try peer.expect(["linux", "4"])
        let provider = OnlineProvider(program: Programs.path(of: "omvault-agent"))
        let policy = try await provider.policy(of: profile(peer))
        #expect(policy?.epoch == 7 && policy?.maxLoginAttempts == 3 && policy?.locationUpdateDistanceFilter == 500)
        // A logout that the server does not know is reported.
        try peer.expect(["linux", "4", "6", "8", "15", "/404"])
        #expect(
            try logIn(peer, Answering([]))
                == "epoch 7, at the logout \(OnlineRefusal.failed(.noService, status: 404))")
        try peer.expect(["linux", "4", "6-wrong"])
        #expect(try logIn(peer, Answering([]), "wrong") == "\(OnlineRefusal.rejected)")
    }

    @Test("the person is asked the server's question once, between two helpers")
    func question() async throws {
        let peer = try await GoldenPeer(["linux", "4", "6", "8-asked", "4", "8-answered", "15"])
        let prompter = Answering(["Grüne Schule", "unused"])
        #expect(try logIn(peer, prompter) == "epoch 7, at the logout ended")
        #expect(prompter.asked.withLock { $0 } == ["The name of your first school?"])
        #expect(try peer.seen() == ["4", "6", "8-asked", "4", "8-answered", "15"])
        // At the registration and then at the login.
        try peer.expect(["linux", "4", "6-asked", "4", "6-answered", "8-asked", "4", "8-answered", "15"])
        #expect(try logIn(peer, Answering(["Grüne Schule", "Grüne Schule"])) == "epoch 7, at the logout ended")
    }

    @Test("without an answer, or with one of two lines, the login ends; a wrong answer is no wrong password")
    func noAnswer() async throws {
        let failed = OnlineRefusal.failed(.challenge)
        for answers in [[], ["two\nlines"]] {
            let peer = try await GoldenPeer(["linux", "4", "6", "8-asked"])
            #expect(try logIn(peer, Answering(answers)) == "\(failed)")
            #expect(try peer.seen() == ["4", "6", "8-asked"])
        }
        let peer = try await GoldenPeer(["linux", "4", "6", "8-asked", "4", "8-wrong-answer"])
        #expect(try logIn(peer, Answering(["wrong"])) == "\(OnlineRefusal.failed(.challenge, status: 401))")
        #expect(try peer.seen() == ["4", "6", "8-asked", "4", "8-wrong-answer"])
    }
}
