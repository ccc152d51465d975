// The one-time address that sends a browser to the page where a server ends its own session (OpenID Connect RP-Initiated Logout).

internal import NIOHTTP1
public import OMOnlineModel
public import OMSecrets
internal import Synchronization

/// Sends the browser of this user on, once.
///
/// The address of the server's page has the ID token in it. Other users of this machine see the arguments of a browser. So the
/// argument is a one-time address on loopback, and only a process of this user is sent on.
public struct EndSessionRedirect: Sendable {
    private let location: String
    private let path: String

    /// - Parameters:
    ///   - page: The server's page. A query that it has already stays.
    ///   - path: The path of the one-time address.
    /// - Throws: ``OnlineFailure/noEndpoint`` if the page is none that a browser may open, or if its query has a parameter of
    ///   this request.
    public init(
        to page: String, at path: String, for oauth: OAuthService, idToken: borrowing SecretBytes
    ) throws(OnlineRefusal) {
        guard let shown = ShownAddress(page) else { throw .failed(.noEndpoint) }
        var form = FormBody()
        form.add("id_token_hint", idToken)
        form.add("client_id", oauth.clientID)
        // Attack: the page's own query has another hint. A server takes one of the two.
        guard let given = QueryParameters(shown.url.query ?? ""), given.names.isDisjoint(with: ["id_token_hint", "client_id"])
        else { throw .failed(.noEndpoint) }
        let mark = shown.url.query == nil ? "?" : shown.text.hasSuffix("?") || shown.text.hasSuffix("&") ? "" : "&"
        (location, self.path) = (shown.text + mark + form.text(), path)
    }

    /// Ends once a browser was sent on, or when the task is cancelled.
    ///
    /// - Parameters:
    ///   - user: The user whose browser is sent on. This process may have another one.
    ///   - listening: A socket at 127.0.0.1 that is bound and listens. This call owns and closes it.
    public func serve(user: UInt32, listening: [Int32]) async throws(OnlineRefusal) {
        let isUsed = Mutex(false)
        let server = try await LoopbackServer<Void>(listening) { request in
            guard let page = rule(request, user: user) else { return (RedirectPage.notFound.page, nil) }
            // Attack: a program opens a connection before the browser is sent on, and asks for the ID token after it.
            return isUsed.withLock { isUsed in
                guard !isUsed else { return (RedirectPage.notFound.page, nil) }
                isUsed = true
                return (page, .success(()))
            }
        }
        try await server.answer()
    }

    /// The page for a request that may be sent on. Nil for any other.
    func rule(_ request: LoopbackRequest, user: UInt32) -> LoopbackPage? {
        guard request.isGet, !request.hasBody, request.mode == nil || request.mode == "navigate" else { return nil }
        // Attack: a web page reaches this port by a name of its own (DNS rebinding).
        guard request.hosts == ["127.0.0.1:\(request.port)"] else { return nil }
        let (given, expected) = (Array(request.target.utf8), Array(path.utf8))
        guard ConstantTime.areEqual(given.span, expected.span) else { return nil }
        // Attack: another user of this machine reads the address in the arguments of the browser, and takes the ID token first.
        guard request.user() == user else { return nil }
        var headers = RedirectPage.accepted.page.headers
        headers.replaceOrAdd(name: "Location", value: location)
        headers.replaceOrAdd(name: "Content-Length", value: "0")
        return LoopbackPage(status: .found, headers: headers, body: "")
    }
}
