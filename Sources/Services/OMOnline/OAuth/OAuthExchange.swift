// Tokens in exchange for tokens of other servers (RFC 8693). docs/reference/online.md, "Token exchange".

internal import OMJSON
public import OMOnlineModel
public import OMSecrets

extension OAuthProvider {
    /// Asks the server for an access token in exchange for another token.
    ///
    /// The session in the answer has no refresh token that can be used: its life is that of the access token.
    ///
    /// - Parameters:
    ///   - subject: A token of the user who gets the new one.
    ///   - actor: The token of the party that acts for that user. Empty without one.
    ///   - clientSecret: A confidential client's secret. Empty for a public client.
    /// - Throws: ``OnlineFailure/assertionRefused`` if the server does not take the subject or the actor.
    public func exchange(
        _ subject: borrowing SecretBytes, actor: borrowing SecretBytes, for asked: TokenExchange,
        clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let exchange = try HTTPExchange(service, signer)
        let endpoints = try await OAuthServer.find(oauth, exchange).endpoints()
        var form = FormBody()
        form.add("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
        if let resource = asked.resource { form.add("resource", resource) }
        if let audience = asked.audience { form.add("audience", audience) }
        if !oauth.scopes.isEmpty { form.add("scope", oauth.scopes.joined(separator: " ")) }
        form.add("requested_token_type", Self.accessToken)
        try form.add(exchanged: subject, "subject_token", type: asked.subjectType)
        if let type = asked.actorType { try form.add(exchanged: actor, "actor_token", type: type) }
        // A token's life counts from here, because the answer may be late.
        let sent = UnixTime.now()
        let answer = try await client.post(
            form, to: endpoints.token, at: .token, endpoints, domain: client.domainHeader, clientSecret: clientSecret, exchange)
        let said = try Self.withoutPassword { () throws(OnlineRefusal) in try TokenResponse(answer, sendsPassword: false) }
        try await client.checkBinding(of: said, endpoints, clientSecret: clientSecret)
        try await client.requireBinding(said, endpoints, clientSecret: clientSecret, exchange)
        var tokens = client.tokens(said, sent: sent, endpoints, clientSecret: clientSecret)
        // Attack, or mistake: the server gives a refresh token or an assertion, and a program sends it to other servers.
        if let type = JSON(answer: answer.body)?.members?["issued_token_type"], ![Self.accessToken, Self.jwt].contains(type.text)
        {
            await client.discard(tokens, clientSecret: clientSecret)
            throw .failed(.unexpectedAnswer, status: UInt16(answer.status))
        }
        (tokens.refresh, tokens.unused) = (nil, tokens.refresh)
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), access: tokens.secretAccess,
            scopes: ScopeSet(granted: tokens.scopes), lifetime: said.lifetime,
            serverTime: try endpoints.token.isSecure ? answer.date : nil)
    }

    private static let accessToken = TokenExchange.prefix + "access_token"
    private static let jwt = TokenExchange.prefix + "jwt"
}
