public import OMOnlineModel
public import OMSecrets

/// Asks a server for tokens in return for tokens and assertions of other servers.
public protocol AssertionProvider: Sendable {
    /// - Parameter cancellation: Check this while waiting.
    func logIn(
        _ question: AssertionQuestion, with assertion: borrowing SecretBytes, cancellation: Cancellation
    ) -> BrowserAnswer

    /// - Parameters:
    ///   - actor: Empty, unless `asked` has a type for it.
    ///   - scopes: Nil for those of the profile.
    func exchange(
        _ subject: borrowing SecretBytes, actor: borrowing SecretBytes, for asked: TokenExchange, under profile: Profile,
        scopes: ScopeSet?, cancellation: Cancellation
    ) -> ProviderAnswer

    /// Ends a session at its server that the caller does not keep.
    ///
    /// - Returns: Why the session continues at the server. Nil if it does not.
    func end(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal?
}
