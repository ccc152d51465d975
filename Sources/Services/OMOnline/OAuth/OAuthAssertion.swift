// Logins with an assertion of another server (RFC 7521): JWT bearer (RFC 7523) and SAML bearer (RFC 7522).
// docs/reference/online.md, "Assertions".

public import OMOnlineModel
public import OMSecrets

extension OAuthProvider {
    /// Asks the server for tokens in return for an assertion.
    ///
    /// - Parameters:
    ///   - user: The name that the server must give. Nil: any, or none.
    ///   - kind: Nil for a JWT that the client's key signs. The assertion is empty then.
    ///   - keepsSession: Whether the tokens become a session. If not, no user is asked for, and a refresh token is dropped: the
    ///     server may take the access token back with it (RFC 7009, 2.1).
    ///   - clientSecret: A confidential client's secret. Empty for a public client.
    /// - Throws: ``OnlineFailure/assertionRefused`` if the server does not take the assertion.
    public func logIn(
        _ user: String?, assertion: borrowing SecretBytes, _ kind: AssertionKind?, keepsSession: Bool,
        clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let exchange = try HTTPExchange(service, signer)
        let server = try await OAuthServer.find(oauth, exchange), endpoints = try server.endpoints()
        var form = FormBody()
        if let kind { try form.add(assertion: assertion, kind, ofClient: false) }
        if !oauth.scopes.isEmpty { form.add("scope", oauth.scopes.joined(separator: " ")) }
        // A token's life counts from here, because the answer may be late.
        let sent = UnixTime.now()
        let answer = try await client.post(
            form, to: endpoints.token, at: .token, endpoints, mintsGrant: kind == nil, domain: client.domainHeader,
            clientSecret: clientSecret, exchange)
        let said = try Self.withoutPassword { () throws(OnlineRefusal) in try TokenResponse(answer, sendsPassword: false) }
        try await client.checkBinding(of: said, endpoints, clientSecret: clientSecret)
        try await client.requireBinding(said, endpoints, clientSecret: clientSecret, exchange)
        var tokens = client.tokens(said, sent: sent, endpoints, clientSecret: clientSecret)
        let time = try endpoints.token.isSecure ? answer.date : nil
        guard keepsSession else {
            return OnlineGrant(
                access: tokens.secretAccess, scopes: ScopeSet(granted: tokens.scopes), lifetime: said.lifetime, serverTime: time)
        }
        let named: NamedUser?
        do throws(OnlineRefusal) {
            named = try await self.user(said, server, exchange)
            if let user {
                // Attack: the assertion is another user's, and the caller believes that this one logged in.
                guard let named else { throw .failed(.unnamedUser) }
                guard named.name.utf8.elementsEqual(user.utf8) else { throw .failed(.otherUser) }
            }
        } catch {
            await client.discard(tokens, clientSecret: clientSecret)
            throw error
        }
        (tokens.user, tokens.subject) = (named?.name, named?.subject)
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), access: tokens.secretAccess,
            scopes: ScopeSet(granted: tokens.scopes), lifetime: said.lifetime, serverTime: time, user: named)
    }

    /// The user whom the server names: in the ID token, else at its userinfo endpoint. Nil if the profile does not ask for it.
    private func user(
        _ said: TokenResponse, _ server: OAuthServer, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> NamedUser? {
        let claim = oauth.browser?.userClaim
        guard oauth.scopes.contains("openid"), let text = said.idToken, let issuer = server.issuer else {
            // Without the scope of OpenID Connect only a profile that names the endpoint asks there.
            guard oauth.scopes.contains("openid") || oauth.browser?.userInfo != nil, let page = try server.page(.userInfo) else {
                return nil
            }
            let claims = try await UserInfo.fetch(page, access: said.access, client.proof(), exchange)
            let name = try claims.name(claim)
            return NamedUser(name, subject: claims.subject ?? claims.number ?? name)
        }
        let verified = try await server.idTokenKeys().verified(text, exchange)
        let expected = IDToken.Expected(issuer: issuer, client: oauth.clientID, access: said.access)
        let token = try IDToken(verified, expected, now: UnixTime.now())
        return NamedUser(try token.claims.name(claim), subject: token.subject)
    }

    /// The refusals of a request that has no password: 401 says that the client is wrong (RFC 6749, 5.2), and `invalid_grant` that the
    /// token which was sent is.
    static func withoutPassword<Value>(_ body: () throws(OnlineRefusal) -> Value) throws(OnlineRefusal) -> Value {
        do throws(OnlineRefusal) { return try body() } catch {
            switch error {
            case .rejected: throw .failed(.invalidClient, status: 401)
            case .failed(.invalidGrant, let status, _): throw .failed(.assertionRefused, status: status)
            default: throw error
            }
        }
    }
}
