// The order in which the agent decides about a helper of requests.

import OMAuth
import OMOnlineModel
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
}
