public import OMOnlineModel

/// The description of an access token that the agent holds. None of it is secret.
public struct HeldToken: Hashable, Sendable {
    public let scopes: ScopeSet
    /// Its life in seconds, 0 after its end. Nil for a token without an end.
    public let left: Int64?
    public let kind: TokenKind
}
