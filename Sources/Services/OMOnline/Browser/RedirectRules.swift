// The rules for requests at the redirect address: which of them is the answer of this login.

internal import OMOnlineModel
internal import OMSecrets
internal import Synchronization

/// A server's answer that the browser brought.
enum RedirectAnswer: Hashable, Sendable {
    case code(String)
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
    private static let longestCode = 4096

    enum Outcome: Hashable, Sendable {
        /// It is not about this login, or not well-formed. The wait goes on.
        case elsewhere
        /// It has not the right `state`. The wait goes on.
        case wrong
        /// It was the last wrong one.
        case tooMany
        case answer(RedirectAnswer)
    }

    private struct Progress {
        var address: RedirectAddress?
        var wrong = 0
        var isOver = false
    }

    private let state: String
    private let issuer: String?
    private let needsIssuer: Bool
    private let progress = Mutex(Progress())

    /// - Parameters:
    ///   - issuer: The server's issuer. Nil if none is known: then an answer that names one is refused.
    ///   - needsIssuer: Whether the server says that its answers name it.
    init(state: String, issuer: String?, needsIssuer: Bool) {
        (self.state, self.issuer, self.needsIssuer) = (state, issuer, needsIssuer)
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

        guard let here = progress.withLock(\.address)?.loopback, isGet, !hasBody, hosts.count == 1 else { return .elsewhere }
        // Attack: a web page reaches this port by a name of its own (DNS rebinding).
        guard let named = EndpointURL(reading: "http://\(hosts[0])"), named.hasOrigin(of: here), named.path == "/",
            named.query == nil
        else { return .elsewhere }
        let path = target.prefix { $0 != "?" }
        guard path.utf8.elementsEqual(here.path.utf8) else { return .elsewhere }
        return decide(target[path.endIndex...].dropFirst())
    }

    func pasted(_ text: borrowing SecretBytes) -> Outcome {
        guard text.count <= Self.longestText, let address = progress.withLock(\.address) else { return decide("") }
        let bytes = text.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        guard let whole = String(validating: bytes, as: UTF8.self) else { return decide("") }
        let isBlank = { (character: Character) in character.isWhitespace }
        let start = whole.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.endIndex
        return decide(address.query(ofPasted: String(start[..<end])) ?? "")
    }

    private func decide(_ query: Substring) -> Outcome {
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
        return wrong ?? .answer(read(parameters))
    }

    private func read(_ parameters: QueryParameters) -> RedirectAnswer {
        // Attack: two servers know this client, and one of them lets the browser bring it the other's code (RFC 9207).
        if parameters.has("iss") || needsIssuer {
            guard let issuer, let named = parameters.value("iss"), named.elementsEqual(issuer.utf8) else {
                return .refused(.failed(.otherIssuer))
            }
        }
        guard parameters.has("code") != parameters.has("error") else { return .refused(.failed(.unexpectedAnswer)) }
        if parameters.has("error") {
            guard let error = parameters.text("error", longest: 256) else { return .refused(.failed(.unexpectedAnswer)) }
            return .refused(Self.refusal(error))
        }
        guard let code = parameters.text("code", longest: Self.longestCode) else {
            return .refused(.failed(.unexpectedAnswer))
        }
        return .code(code)
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
