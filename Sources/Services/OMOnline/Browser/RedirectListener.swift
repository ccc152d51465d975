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
        let longest = LoopbackLimits.request + (rules.awaitsToken ? RedirectRules.longestPost : 0)
        server = try await LoopbackServer(sockets, longest: longest, takesBody: rules.awaitsToken) { request in
            let isFragment = rules.awaitsToken && request.isPost
            let outcome =
                isFragment
                ? rules.posted(request)
                : rules.request(
                    isGet: request.isGet, target: request.target, hosts: request.hosts, hasBody: request.hasBody,
                    mode: request.mode)
            if outcome == .script { return (FragmentPage.page, nil) }
            let (page, result) = Self.answer(to: outcome)
            return (isFragment ? page.line : page.page, result)
        }
    }

    private static func answer(
        to outcome: RedirectRules.Outcome
    ) -> (page: RedirectPage, result: Result<RedirectAnswer, OnlineRefusal>?) {
        switch outcome {
        case .elsewhere, .script: (.notFound, nil)
        case .wrong: (.wrong, nil)
        case .tooMany: (.wrong, .failure(.failed(.wrongAnswers)))
        case .answer(.refused(let refusal)): (.refused, .success(.refused(refusal)))
        case .answer(let accepted): (.accepted, .success(accepted))
        }
    }

    /// The answer of this login.
    func answer() async throws(OnlineRefusal) -> RedirectAnswer { try await server.answer() }

    func close() { server.close() }
}
