// Logins by OAuth 2.0's resource owner grant (RFC 6749, 4.3), the use of their tokens, and tokens of a client itself (4.4).
// docs/reference/online.md, "OAuth".

internal import AsyncHTTPClient
internal import NIOHTTP1
public import OMOnlineModel
public import OMSecrets

public struct OAuthProvider: Sendable {
    private static let maximumAnswer = 256 << 10

    private let service: OnlineService
    private let oauth: OAuthService

    public init(_ service: OnlineService, _ oauth: OAuthService) { (self.service, self.oauth) = (service, oauth) }

    /// Asks the server for tokens in return for the password.
    ///
    /// - Parameters:
    ///   - password: Sent byte for byte, whether it is UTF-8 or not.
    ///   - clientSecret: A confidential client's secret. Empty for a public client.
    public func logIn(
        _ user: String, password: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let name = try QualifiedUserName(user, service.domain)
        let exchange = try HTTPExchange(service)
        let endpoints = try await OAuthEndpoints.find(oauth, exchange)
        var form = FormBody()
        form.add("grant_type", "password")
        form.add("username", name.text)
        form.add("password", password)
        if !oauth.scopes.isEmpty { form.add("scope", oauth.scopes.joined(separator: " ")) }
        // A token's life counts from here, because the answer may be late.
        let sent = UnixTime.now()
        let answer = try await post(
            form, to: endpoints.token, domain: name.header, clientSecret: clientSecret,
            isSecretInBody: endpoints.takesSecretInBody, exchange)
        let said = try TokenResponse(answer, sendsPassword: true)
        let tokens = ServerSession.Tokens(
            access: said.access, refresh: said.refresh, issued: sent, lifetime: said.lifetime,
            scopes: said.scopes ?? oauth.scopes, revocation: endpoints.revocation?.text,
            revocationTakesSecretInBody: endpoints.revocationTakesSecretInBody)
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), access: tokens.secretAccess,
            scopes: ScopeSet(granted: tokens.scopes), lifetime: said.lifetime,
            serverTime: endpoints.token.isSecure ? answer.date : nil,
            profile: await ApplicationProfile.fetchIfAny(service, exchange))
    }

    /// Asks the server for an access token of the client itself. There is no session, and a refresh token is not used.
    ///
    /// - Throws: ``OnlineRefusal/rejected`` if the server does not take the client's proof, and says nothing more.
    public func grant(clientSecret: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        let exchange = try HTTPExchange(service)
        let endpoints = try await OAuthEndpoints.find(oauth, exchange)
        var form = FormBody()
        form.add("grant_type", "client_credentials")
        if !oauth.scopes.isEmpty { form.add("scope", oauth.scopes.joined(separator: " ")) }
        let answer = try await post(
            form, to: endpoints.token, domain: domainHeader, clientSecret: clientSecret,
            isSecretInBody: endpoints.takesSecretInBody, exchange)
        let said = try TokenResponse(answer, sendsPassword: false)
        return OnlineGrant(
            access: SecretBytes(copying: Array(said.access.utf8)), scopes: ScopeSet(granted: said.scopes ?? oauth.scopes),
            lifetime: said.lifetime, serverTime: endpoints.token.isSecure ? answer.date : nil)
    }

    /// Whether the session still counts. A live access token counts. An expired one is replaced, if there is a refresh token.
    ///
    /// - Throws: ``OnlineRefusal/rejected`` if the session no longer counts.
    public func check(
        _ session: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let tokens = try tokens(session)
        if tokens.isAlive(UnixTime.now()) { return OnlineGrant() }
        guard tokens.refresh != nil else { throw .rejected }
        do throws(OnlineRefusal) { return try await refresh(session, clientSecret: clientSecret) } catch {
            guard case .failed(.invalidGrant, _, _) = error else { throw error }
            throw .rejected
        }
    }

    /// Gets new tokens for the refresh token. If the server gives no new refresh token, the old one stays. If this
    /// throws, the session that the caller holds is as good as before.
    public func refresh(
        _ session: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        var tokens = try tokens(session)
        guard let refresh = tokens.refresh else { throw .failed(.unusableSession) }
        let exchange = try HTTPExchange(service)
        let endpoints = try await OAuthEndpoints.find(oauth, exchange)
        var form = FormBody()
        form.add("grant_type", "refresh_token")
        form.add("refresh_token", refresh)
        let sent = UnixTime.now()
        let answer = try await post(
            form, to: endpoints.token, domain: domainHeader, clientSecret: clientSecret,
            isSecretInBody: endpoints.takesSecretInBody, exchange)
        let said = try TokenResponse(answer, sendsPassword: false)
        tokens.access = said.access
        tokens.refresh = said.refresh ?? refresh
        tokens.issued = sent
        tokens.lifetime = said.lifetime
        tokens.scopes = said.scopes ?? tokens.scopes
        if let revocation = endpoints.revocation {
            tokens.revocation = revocation.text
            tokens.revocationTakesSecretInBody = endpoints.revocationTakesSecretInBody
        }
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), access: tokens.secretAccess,
            scopes: ScopeSet(granted: tokens.scopes), lifetime: said.lifetime,
            serverTime: endpoints.token.isSecure ? answer.date : nil)
    }

    /// Asks the server to revoke its tokens (RFC 7009). The refresh token is revoked first, since it can produce others.
    ///
    /// - Throws: ``OnlineFailure/noLogout`` if no address for revocation is known, or if the profile does not allow its origin.
    ///   Then the tokens stay valid.
    public func logOut(
        _ session: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let tokens = try tokens(session)
        guard let text = tokens.revocation else { throw .failed(.noLogout) }
        let address = try EndpointURL(text)
        // Attack: the session is of a time when the profile allowed any origin. Its tokens and the client's secret would go there.
        guard oauth.allows(address) else { throw .failed(.noLogout) }
        let exchange = try HTTPExchange(service)
        let isInBody = tokens.revocationTakesSecretInBody ?? false
        for (token, hint) in [(tokens.refresh, "refresh_token"), (tokens.access, "access_token")] {
            guard let token else { continue }
            var form = FormBody()
            form.add("token", token)
            form.add("token_type_hint", hint)
            let answer = try await post(
                form, to: address, domain: domainHeader, clientSecret: clientSecret, isSecretInBody: isInBody, exchange)
            if answer.isSuccess { continue }
            do throws(OnlineRefusal) { _ = try TokenResponse(answer, sendsPassword: false) } catch {
                // The server does not revoke this kind of token (RFC 7009, 2.2.1). Such a token expires by itself.
                guard case .failed(.otherOAuthError, _, _) = error else { throw error }
            }
        }
        return OnlineGrant()
    }

    // MARK: - Requests

    /// Posts the form with the client's own proof. Redirects are not followed: 307 and 308 would send the password on.
    ///
    /// - Parameter isSecretInBody: Whether the client's secret goes into the body. Otherwise it goes into a header.
    private func post(
        _ form: consuming FormBody, to address: EndpointURL, domain: OnlineService.Header?,
        clientSecret: borrowing SecretBytes, isSecretInBody: Bool, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> HTTPResponse {
        var form = form
        var request = HTTPClientRequest(url: address.text)
        request.method = .POST
        for header in try CustomHeaders(service.headers).fields + (domain.map { [$0] } ?? []) {
            guard CustomHeaders.isUsable(header) else { throw .failed(.unusableHeaders) }
            request.headers.add(name: header.name, value: header.value)
        }
        if clientSecret.count == 0 || isSecretInBody { form.add("client_id", oauth.clientID) }
        if clientSecret.count > 0, isSecretInBody { form.add("client_secret", clientSecret) }
        let sendsHeader = clientSecret.count > 0 ? !isSecretInBody : oauth.includesClientHeader
        if sendsHeader { request.headers.add(name: "Authorization", value: try clientHeader(clientSecret)) }
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/x-www-form-urlencoded")
        // An `Accept` header of the profile has precedence.
        if !request.headers.contains(name: "Accept") { request.headers.add(name: "Accept", value: "application/json") }
        request.body = .bytes(form.finish())
        return try await exchange.fetch(request, limit: Self.maximumAnswer, readsErrors: true)
    }

    /// Id and secret are escaped before they are joined (RFC 6749, 2.3.1).
    private func clientHeader(_ clientSecret: borrowing SecretBytes) throws(OnlineRefusal) -> String {
        var id = SecretBuffer()
        FormBody.escape(oauth.clientID.utf8Span.span, into: &id)
        var secret = SecretBuffer()
        clientSecret.withBytes { FormBody.escape($0, into: &secret) }
        let name = id.withBytes { id in String(decoding: id.indices.map { id[$0] }, as: UTF8.self) }
        return try AuthorizationHeader.basic(name, secret.finish())
    }

    private var domainHeader: OnlineService.Header? {
        service.domain.flatMap { domain in domain.header.map { OnlineService.Header($0, domain.name) } }
    }

    private func tokens(_ session: borrowing SecretBytes) throws(OnlineRefusal) -> ServerSession.Tokens {
        guard case .tokens(let tokens) = try ServerSession(session) else { throw .failed(.unusableSession) }
        return tokens
    }
}

extension ServerSession.Tokens {
    /// The access token for the agent, which cannot read the session.
    fileprivate var secretAccess: SecretBytes { SecretBytes(copying: Array(access.utf8)) }

    /// Whether the access token is still valid. It is not once its lifetime has passed, and not if the clock is before
    /// the time of issue.
    func isAlive(_ now: Int64) -> Bool {
        guard let lifetime else { return true }
        return now >= issued && now < issued + Int64(lifetime)
    }
}
