// Questions about the access token of a session: whose it is, and whether it is active. docs/reference/online.md, "Questions about a
// token".

internal import OMJSON
public import OMOnlineModel
public import OMSecrets

extension OAuthProvider {
    /// Asks for the claims about the session's user (OpenID Connect Core, 5.3).
    ///
    /// - Returns: A grant with the claims, and without a session.
    /// - Throws: ``OnlineFailure/tokenRefused`` if the server does not take the token; ``OnlineFailure/otherSubject``;
    ///   ``OnlineFailure/noEndpoint``.
    public func userInfo(_ session: borrowing SecretBytes) async throws(OnlineRefusal) -> OnlineGrant {
        let tokens = try tokens(session), exchange = try HTTPExchange(service, signer)
        guard let page = try await OAuthServer.find(oauth, exchange).page(.userInfo) else { throw .failed(.noEndpoint) }
        let answer = try await UserInfo.ask(page, access: tokens.access, client.proof(), exchange)
        guard answer.isSuccess else {
            let refusal = HTTPExchange.refusal(answer)
            // The password is not in question here, and this refusal does not end the session.
            throw refusal.isDecision ? .failed(.tokenRefused, status: UInt16(answer.status)) : refusal
        }
        let claims = try Self.claims(answer)
        // Attack: the server, or a program between, answers about another user (OpenID Connect Core, 5.3.2).
        if let subject = tokens.subject {
            // Without OpenID Connect the login may have had no `sub` either. Then both go by the same rule.
            let named =
                oauth.scopes.contains("openid")
                ? claims["sub"]?.text : UserClaims(claims).identity(oauth.browser?.userClaim)
            guard let named, named.utf8.elementsEqual(subject.utf8) else { throw .failed(.otherSubject) }
        }
        return OnlineGrant(claims: Self.secret(claims))
    }

    /// Asks whether the session's access token is active (RFC 7662).
    ///
    /// - Returns: A grant with the server's claims about the token, and without a session.
    /// - Throws: ``OnlineFailure/inactiveToken`` if it is not; ``OnlineFailure/noEndpoint``;
    ///   ``OnlineFailure/invalidClient`` if the server refuses the client's proof.
    public func introspect(
        _ session: borrowing SecretBytes, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let tokens = try tokens(session), exchange = try HTTPExchange(service, signer)
        let server = try await OAuthServer.find(oauth, exchange)
        guard let page = try server.page(.introspection) else { throw .failed(.noEndpoint) }
        var form = FormBody()
        form.add("token", tokens.access)
        form.add("token_type_hint", "access_token")
        let answer = try await client.post(
            form, to: page, at: .introspection, try server.endpoints(), domain: client.domainHeader, clientSecret: clientSecret,
            exchange)
        guard answer.isSuccess else { throw Self.refusalOfClient(answer) }
        let claims = try Self.claims(answer)
        guard case .bool(let isActive)? = claims["active"] else { throw .failed(.unexpectedAnswer) }
        guard isActive else { throw .failed(.inactiveToken) }
        return OnlineGrant(claims: Self.secret(claims))
    }

    /// A refusal of the client, and not of the user: it does not end the session.
    private static func refusalOfClient(_ answer: HTTPResponse) -> OnlineRefusal {
        let refusal: OnlineRefusal
        do throws(OnlineRefusal) {
            _ = try TokenResponse(answer, sendsPassword: false)
            return .failed(.unexpectedAnswer, status: UInt16(answer.status))
        } catch { refusal = error }
        if refusal.isDecision { return .failed(.invalidClient, status: UInt16(answer.status)) }
        return refusal.endsSession ? .failed(.unexpectedAnswer, status: UInt16(answer.status)) : refusal
    }

    /// The members of the answer: one JSON object of at most 64 KiB.
    private static func claims(_ answer: HTTPResponse) throws(OnlineRefusal) -> [String: JSON] {
        guard answer.body.count <= UserInfo.maximumAnswer, let members = JSON(answer: answer.body)?.members else {
            throw .failed(.unexpectedAnswer)
        }
        return members
    }

    private static func secret(_ claims: [String: JSON]) -> SecretBytes {
        SecretBytes(copying: Array(JSON.object(claims).serialized.utf8))
    }
}
