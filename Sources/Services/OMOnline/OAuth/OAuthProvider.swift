// Logins by OAuth 2.0's resource owner grant (RFC 6749, 4.3), the use of their tokens, and tokens of a client itself (4.4).
// docs/reference/online.md, "OAuth".

internal import OMCrypto
public import OMOnlineModel
public import OMSecrets

public struct OAuthProvider: Sendable {
    let service: OnlineService
    let oauth: OAuthService
    let signer: (any IdentitySigner)?

    /// - Parameter signer: Signs with the keys of the client: `OAuthClientKey` and that of the service's certificate. Nil for a client
    ///   without any.
    public init(_ service: OnlineService, _ oauth: OAuthService, signer: (any IdentitySigner)? = nil) {
        (self.service, self.oauth, self.signer) = (service, oauth, signer)
    }

    /// Asks the server for tokens in return for the password.
    ///
    /// - Parameters:
    ///   - password: Sent byte for byte, whether it is UTF-8 or not.
    ///   - clientSecret: A confidential client's secret. Empty for a public client.
    public func logIn(
        _ user: String, password: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let name = try QualifiedUserName(user, service.domain)
        let exchange = try HTTPExchange(service, signer)
        let endpoints = try await OAuthServer.find(oauth, exchange).endpoints()
        var form = FormBody()
        form.add("grant_type", "password")
        form.add("username", name.text)
        form.add("password", password)
        if !oauth.scopes.isEmpty { form.add("scope", oauth.scopes.joined(separator: " ")) }
        // A token's life counts from here, because the answer may be late.
        let sent = UnixTime.now()
        let answer = try await client.post(
            form, to: endpoints.token, at: .token, endpoints, domain: name.header, clientSecret: clientSecret, exchange)
        let said = try await client.read(answer, sendsPassword: true, endpoints, clientSecret: clientSecret)
        try await client.requireBinding(said, endpoints, clientSecret: clientSecret, exchange)
        let tokens = client.tokens(said, sent: sent, endpoints, clientSecret: clientSecret)
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), access: tokens.secretAccess,
            scopes: ScopeSet(granted: tokens.scopes), lifetime: said.sessionLifetime,
            serverTime: try endpoints.token.isSecure ? answer.date : nil,
            profile: await ApplicationProfile.fetchIfAny(service, exchange))
    }

    /// Asks the server for an access token of the client itself. There is no session, and a refresh token is not used.
    ///
    /// - Throws: ``OnlineRefusal/rejected`` if the server does not take the client's proof, and says nothing more.
    public func grant(clientSecret: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        let exchange = try HTTPExchange(service, signer)
        let endpoints = try await OAuthServer.find(oauth, exchange).endpoints()
        var form = FormBody()
        form.add("grant_type", "client_credentials")
        if !oauth.scopes.isEmpty { form.add("scope", oauth.scopes.joined(separator: " ")) }
        let answer = try await client.post(
            form, to: endpoints.token, at: .token, endpoints, domain: client.domainHeader, clientSecret: clientSecret, exchange)
        let said = try await client.read(answer, sendsPassword: false, endpoints, clientSecret: clientSecret)
        try await client.requireBinding(said, endpoints, clientSecret: clientSecret, exchange)
        return OnlineGrant(
            access: SecretBytes(copying: Array(said.access.utf8)), scopes: ScopeSet(granted: said.scopes ?? oauth.scopes),
            lifetime: said.lifetime, serverTime: try endpoints.token.isSecure ? answer.date : nil)
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
        let sent = UnixTime.now()
        let (said, time, idToken) = try await renew(&tokens, nil, clientSecret: clientSecret)
        tokens.access = said.access
        tokens.issued = sent
        tokens.lifetime = said.lifetime
        tokens.scopes = said.scopes ?? tokens.scopes
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), access: tokens.secretAccess,
            scopes: ScopeSet(granted: tokens.scopes), idToken: idToken.map { SecretBytes(copying: Array($0.utf8)) },
            lifetime: said.lifetime, serverTime: time)
    }

    /// Gets an access token with fewer scopes, or for a certain resource (RFC 8707). The session keeps its own access token. Its
    /// refresh token is replaced, if the server gives another one.
    ///
    /// - Returns: The scopes that the server names. If it names none, those that were asked for (RFC 6749, 5.1).
    public func narrow(
        _ session: borrowing SecretBytes, to narrowing: TokenNarrowing, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        var tokens = try tokens(session)
        let (said, time, _) = try await renew(&tokens, narrowing, clientSecret: clientSecret)
        let asked = narrowing.scopes.isEmpty ? tokens.scopes : narrowing.scopes.names
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), access: SecretBytes(copying: Array(said.access.utf8)),
            scopes: ScopeSet(granted: said.scopes ?? asked), lifetime: said.lifetime, serverTime: time)
    }

    /// Asks with the refresh token, and replaces it and the address for revocation in `tokens`.
    ///
    /// - Returns: The ID token only if it was verified.
    private func renew(
        _ tokens: inout ServerSession.Tokens, _ narrowing: TokenNarrowing?, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> (TokenResponse, serverTime: Int64?, idToken: String?) {
        guard let refresh = tokens.refresh else { throw .failed(.unusableSession) }
        let exchange = try HTTPExchange(service, signer)
        let server = try await OAuthServer.find(oauth, exchange), endpoints = try server.endpoints()
        var form = FormBody()
        form.add("grant_type", "refresh_token")
        form.add("refresh_token", refresh)
        if let narrowing {
            if !narrowing.scopes.isEmpty { form.add("scope", narrowing.scopes.names.joined(separator: " ")) }
            if let resource = narrowing.resource { form.add("resource", resource) }
        }
        let answer = try await client.post(
            form, to: endpoints.token, at: .token, endpoints, domain: client.domainHeader, clientSecret: clientSecret, exchange)
        let said = try await client.read(answer, sendsPassword: false, endpoints, clientSecret: clientSecret)
        try await client.requireBinding(said, endpoints, clientSecret: clientSecret, exchange)
        tokens.refresh = said.refresh ?? refresh
        if let revocation = endpoints.revocation {
            tokens.revocation = revocation.text
            client.noteRevocation(&tokens, endpoints, clientSecret: clientSecret)
        }
        let isVerified: Bool
        do throws(OnlineRefusal) { isVerified = try await check(said, is: tokens.subject, server, exchange) } catch {
            tokens.access = said.access
            await client.discard(tokens, clientSecret: clientSecret)
            throw error
        }
        return (said, try endpoints.token.isSecure ? answer.date : nil, isVerified ? said.idToken : nil)
    }

    /// Asks the server to revoke its tokens (RFC 7009). The refresh token is revoked first, since it can produce others.
    ///
    /// - Throws: ``OnlineFailure/noLogout`` if no address for revocation is known, or if the profile does not allow its origin.
    ///   Then the tokens stay valid.
    public func logOut(
        _ session: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        try await client.revoke(tokens(session), clientSecret: clientSecret)
        return OnlineGrant()
    }

    // MARK: - Parts

    var client: OAuthClient { OAuthClient(service: service, oauth: oauth, signer: signer) }

    /// Checks the ID token of a refresh, if there is one: it must be of the session's user (OpenID Connect Core, 12.2).
    ///
    /// If the keys cannot be had, the token is not read. A server may leave it out too, so that gives an attacker nothing, and the
    /// new refresh token is not lost.
    ///
    /// - Returns: Whether there is an ID token that was verified.
    private func check(
        _ said: TokenResponse, is subject: String?, _ server: OAuthServer, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> Bool {
        guard let subject, let text = said.idToken, let issuer = server.issuer, let keys = try? server.idTokenKeys() else {
            return false
        }
        let verified: VerifiedJWS
        do throws(OnlineRefusal) { verified = try await keys.verified(text, exchange) } catch {
            if case .failed(.unusableIDToken, _, _) = error { throw error }
            return false
        }
        let expected = IDToken.Expected(issuer: issuer, client: oauth.clientID, access: said.access, subject: subject)
        _ = try IDToken(verified, expected, now: UnixTime.now())
        return true
    }

    func tokens(_ session: borrowing SecretBytes) throws(OnlineRefusal) -> ServerSession.Tokens {
        guard case .tokens(let tokens) = try ServerSession(session) else { throw .failed(.unusableSession) }
        return tokens
    }
}

extension ServerSession.Tokens {
    /// The access token for the agent, which cannot read the session.
    var secretAccess: SecretBytes { SecretBytes(copying: Array(access.utf8)) }

    /// Whether the access token is still valid. It is not once its lifetime has passed, and not if the clock is before
    /// the time of issue.
    func isAlive(_ now: Int64) -> Bool {
        guard let lifetime else { return true }
        return now >= issued && now < issued + Int64(lifetime)
    }
}
