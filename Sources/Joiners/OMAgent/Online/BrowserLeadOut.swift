// The way of a browser to the page where a server ends its own session: docs/formats/online-protocol.md, "The end of a server's own
// session".

internal import COMSystem
internal import Glibc
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem

/// Starts a process that sends a browser on, once.
struct BrowserLeadOut: Sendable {
    /// How long the search for the server's page may take, in milliseconds. The user waits for it at the logout.
    private static let searchTime: UInt32 = 10_000
    private static let host = "http://127.0.0.1"

    private let client: OnlineClient

    init(_ client: OnlineClient) { self.client = client }

    /// - Returns: The one-time address. Nil if the server has no page that a browser may open.
    func start(_ service: OnlineService, idToken: consuming SecretBytes) -> String? {
        guard let page = page(of: service) else { return nil }
        let work: Work
        do throws(LoopbackListeners.Problem) {
            work = Work(try LoopbackListeners(for: Self.host), idToken)
        } catch { return nil }
        guard let socket = work.listeners.descriptors.first else { return nil }
        // Attack: another program of this machine finds the port, and asks for the page before the browser does.
        let path = "/" + Random.bytes(16).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        let address = "\(Self.host):\(om_loopback_port(socket))\(path)"
        let client = client
        let problem = DetachedThread.start(stack: AgentServer.stack) {
            _ = try? client.ask(
                .endSession(page: page, path: path, user: geteuid(), idToken: work.idToken.duplicate(), of: service),
                listening: work.listeners.descriptors)
        }
        return problem == 0 ? address : nil
    }

    /// The server's page, from its document or from the profile.
    private func page(of service: OnlineService) -> String? {
        guard case .oauth(let oauth) = service.kind else { return nil }
        switch oauth.endpoint {
        case .token, .pages: return Self.allowed(oauth.browser?.endSession, oauth)
        case .discovery, .configuration:
            let deadlines = OnlineDeadlines(
                connect: service.deadlines.connect, total: min(service.deadlines.total, Self.searchTime))
            guard let reply = try? client.ask(.endpoints(of: service.within(deadlines))),
                let acceptance = try? reply.get()
            else { return nil }
            return Self.page(acceptance.endpoints ?? [], of: oauth)
        }
    }

    /// The server's page among its endpoints.
    static func page(_ endpoints: [ServerEndpoint], of oauth: OAuthService) -> String? {
        allowed(endpoints.first { $0.kind == .endSession }?.address, oauth)
    }

    /// Attack: the server's answer took the helper over, and it names a page of the attacker's. So the page has an origin that the
    /// profile allows, and the process that sends the browser on asks no server.
    private static func allowed(_ page: String?, _ oauth: OAuthService) -> String? {
        page.flatMap { oauth.allowsPage($0, oauth.browser?.endSession) ? $0 : nil }
    }

    /// What the thread needs that waits for the browser.
    private final class Work: Sendable {
        let listeners: LoopbackListeners
        let idToken: SecretBytes

        init(_ listeners: consuming LoopbackListeners, _ idToken: consuming SecretBytes) {
            self.listeners = listeners
            self.idToken = idToken
        }
    }
}
