public import OMOnlineModel
public import OMSecrets

/// Logs users in at a server's own pages.
public protocol BrowserProvider: Sendable {
    /// - Parameter cancellation: Check this while waiting.
    func authorize(
        _ question: BrowserQuestion, prompting prompter: any BrowserPrompter, cancellation: Cancellation
    ) -> BrowserAnswer

    /// Ends a session at its server that the caller does not keep.
    ///
    /// - Returns: Why the session continues at the server. Nil if it does not.
    func end(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal?
}
