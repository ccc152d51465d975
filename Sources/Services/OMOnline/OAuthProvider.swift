// Logins by OAuth 2.0's resource owner grant (RFC 6749, 4.3), and what becomes of their tokens. docs/online.md, "OAuth".

internal import AsyncHTTPClient
internal import NIOHTTP1
public import OMOnlineModel
public import OMSecrets

public struct OAuthProvider: Sendable {
    private static let maximumAnswer = 256 << 10

    private let service: OnlineService
    private let oauth: OAuthService

    public init(_ service: OnlineService, _ oauth: OAuthService) { (self.service, self.oauth) = (service, oauth) }

    /// Asks the server for tokens against the password.
    ///
    /// - Parameters:
    ///   - password: used as the bytes it is, in UTF-8 or not.
    ///   - clientSecret: of a confidential client; empty for a public one.
    public func logIn(
        _ user: String, password: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let name = try QualifiedUserName(user, service.domain)
        let exchange = try HTTPExchange(service)
        let endpoints = try await OAuthEndpoints.find(oauth.endpoint, exchange)
        var form = FormBody()
        form.add("grant_type", "password")
        form.add("username", name.text)
        form.add("password", password)
        if !oauth.scopes.isEmpty { form.add("scope", oauth.scopes.joined(separator: " ")) }
        let answer = try await post(
            form, to: endpoints.token, domain: name.header, clientSecret: clientSecret,
            isSecretInBody: endpoints.takesSecretInBody, exchange)
        let said = try TokenResponse(answer, sendsPassword: true)
        let tokens = ServerSession.Tokens(
            access: said.access, refresh: said.refresh, issued: UnixTime.now(), lifetime: said.lifetime,
            scopes: said.scopes ?? oauth.scopes, revocation: endpoints.revocation?.text,
            revocationTakesSecretInBody: endpoints.revocationTakesSecretInBody)
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), lifetime: said.lifetime,
            serverTime: endpoints.token.isSecure ? answer.date : nil,
            profile: await ApplicationProfile.fetchIfAny(service, exchange))
    }

    /// Whether the session still counts: an access token that lives does; one that does not is made anew where there is
    /// a refresh token.
    ///
    /// - Throws: ``OnlineRefusal/rejected`` when it does not.
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

    /// New tokens for the refresh token. Where the server gives no new refresh token, the old one stays; whatever goes
    /// wrong, the session that the caller holds is as good as before.
    public func refresh(
        _ session: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        var tokens = try tokens(session)
        guard let refresh = tokens.refresh else { throw .failed(.unusableSession) }
        let exchange = try HTTPExchange(service)
        let endpoints = try await OAuthEndpoints.find(oauth.endpoint, exchange)
        var form = FormBody()
        form.add("grant_type", "refresh_token")
        form.add("refresh_token", refresh)
        let answer = try await post(
            form, to: endpoints.token, domain: domainHeader, clientSecret: clientSecret,
            isSecretInBody: endpoints.takesSecretInBody, exchange)
        let said = try TokenResponse(answer, sendsPassword: false)
        tokens.access = said.access
        tokens.refresh = said.refresh ?? refresh
        tokens.issued = UnixTime.now()
        tokens.lifetime = said.lifetime
        tokens.scopes = said.scopes ?? tokens.scopes
        if let revocation = endpoints.revocation {
            tokens.revocation = revocation.text
            tokens.revocationTakesSecretInBody = endpoints.revocationTakesSecretInBody
        }
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), lifetime: said.lifetime,
            serverTime: endpoints.token.isSecure ? answer.date : nil)
    }

    /// Has the server take its tokens back (RFC 7009): the refresh token first, since others come from it.
    ///
    /// - Throws: ``OnlineFailure/noLogout`` where no place for that is known: the tokens live on.
    public func logOut(
        _ session: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let tokens = try tokens(session)
        guard let text = tokens.revocation else { throw .failed(.noLogout) }
        let address = try EndpointURL(text)
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
                // A kind of token that the server does not take back (RFC 7009, 2.2.1) ends by itself.
                guard case .failed(.otherOAuthError, _, _) = error else { throw error }
            }
        }
        return OnlineGrant()
    }

    // MARK: - Requests

    /// Posts the form with the client's own proof, and follows nothing: 307 and 308 would send the password on.
    ///
    /// - Parameter isSecretInBody: where a client's secret goes; otherwise into a header.
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
        // What the profile says of its own counts.
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
    /// Dead from the very second on, and when the clock stands before the hour they came.
    func isAlive(_ now: Int64) -> Bool {
        guard let lifetime else { return true }
        return now >= issued && now < issued + Int64(lifetime)
    }
}
