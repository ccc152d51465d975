// Messages for access tokens that were not given.

internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

extension TokenStatus {
    /// The notice for a person. Nil if there is nothing to say.
    ///
    /// - Parameter left: The life of the token in seconds.
    func words(left: Int64) -> String? {
        switch self {
        case .good: nil
        case .shortLived: "the server's tokens expire sooner than asked: this one in \(left) s"
        case .unrenewed: "the server gave no other token: this one expires in \(left) s"
        }
    }
}

extension Failure {
    /// The agent handed out no token of this session.
    init(_ refusal: TokenRefusal, of session: AgentSession, under profile: Profile) {
        let key = session.login.key
        let (user, name) = (key.user.text.asShellWord, key.profile.text.asShellWord)
        let isExchanged = profile.serverKind == .oauthTokenExchange
        let login =
            isExchanged
            ? "omvault token exchange \(name) --subject-from SOURCE --store" : "omvault login \(user) --profile \(name)"
        switch refusal {
        case .never:
            self.init(
                .policy, "TokenRelease was never at the login, so the agent gives no token of this session",
                hint: "omvault profile set \(name) TokenRelease=confirm   (or TokenRelease=allow, for scripts)",
                "then \(login)   (the setting counts from the next login)")
        case .unconfirmed:
            self.init(.agent, "the agent does not take the answer of the user", hint: "omvault agent stop, then log in again")
        case .scopes(let held):
            let words = held.isEmpty ? "no scope that omvault knows of" : "the scopes \(held.names.joined(separator: " "))"
            self.init(
                .policy, "the token has \(words), and so not all that --scope names",
                hint: "add what is missing to OAuthScope of profile \"\(key.profile.text)\"", "then \(login)")
        case .otherScopes(let given):
            let words = given.isEmpty ? "no scope that omvault knows of" : "the scopes \(given.names.joined(separator: " "))"
            self.init(
                .policy, "the server gave a token with \(words), and not with exactly those that were asked for",
                hint: "ask without --exact-scope, or ask the administrator of the server")
        case .bound: self = .boundToken(profile: key.profile.text)
        case .noToken:
            self.init(
                .notFound, "the session has no access token: its login was offline, or the server gave none",
                hint: isExchanged ? login : "\(login) --mode online")
        case .noIDToken:
            self.init(
                .notFound, "the session has no ID token",
                hint: "a login at the server's own pages gets one, if OAuthScope of profile \"\(key.profile.text)\" has openid")
        case .dead: self = .deadToken
        case .server(let refusal): self.init(duringRenewal: refusal, under: profile)
        }
    }

    /// A token that its profile binds to a key is of no use outside of the agent.
    static func boundToken(profile: String) -> Failure {
        Failure(
            .policy,
            "tokens of profile \"\(profile)\" are bound to a key that stays in the agent, so no other program can use one",
            hint: "omvault rest GET URL --profile \(profile.asShellWord)   (the agent proves the key for each request)")
    }

    /// The same for a profile whose tokens have no session that keeps their key.
    static func boundToken(withoutSession profile: Profile) -> Failure {
        Failure(
            .policy,
            "tokens of profile \"\(profile.name.text)\" are bound to a key, and with its grant no session keeps the key",
            hint: "omvault profile set \(profile.name.text.asShellWord) OAuthSenderConstraint=none")
    }

    /// The server's newest token has no life left.
    static var deadToken: Failure {
        Failure(.remoteError, "the server's new token is not valid any more", hint: "ask the administrator of the server")
    }

    /// A refusal of a question about a token, or of the new tokens that it needs.
    init(asking refusal: OnlineRefusal, under profile: Profile) {
        guard !refusal.endsSession, refusal != .failed(.unusableSession) else {
            self.init(duringRenewal: refusal, under: profile)
            return
        }
        self.init(refusal, under: profile)
    }

    /// A server's refusal of a client's own request for a token. There is no user, and so no password.
    init(ofClient refusal: OnlineRefusal, under profile: Profile) {
        switch refusal {
        case .rejected, .forbidden, .blocked, .failed(.invalidClient, _, _):
            let proof = profile.clientProof.mayAssert ? "the signature of OAuthClientKey" : "its secret"
            self.init(
                .remoteAuth, "the server refuses the client: it does not know OAuthClientID, or refuses \(proof)",
                hint: profile.assertionHint ?? "OAuthClientID and OAuthClientSecret must be the values that the server knows")
        default: self.init(refusal, under: profile)
        }
        self = with(sdkCode: refusal.sdkCode)
    }
}
