// The drivers of logins with an assertion, and of token exchange: one question to a provider, and the receipt.

public import OMOnlineModel
public import OMSecrets
internal import OMSystem

extension Authenticator {
    /// Logs a user in with an assertion of another server. Such a login is never cached: no password comes to this machine.
    ///
    /// - Returns: The login of the user whom the server names. If it names none, and no user was asked for, the user is the client's id.
    /// - Throws: ``AuthError/online(_:)``; ``AuthError/offlineNotAllowed`` if the profile's mode is offline. No server is asked
    ///   for a JWT of the client's key if the profile has a source of assertions, or if there is an assertion.
    public func logIn(
        _ question: AssertionQuestion, with assertion: borrowing SecretBytes, asking provider: any AssertionProvider,
        cancellation: Cancellation = Cancellation()
    ) throws(AuthError) -> LoginReceipt {
        let profile = question.profile
        guard profile.serverKind == .oauthAssertion else { throw .online(.failed(.unsupportedGrant)) }
        // Attack: an assertion is lost on the way, and the client's own key speaks in its place.
        guard question.kind != nil || profile.mintsAssertion && assertion.count == 0 else {
            throw .online(.failed(.unusableAssertion))
        }
        guard profile.connectivityMode != .offline else { throw .offlineNotAllowed }
        let sent = clock()
        let answer = provider.logIn(question, with: assertion, cancellation: cancellation)
        let named = answer.user
        let given = answer.takeAnswer()
        if let refusal = given.refusal { throw .online(refusal) }
        guard let accepted = AcceptedAnswer(given, sent: sent) else { throw .cancelled }
        let user: UserName
        do throws(OnlineRefusal) { user = try Self.user(named, asked: question.user, under: profile) } catch {
            drop(accepted, of: question.user, question.profile, domain: question.domain, ending: provider.end)
            throw .online(error)
        }
        return acceptUncached(accepted, LoginRequest(user, profile, domain: question.domain, mode: .online))
    }

    /// Exchanges a token of another server for an access token. The result is a session whose life is that of the token, and at most
    /// that of `TokenExchangeTimeout`.
    ///
    /// - Parameters:
    ///   - actor: Empty, unless `asked` has a type for it.
    ///   - user: The name of the session. Nil for the client's id: the server names no user.
    ///   - scopes: Nil for those of the profile.
    public func exchange(
        _ subject: borrowing SecretBytes, actor: borrowing SecretBytes, for asked: TokenExchange, under profile: Profile,
        user: UserName? = nil, scopes: ScopeSet? = nil, asking provider: any AssertionProvider,
        cancellation: Cancellation = Cancellation()
    ) throws(AuthError) -> LoginReceipt {
        guard profile.serverKind == .oauthTokenExchange, profile.tokenExchangeDialect == .rfc8693 else {
            throw .online(.failed(.unsupportedGrant))
        }
        guard profile.connectivityMode != .offline else { throw .offlineNotAllowed }
        // The server would give a token that is not for the actor.
        guard (asked.actorType == nil) == (actor.count == 0) else { throw .online(.failed(.unusableAssertion)) }
        guard let name = user ?? Self.client(of: profile) else { throw .online(.failed(.unusableUser)) }
        let sent = clock()
        let answer = provider.exchange(
            subject, actor: actor, for: asked, under: profile, scopes: scopes, cancellation: cancellation)
        if let refusal = answer.refusal { throw .online(refusal) }
        guard let accepted = AcceptedAnswer(answer.living(atMost: profile.tokenExchangeTimeout), sent: sent) else {
            throw .cancelled
        }
        return acceptUncached(accepted, LoginRequest(name, profile, domain: profile.domain, mode: .online))
    }

    private static func client(of profile: Profile) -> UserName? { try? UserName(profile.oauthClientID ?? "") }

    /// The user of the session.
    ///
    /// Attack: the assertion is another user's, or the helper was taken over. So only the server's word makes a session that of the
    /// asked user.
    private static func user(
        _ named: NamedUser?, asked: UserName?, under profile: Profile
    ) throws(OnlineRefusal) -> UserName {
        guard let named else {
            guard asked == nil else { throw .failed(.unnamedUser) }
            guard let user = client(of: profile) else { throw .failed(.unusableUser) }
            return user
        }
        return try Self.user(named, asked: asked)
    }
}

extension ProviderAnswer {
    /// The same answer, with a life of at most that many seconds. A token without an end gets this one.
    fileprivate consuming func living(atMost seconds: Int64) -> ProviderAnswer {
        switch consume self {
        case .accepted(let policy, let problem, let time, let session, let access, let lifetime):
            return .accepted(
                policy: policy, policyProblem: problem, serverTime: time, session: session, access: access,
                lifetime: min(lifetime ?? .max, UInt32(clamping: seconds)))
        case .refused(let refusal): return .refused(refusal)
        }
    }
}
