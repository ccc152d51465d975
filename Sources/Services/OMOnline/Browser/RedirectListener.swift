// The wait for the browser's answer of a login, on sockets that the caller bound.

internal import OMOnlineModel

/// Waits for one answer. It owns the sockets, and closes them with the answer or with `close()`.
final class RedirectListener: Sendable {
    /// The port of all sockets. Nil without sockets.
    var port: Int? { server.port }
    private let server: LoopbackServer<RedirectAnswer>

    /// - Parameter sockets: Loopback sockets that are bound and listen. The listener closes them, also if this throws.
    /// - Throws: ``OnlineFailure/helper`` unless each socket can accept, and all have one port.
    init(_ sockets: [Int32], _ rules: RedirectRules) async throws(OnlineRefusal) {
        server = try await LoopbackServer(sockets) { request in
            let outcome = rules.request(
                isGet: request.isGet, target: request.target, hosts: request.hosts, hasBody: request.hasBody, mode: request.mode)
            return switch outcome {
            case .elsewhere: (RedirectPage.notFound.page, nil)
            case .wrong: (RedirectPage.wrong.page, nil)
            case .tooMany: (RedirectPage.wrong.page, .failure(.failed(.wrongAnswers)))
            case .answer(.code(let code)): (RedirectPage.accepted.page, .success(.code(code)))
            case .answer(let refused): (RedirectPage.refused.page, .success(refused))
            }
        }
    }

    /// The answer of this login.
    func answer() async throws(OnlineRefusal) -> RedirectAnswer { try await server.answer() }

    func close() { server.close() }
}
