public import OMOnlineModel

/// Why the agent hands out no access token of a session that it keeps.
public enum TokenRefusal: Hashable, Sendable {
    /// `TokenRelease` was `never` when the session began.
    case never
    /// `TokenRelease` was `confirm` when the session began, and the caller does not say that the user agrees.
    case unconfirmed
    /// The token lacks a scope. Another one needs another login.
    case scopes(held: ScopeSet)
    /// The server gave a token with other scopes than exactly those that were asked for.
    case otherScopes(given: ScopeSet)
    /// The session has no access token: its login was offline, or its server gives none.
    case noToken
    /// The session has no ID token: its login did not ask for one, or the server gives none.
    case noIDToken
    /// The token is bound to a key that stays in the agent, so it is of use in the agent's own requests only.
    case bound
    /// The server's newest token does not live any more.
    case dead
    /// The server gave no other token.
    case server(OnlineRefusal)
}
