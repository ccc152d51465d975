// The rules for requests at the redirect address: which of them is the answer of this login.

internal import OMOnlineModel
internal import OMSecrets
internal import Synchronization

/// A server's answer that the browser brought.
enum RedirectAnswer: Hashable, Sendable {
    case code(String)
    case token(TokenResponse)
    case refused(OnlineRefusal)
}

/// Decides on every request and pasted text of one login.
///
/// Attack: a local program races the browser with an answer of its own. An answer without this login's `state` is no answer, and
/// does not end the wait. A program that knows `state`, from the arguments of the browser, has no code that the server gives
/// tokens for: the code is bound to the verifier of PKCE.
final class RedirectRules: Sendable {
    /// After so many wrong answers the login ends.
    static let maximumWrong = 16
    static let longestText = 8 << 10
    /// A fragment that is too long is read up to here, so that the login can end with the reason.
    static let longestPost = 64 << 10
    private static let longestCode = 4096

    enum Outcome: Hashable, Sendable {
        /// It is not about this login, or not well-formed. The wait goes on.
        case elsewhere
        /// It has not the right `state`. The wait goes on.
        case wrong
        /// It was the last wrong one.
        case tooMany
        case answer(RedirectAnswer)
        /// The browser has come with a fragment, which the script of a page brings.
        case script
    }

    /// Where an answer is in the redirect address.
    private enum Place {
        case query
        case fragment
        /// Too long for an answer. With the right `state` it ends the login.
        case longFragment
    }

    private struct Progress {
        var address: RedirectAddress?
        var wrong = 0
        var isOver = false
    }

    private let state: String
    private let issuer: String?
    private let needsIssuer: Bool
    /// Whether the browser brings a token, in the fragment. Otherwise it brings a code, in the query.
    let awaitsToken: Bool
    private let progress = Mutex(Progress())

    /// - Parameters:
    ///   - issuer: The server's issuer. Nil if none is known: then an answer that names one is refused.
    ///   - needsIssuer: Whether the server says that its answers name it.
    init(state: String, issuer: String?, needsIssuer: Bool, awaitsToken: Bool = false) {
        (self.state, self.issuer, self.needsIssuer, self.awaitsToken) = (state, issuer, needsIssuer, awaitsToken)
    }

    /// From here on answers at this address count.
    func expect(_ address: RedirectAddress) { progress.withLock { $0.address = address } }

    /// - Parameters:
    ///   - target: The request's target as sent.
    ///   - hosts: The values of all `Host` fields.
    ///   - mode: The value of `Sec-Fetch-Mode`. Nil from a browser that does not send it.
    func request(isGet: Bool, target: String, hosts: [String], hasBody: Bool, mode: String? = nil) -> Outcome {
        // Attack: a web page loads images from this port, so that sixteen wrong answers end the login. The server's redirect is a
        // navigation.
        guard mode == nil || mode == "navigate" else { return .elsewhere }

        guard isGet, !hasBody, let here = own(hosts) else { return .elsewhere }
        let path = target.prefix { $0 != "?" }
        guard path.utf8.elementsEqual(here.path.utf8) else { return .elsewhere }
        let query = target[path.endIndex...].dropFirst()
        guard awaitsToken, query.isEmpty else { return decide(query, .query) }
        return progress.withLock(\.isOver) ? .elsewhere : .script
    }

    /// A fragment that the script of ``FragmentPage`` posts.
    func posted(_ request: LoopbackRequest) -> Outcome {
        // Attack: another web page posts an answer of its own, so that sixteen of them end the login.
        guard [nil, "cors", "same-origin"].contains(request.mode), [nil, "same-origin"].contains(request.site) else {
            return .elsewhere
        }
        guard awaitsToken, request.isPost, let here = own(request.hosts),
            request.target.utf8.elementsEqual(here.path.utf8), request.origins.count <= 1,
            request.origins.allSatisfy({ Self.isOrigin($0, of: here) })
        else { return .elsewhere }
        return decide(fragment: Substring(String(validating: request.body, as: UTF8.self) ?? ""))
    }

    /// The redirect address, if the request names its host. Attack: a web page reaches this port by a name of its own (DNS rebinding).
    private func own(_ hosts: [String]) -> EndpointURL? {
        guard let here = progress.withLock(\.address)?.loopback, hosts.count == 1 else { return nil }
        return Self.isOrigin("http://\(hosts[0])", of: here) ? here : nil
    }

    private static func isOrigin(_ text: String, of here: EndpointURL) -> Bool {
        guard let named = EndpointURL(reading: text) else { return false }
        return named.hasOrigin(of: here) && named.path == "/" && named.query == nil
    }

    func pasted(_ text: borrowing SecretBytes) -> Outcome {
        guard text.count <= (awaitsToken ? Self.longestPost : Self.longestText), let address = progress.withLock(\.address) else {
            return decide("", .query)
        }
        let bytes = text.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        guard let whole = String(validating: bytes, as: UTF8.self) else { return decide("", .query) }
        let isBlank = { (character: Character) in character.isWhitespace }
        let start = whole.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.endIndex
        let pasted = String(start[..<end])
        if awaitsToken, let fragment = address.fragment(ofPasted: pasted) { return decide(fragment: fragment) }
        return decide(address.query(ofPasted: pasted) ?? "", .query)
    }

    private func decide(fragment: Substring) -> Outcome {
        decide(fragment, fragment.utf8.count <= Self.longestText ? .fragment : .longFragment)
    }

    private func decide(_ query: Substring, _ place: Place) -> Outcome {
        let parameters = QueryParameters(query)
        let given = parameters?.value("state") ?? []
        let expected = Array(state.utf8)
        let isRight = ConstantTime.areEqual(given.span, expected.span)
        let wrong: Outcome? = progress.withLock { progress in
            // One answer counts. The sockets close, but a second request may be on its way.
            guard !progress.isOver else { return .elsewhere }
            guard isRight else {
                progress.wrong += 1
                progress.isOver = progress.wrong >= Self.maximumWrong
                return progress.isOver ? .tooMany : .wrong
            }
            progress.isOver = true
            return nil
        }
        guard let parameters else { return wrong ?? .wrong }
        return wrong ?? .answer(read(parameters, place))
    }

    private func read(_ parameters: QueryParameters, _ place: Place) -> RedirectAnswer {
        guard place != .longFragment else { return .refused(.failed(.answerTooLarge)) }
        // Attack: two servers know this client, and one of them lets the browser bring it the other's code (RFC 9207).
        if parameters.has("iss") || needsIssuer {
            guard let issuer, let named = parameters.value("iss"), named.elementsEqual(issuer.utf8) else {
                return .refused(.failed(.otherIssuer))
            }
        }
        if awaitsToken { return readToken(parameters, place) }
        guard parameters.has("code") != parameters.has("error") else { return .refused(.failed(.unexpectedAnswer)) }
        return parameters.has("error") ? Self.readError(parameters) : Self.readCode(parameters)
    }

    private func readToken(_ parameters: QueryParameters, _ place: Place) -> RedirectAnswer {
        let isToken = parameters.has("access_token") || parameters.has("id_token")
        // Attack: the token is in the log of each program that sees the request, and in the header `Referer`.
        if place == .query, isToken { return .refused(.failed(.tokenInQuery)) }
        guard !parameters.has("code"), isToken != parameters.has("error") else { return .refused(.failed(.unexpectedAnswer)) }
        guard isToken else { return Self.readError(parameters) }
        do throws(OnlineRefusal) { return .token(try TokenResponse(parameters)) } catch { return .refused(error) }
    }

    private static func readCode(_ parameters: QueryParameters) -> RedirectAnswer {
        guard let code = parameters.text("code", longest: longestCode) else { return .refused(.failed(.unexpectedAnswer)) }
        return .code(code)
    }

    private static func readError(_ parameters: QueryParameters) -> RedirectAnswer {
        guard let error = parameters.text("error", longest: 256) else { return .refused(.failed(.unexpectedAnswer)) }
        return .refused(refusal(error))
    }

    /// RFC 6749, 4.1.2.1. Another word is one of OpenID Connect or of the server's own.
    private static func refusal(_ error: String) -> OnlineRefusal {
        switch error {
        case "access_denied": .forbidden(.accessDenied)
        case "unauthorized_client": .failed(.unauthorizedClient)
        case "invalid_request": .failed(.invalidRequest)
        case "invalid_scope": .failed(.invalidScope)
        case "unsupported_response_type": .failed(.unsupportedResponse)
        case "server_error": .failed(.serverError)
        case "temporarily_unavailable": .failed(.temporarilyUnavailable)
        // OpenID Connect Core, 3.1.2.6: the name of a pushed request does not count, or not any more.
        case "invalid_request_uri": .failed(.requestExpired)
        default: .failed(.otherOAuthError)
        }
    }
}
