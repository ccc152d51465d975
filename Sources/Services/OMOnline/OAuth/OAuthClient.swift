// The requests of a client to an OAuth server, with the client's own proof.

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMOnlineModel
internal import OMSecrets

/// The client of a profile. Each grant sends its form by this.
struct OAuthClient: Sendable {
    private static let maximumAnswer = 256 << 10

    let service: OnlineService
    let oauth: OAuthService
    /// Signs with the private key of the service's certificate.
    var signer: (any IdentitySigner)?

    /// Posts the form with the client's own proof. Redirects are not followed: 307 and 308 would send the form's secrets on.
    ///
    /// - Parameters:
    ///   - domain: The header that carries the identity domain.
    ///   - isSecretInBody: Whether the client's secret goes into the body. Otherwise it goes into a header.
    func post(
        _ form: consuming FormBody, to address: EndpointURL, domain: OnlineService.Header?,
        clientSecret: borrowing SecretBytes, isSecretInBody: Bool, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> HTTPResponse {
        var form = form
        var request = HTTPClientRequest(url: address.text)
        request.method = .POST
        for header in try CustomHeaders(service.headers).fields + (domain.map { [$0] } ?? []) {
            guard CustomHeaders.isUsable(header) else { throw .failed(.unusableHeaders) }
            request.headers.add(name: header.name, value: header.value)
        }
        if clientSecret.count == 0 || isSecretInBody { form.add("client_id", oauth.clientID) }
        if clientSecret.count > 0, isSecretInBody { form.add("client_secret", clientSecret) }
        let sendsHeader = clientSecret.count > 0 ? !isSecretInBody : oauth.includesClientHeader
        if sendsHeader { request.headers.add(name: "Authorization", value: try clientHeader(clientSecret)) }
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/x-www-form-urlencoded")
        // An `Accept` header of the profile has precedence.
        if !request.headers.contains(name: "Accept") { request.headers.add(name: "Accept", value: "application/json") }
        request.body = .bytes(form.finish())
        let answer = try await exchange.fetch(request, limit: Self.maximumAnswer, readsErrors: true)
        // Glewlwyd says no more to a client whose certificate is wrong or missing.
        if answer.status == 403, answer.body.isEmpty, exchange.wasAskedForCertificate {
            throw .failed(.certificateRefused, status: 403)
        }
        return answer
    }

    /// Asks the server to revoke its tokens (RFC 7009). The refresh token is revoked first, since it can produce others.
    ///
    /// - Throws: ``OnlineFailure/noLogout`` if no address for revocation is known, or if the profile does not allow its origin.
    ///   Then the tokens stay valid.
    func revoke(
        _ tokens: ServerSession.Tokens, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) {
        guard let text = tokens.revocation else { throw .failed(.noLogout) }
        let address = try EndpointURL(text)
        // Attack: the session is of a time when the profile allowed any origin. Its tokens and the client's secret would go there.
        guard oauth.allows(address) else { throw .failed(.noLogout) }
        let exchange = try HTTPExchange(service, signer)
        let isInBody = tokens.revocationTakesSecretInBody ?? false
        for (token, hint) in [(tokens.refresh, "refresh_token"), (tokens.access, "access_token")] {
            guard let token else { continue }
            var form = FormBody()
            form.add("token", token)
            form.add("token_type_hint", hint)
            let answer = try await post(
                form, to: address, domain: domainHeader, clientSecret: clientSecret, isSecretInBody: isInBody, exchange)
            if answer.isSuccess { continue }
            do throws(OnlineRefusal) { _ = try TokenResponse(answer, sendsPassword: false) } catch {
                // The server does not revoke this kind of token (RFC 7009, 2.2.1). Such a token expires by itself.
                guard case .failed(.otherOAuthError, _, _) = error else { throw error }
            }
        }
    }

    /// Revokes tokens that came and are not kept. It does so even if the caller was cancelled, and ignores a failure: the server
    /// may have no revocation, and the tokens are dropped in any case.
    func discard(_ tokens: ServerSession.Tokens, clientSecret: borrowing SecretBytes) async {
        let secret = Held(clientSecret.duplicate())
        await Task.detached { try? await revoke(tokens, clientSecret: secret.bytes) }.value
    }

    /// A secret for a task of its own.
    private final class Held: Sendable {
        let bytes: SecretBytes

        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    var domainHeader: OnlineService.Header? {
        service.domain.flatMap { domain in domain.header.map { OnlineService.Header($0, domain.name) } }
    }

    /// Id and secret are escaped before they are joined (RFC 6749, 2.3.1).
    private func clientHeader(_ clientSecret: borrowing SecretBytes) throws(OnlineRefusal) -> String {
        var id = SecretBuffer()
        FormBody.escape(oauth.clientID.utf8Span.span, into: &id)
        var secret = SecretBuffer()
        clientSecret.withBytes { FormBody.escape($0, into: &secret) }
        let name = id.withBytes { id in String(decoding: id.indices.map { id[$0] }, as: UTF8.self) }
        return try AuthorizationHeader.basic(name, secret.finish())
    }
}
