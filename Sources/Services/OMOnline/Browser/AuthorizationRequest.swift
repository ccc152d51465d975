// The address that a login opens in the browser: by authorization code (RFC 6749, 4.1.1; RFC 7636, 4.3; OpenID Connect Core,
// 3.1.2.1), or by the implicit grant (RFC 6749, 4.2.1; OpenID Connect Core, 3.2.2.1).

internal import OMOnlineModel

struct AuthorizationRequest {
    private let page: ShownAddress
    private let parameters: [(name: String, value: String)]
    private let clientID: String

    /// `response_type` of the implicit grant. The ID token names the user, the client and the access token.
    static let implicitType = "id_token token"

    /// - Parameters:
    ///   - page: The authorization endpoint. A query that it has already stays.
    ///   - key: Names the key to which the tokens are bound. Nil without one.
    /// - Throws: ``OnlineFailure/noLoginPage`` if the query has a parameter of this request.
    init(
        at page: ShownAddress, for oauth: OAuthService, redirect: RedirectAddress, _ secrets: LoginSecrets, key: String? = nil
    ) throws(OnlineRefusal) {
        let isImplicit = oauth.grant == .implicit
        var parameters = [("response_type", isImplicit ? Self.implicitType : "code")]
        // The standard's own mode for tokens is the fragment.
        if !isImplicit { parameters.append(("response_mode", "query")) }
        parameters += [("client_id", oauth.clientID), ("redirect_uri", redirect.text), ("state", secrets.state)]
        // Where there is no code, there is nothing to prove for it.
        if !isImplicit {
            parameters += [("code_challenge", secrets.key.challenge), ("code_challenge_method", "S256")]
        }
        if !oauth.scopes.isEmpty { parameters.append(("scope", oauth.scopes.joined(separator: " "))) }
        let optional = [
            ("nonce", secrets.nonce), ("prompt", oauth.browser?.prompt),
            ("max_age", oauth.browser?.maximumAge.map { "\($0)" }), ("acr_values", oauth.browser?.contextClasses),
            ("login_hint", oauth.browser?.loginHint),
            // Attack: the code is stolen. Only the owner of the key gets tokens for it (RFC 9449, 10).
            ("dpop_jkt", key),
        ]
        for case (let name, let value?) in optional { parameters.append((name, value)) }
        // Attack: the endpoint's own query has a second `redirect_uri` or `code_challenge`. A server takes one of the two.
        let names = Set(parameters.map(\.0)).union(["request", "request_uri", "response_mode"])
        guard let given = QueryParameters(page.url.query ?? ""), given.names.isDisjoint(with: names) else {
            throw .failed(.noLoginPage)
        }
        (self.page, self.parameters, clientID) = (page, parameters.map { (name: $0.0, value: $0.1) }, oauth.clientID)
    }

    /// The whole request, for a browser.
    var address: String { address(parameters) }

    /// The request that the server has already, under its name for it (RFC 9126, 4).
    func address(naming name: String) -> String { address([("client_id", clientID), ("request_uri", name)]) }

    /// The request for the server itself. The proof of the client has its id.
    func form() -> FormBody {
        var form = FormBody()
        for (name, value) in parameters where name != "client_id" { form.add(name, value) }
        return form
    }

    private func address(_ parameters: [(name: String, value: String)]) -> String {
        var form = FormBody()
        for (name, value) in parameters { form.add(name, value) }
        let mark = page.url.query == nil ? "?" : page.text.hasSuffix("?") || page.text.hasSuffix("&") ? "" : "&"
        return page.text + mark + form.text()
    }
}
