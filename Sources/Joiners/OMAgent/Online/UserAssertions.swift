// Joins logins with an assertion, and token exchange, to the online helper.

public import OMAuth
public import OMOnlineModel
public import OMSecrets
internal import OMSystem

extension OnlineProvider: AssertionProvider {
    public func logIn(
        _ question: AssertionQuestion, with assertion: borrowing SecretBytes, cancellation: Cancellation
    ) -> BrowserAnswer {
        do throws(OnlineRefusal) {
            let service = try OnlineService(question.profile, asking: question.scopes, question.domain)
                .showing(chain, for: question.profile)
            let event = OnlineCancellation()
            let acceptance = try cancellation.watched({ event.cancel() }) {
                ask(
                    .assertion(
                        assertion.duplicate(), question.kind, user: question.user?.text, keepsSession: true, of: service,
                        clientSecret: clientSecret.duplicate()),
                    event)
            }.get()
            let user = acceptance.user
            return BrowserAnswer(acceptance.takeTokens(), user: user)
        } catch { return BrowserAnswer(.refused(error), user: nil) }
    }

    public func exchange(
        _ subject: borrowing SecretBytes, actor: borrowing SecretBytes, for asked: TokenExchange, under profile: Profile,
        scopes: ScopeSet?, cancellation: Cancellation
    ) -> ProviderAnswer {
        do throws(OnlineRefusal) {
            let service = try OnlineService(profile, asking: scopes, profile.domain).showing(chain, for: profile)
            let event = OnlineCancellation()
            let acceptance = try cancellation.watched({ event.cancel() }) {
                ask(
                    .exchange(
                        subject.duplicate(), actor: actor.duplicate(), for: asked, of: service,
                        clientSecret: clientSecret.duplicate()),
                    event)
            }.get()
            return acceptance.takeTokens()
        } catch { return .refused(error) }
    }
}

extension OnlineProvider {
    /// Asks the server of a profile for an access token in return for an assertion. No session is kept, and no user is named.
    ///
    /// - Parameters:
    ///   - kind: Nil for a JWT that the client's key signs. The assertion is empty then.
    ///   - scopes: The scopes to ask for. Nil for those of the profile.
    /// - Throws: ``OnlineFailure/unsupportedGrant`` for a profile without an assertion grant.
    public func assertedToken(
        of profile: Profile, with assertion: borrowing SecretBytes, _ kind: AssertionKind?, scopes: ScopeSet? = nil
    ) throws(OnlineRefusal) -> TokenReply {
        let service = try OnlineService(profile, asking: scopes, profile.domain).showing(chain, for: profile)
        guard profile.serverKind == .oauthAssertion else { throw .failed(.unsupportedGrant) }
        return try alone(
            .assertion(
                assertion.duplicate(), kind, user: nil, keepsSession: false, of: service,
                clientSecret: clientSecret.duplicate()))
    }

    /// Asks the server of a profile for an access token in exchange for an assertion. No session is kept.
    ///
    /// - Parameter scopes: The scopes to ask for. Nil for those of the profile.
    /// - Throws: ``OnlineFailure/unsupportedGrant`` for a profile without token exchange.
    public func exchangedToken(
        of profile: Profile, for assertion: borrowing SecretBytes, _ kind: AssertionKind, scopes: ScopeSet? = nil
    ) throws(OnlineRefusal) -> TokenReply {
        let service = try OnlineService(profile, asking: scopes, profile.domain).showing(chain, for: profile)
        guard profile.serverKind == .oauthTokenExchange, let asked = TokenExchange(subjectType: kind == .jwt ? "jwt" : "saml2")
        else { throw .failed(.unsupportedGrant) }
        return try alone(
            .exchange(
                assertion.duplicate(), actor: SecretBytes(copying: []), for: asked, of: service,
                clientSecret: clientSecret.duplicate()))
    }

    /// The answer to a question that only wants an access token.
    func alone(_ question: consuming OnlineQuestion) throws(OnlineRefusal) -> TokenReply {
        // Its key would end with the question.
        guard !question.service.isBoundToKey else { return .refused(.bound) }
        // A token's life counts from here: the answer may be late.
        let sent = ClockReading.now()
        let acceptance = try ask(question, OnlineCancellation()).get()
        let lifetime = acceptance.lifetime
        switch acceptance.takeAccess() {
        case .some(let token):
            let passed = ClockReading.now().sinceBoot - sent.sinceBoot
            let left = lifetime.map { Int64($0) - passed }
            return left.map { $0 > 0 } ?? true ? .given(token, left: left, .good) : .refused(.dead)
        // The protocol refuses such an answer.
        case .none: throw .failed(.helper)
        }
    }
}
