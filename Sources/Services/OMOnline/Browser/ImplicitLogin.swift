// Logins by the implicit grant (RFC 6749, 4.2). docs/reference/online.md, "Logins in a browser".

public import OMOnlineModel
import OMSecrets

extension BrowserLoginProvider {
    /// Logs a user in by the implicit grant: the browser itself brings the token. RFC 9700 says that it must not be used, because the
    /// token is in the browser's address and history, and another program of this machine can bring one of its own.
    ///
    /// No secret of the client is sent, and the session has no refresh token.
    ///
    /// - Parameters: as those of ``logIn(listening:user:clientSecret:with:)``.
    /// - Precondition: The grant of the service is ``OAuthService/Grant/implicit``.
    public func logInByImplicitGrant(
        listening: [Int32], user: String?, with person: any BrowserConversation
    ) async throws(OnlineRefusal) -> OnlineGrant {
        precondition(oauth.grant == .implicit)
        let began = timer.now(), none = SecretBytes(copying: [])
        let (asked, answer) = try await askBrowser(listening, clientSecret: none, with: person)
        guard case .token(let said) = answer else { throw .failed(.unexpectedAnswer) }
        person.hasFinished()
        // The server gave the token just before the browser brought it.
        let sent = UnixTime.now(), waited = timer.now() - began
        try await client.checkBinding(of: said, asked.endpoints, clientSecret: none)
        return try await finish(
            Arrival(
                said: said, sent: sent, waited: waited, serverTime: nil, nonce: asked.secrets.nonce, needsAccessHash: true),
            user: user, clientSecret: none, at: asked.server, by: HTTPExchange(service, signer), for: person)
    }
}
