// The driver of a login at the server's own pages: one question to a provider, and the receipt.

internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem

extension Authenticator {
    /// Logs a user in at the server's own pages, or by a client certificate. Such a login is never cached: no password comes to this machine.
    ///
    ///     let receipt = try authenticator.authorize(BrowserQuestion(profile), prompting: window, asking: provider)
    ///
    /// - Throws: ``AuthError/online(_:)``; ``AuthError/offlineNotAllowed`` if the profile's mode is offline.
    public func authorize(
        _ question: BrowserQuestion, prompting prompter: any BrowserPrompter, asking provider: any BrowserProvider,
        cancellation: Cancellation = Cancellation()
    ) throws(AuthError) -> LoginReceipt {
        let profile = question.profile
        do throws(OnlineRefusal) { try question.check() } catch { throw .online(error) }
        guard profile.connectivityMode != .offline else { throw .offlineNotAllowed }
        let sent = clock()
        let answer = provider.authorize(question, prompting: prompter, cancellation: cancellation)
        let named = answer.user
        let given = answer.takeAnswer()
        if let refusal = given.refusal { throw .online(refusal) }
        guard let accepted = AcceptedAnswer(given, sent: sent) else { throw .cancelled }
        let user: UserName
        do throws(OnlineRefusal) { user = try Self.user(named, asked: question.user) } catch {
            drop(accepted, of: question.user, question.profile, domain: question.domain, ending: provider.end)
            throw .online(error)
        }
        let request = LoginRequest(user, profile, domain: question.domain, mode: .online)
        return acceptUncached(accepted, request)
    }

    /// The same for tasks. Cancelling the task ends the login.
    public func authorize(
        _ question: BrowserQuestion, prompting prompter: any BrowserPrompter, asking provider: any BrowserProvider
    ) async throws(AuthError) -> LoginReceipt {
        try await awaited { (logins, cancellation) throws(AuthError) in
            try logins.authorize(question, prompting: prompter, asking: provider, cancellation: cancellation)
        }
    }

    /// The user of the session.
    ///
    /// Attack: the person at the browser is another one than the caller means, or the helper was taken over. A named user other
    /// than the asked one is refused.
    static func user(_ named: NamedUser?, asked: UserName?) throws(OnlineRefusal) -> UserName {
        guard let named else { throw .failed(.unnamedUser) }
        guard let user = try? UserName(named.name) else { throw .failed(.unusableUser) }
        guard asked == nil || asked == user else { throw .failed(.otherUser) }
        return user
    }

    /// Ends a session that is not kept.
    func drop(
        _ accepted: consuming AcceptedAnswer, of asked: UserName?, _ profile: Profile, domain: IdentityDomain,
        ending end: (consuming SecretBytes, LoginRequest) -> OnlineRefusal?
    ) {
        guard let user = try? asked ?? UserName("-") else { return }
        switch accepted.session {
        case .none: return
        case .some(let session): _ = end(session.duplicate(), LoginRequest(user, profile, domain: domain))
        }
    }
}
