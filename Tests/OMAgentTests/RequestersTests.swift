// The order in which the agent decides about a helper of requests.

import OMAuth
import OMOnlineModel
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("Helpers of requests") struct RequestersTests {
    @Test("without a free helper, no server is asked for a token")
    func busy() throws {
        let server = SessionServer()
        let store = server.store(SessionClock())
        let login = try sessionLogin()
        #expect(
            store.keep(
                NewSession(
                    login: login, profile: try Profile(login.key.profile, values: [:]).digest, mode: .online,
                    limits: SessionLimits(idle: nil, session: nil), release: .never, serverPart: nil,
                    origins: ["https://a.example:443"])))
        func isBusy(_ origin: String, most: Int) -> Bool {
            let question = RequesterQuestion(login: login, origin: origin, token: TokenQuestion(atLeast: 0), refused: nil)
            guard case .busy = Requesters(program: "/", most: most).start(question, in: store, signer: { _ in fatalError() })
            else { return false }
            return true
        }
        #expect(isBusy("https://a.example:443", most: 0))
        #expect(!isBusy("https://a.example:443", most: 1) && !isBusy("https://b.example:443", most: 0))
    }

    @Test(
        "if a login replaces the session while its server is asked, the later session's origins decide, and no token goes out for the earlier one"
    )
    func replaced() async throws {
        let server = SessionServer(), origin = "https://a.example:443"
        let store = server.store(SessionClock()), login = try sessionLogin()
        server.close()
        let isKept = store.keep(try keptSession(login, expires: 1, access: "at 1", origins: [origin]))
        let question = RequesterQuestion(login: login, origin: origin, token: TokenQuestion(atLeast: 0), refused: nil)
        async let isForeign = onOwnThread {
            if case .foreignOrigin = Requesters(program: "/").start(question, in: store, signer: { _ in fatalError() }) {
                true
            } else {
                false
            }
        }
        try await eventually { server.asked.count == 1 }
        let isReplaced = store.keep(try keptSession(login, .bound, token: "token 2", access: "at 2"))
        server.open()
        #expect(await isForeign && isKept && isReplaced)
    }

    @Test("the next try of a request has the nonce of its own 401, once, and no later try has one")
    func nonce() throws {
        let run = RequestRun(
            try RESTRequest("GET", try #require(ServerURL("http://127.0.0.1:1/")), headers: [OnlineService.Header("A", "b")]),
            hasToken: true, hasCertificate: false)
        func headers() -> [String] { run.takeHeaders().map { "\($0.name): \($0.value)" } }
        #expect(headers() == ["A: b"] && run.takeNonce("n-1"))
        #expect(headers() == ["A: b", "DPoP-Nonce: n-1"] && headers() == ["A: b"] && !run.takeNonce("n-2"))
    }
}
