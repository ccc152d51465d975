// The requests of a client to an OAuth server, with the client's own proof.

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMCrypto
internal import OMOnlineModel
internal import OMSecrets

/// The client of a profile. Each grant sends its form by this.
struct OAuthClient: Sendable {
    private static let maximumAnswer = 256 << 10

    let service: OnlineService
    let oauth: OAuthService
    /// Signs assertions and handshakes. Nil for a client without a key.
    let signer: (any IdentitySigner)?

    /// Posts the form with the client's own proof, by the method that the profile and the server share.
    ///
    /// - Parameters:
    ///   - kind: The endpoint that is at `address`.
    ///   - mintsGrant: Whether the grant is a JWT that the client's key signs, and that is not in the form yet.
    ///   - domain: The header that carries the identity domain.
    func post(
        _ form: consuming FormBody, to address: EndpointURL, at kind: ServerEndpoint.Kind, _ endpoints: OAuthEndpoints,
        mintsGrant: Bool = false, domain: OnlineService.Header?, clientSecret: borrowing SecretBytes, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> HTTPResponse {
        let (methods, algorithms) = endpoints.accepted(at: kind)
        let method = ClientMethod(oauth, offered: methods, hasSecret: clientSecret.count > 0)
        return try await post(
            form, to: address, at: kind, method: method, algorithms: algorithms, mintsGrant: mintsGrant, domain: domain,
            clientSecret: clientSecret, exchange)
    }

    /// Sends the form, and once more if the server wants a nonce of its own in the proof of the session's key.
    private func post(
        _ form: consuming FormBody, to address: EndpointURL, at kind: ServerEndpoint.Kind, method: ClientMethod,
        algorithms: [String]?, mintsGrant: Bool = false, domain: OnlineService.Header?, clientSecret: borrowing SecretBytes,
        _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> HTTPResponse {
        let first = try await send(
            form.duplicate(), to: address, at: kind, method: method, algorithms: algorithms, mintsGrant: mintsGrant,
            domain: domain, clientSecret: clientSecret, nonce: nil, exchange)
        guard kind == .token, let proof = try proof() else { return first }
        guard KeyProof.asksForNonce(first) else {
            await proof.note(first.headers, of: address.text)
            return first
        }
        guard let nonce = KeyProof.nonce(first.headers) else { throw .failed(.nonceRepeated, status: UInt16(first.status)) }
        let second = try await send(
            form, to: address, at: kind, method: method, algorithms: algorithms, mintsGrant: mintsGrant, domain: domain,
            clientSecret: clientSecret, nonce: nonce, exchange)
        await proof.note(second.headers, of: address.text)
        // Attack: a server asks for another nonce without end, and the client spends all its proofs there.
        guard !KeyProof.asksForNonce(second) else { throw .failed(.nonceRepeated, status: UInt16(second.status)) }
        return second
    }

    /// Makes proofs of the session's key. Nil if its tokens are bound to none.
    func proof() throws(OnlineRefusal) -> KeyProof? {
        guard oauth.constraint == .dpop else { return nil }
        guard let signer else { throw .failed(.unusableSession) }
        return KeyProof(signer)
    }

    /// Redirects are not followed: 307 and 308 would send the form's secrets on.
    ///
    /// - Parameter algorithms: The algorithms of assertions that the server takes. Nil if it does not say.
    private func send(
        _ form: consuming FormBody, to address: EndpointURL, at kind: ServerEndpoint.Kind, method: ClientMethod,
        algorithms: [String]?, mintsGrant: Bool, domain: OnlineService.Header?, clientSecret: borrowing SecretBytes,
        nonce: String?, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> HTTPResponse {
        var form = form
        if mintsGrant {
            // Another one for each try: a server takes each `jti` once.
            let minted = try await assertion(for: kind, at: address, nil)
            try form.add(assertion: minted, .jwt, ofClient: false)
        }
        let sendsSecret: Bool, isSecretInBody: Bool
        switch method {
        case .none: (sendsSecret, isSecretInBody) = (false, false)
        // Attack: a ready-made assertion that the profile's method does not let count goes out as a secret.
        case .secret(let isInBody):
            (sendsSecret, isSecretInBody) = (clientSecret.count > 0 && oauth.clientAssertion == nil, isInBody)
        case .readyMade(let kind):
            (sendsSecret, isSecretInBody) = (false, false)
            try form.add(assertion: clientSecret, kind, ofClient: true)
        case .assertion:
            (sendsSecret, isSecretInBody) = (false, false)
            let assertion = try await assertion(for: kind, at: address, algorithms)
            form.add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            form.add("client_assertion", assertion)
        }
        var request = HTTPClientRequest(url: address.text)
        request.method = .POST
        for header in try CustomHeaders(service.headers).fields + (domain.map { [$0] } ?? []) {
            guard CustomHeaders.isUsable(header) else { throw .failed(.unusableHeaders) }
            request.headers.add(name: header.name, value: header.value)
        }
        // A pushed request names the client as the browser would, whatever its proof (RFC 9126, 2.1).
        if !sendsSecret || isSecretInBody || kind == .pushedRequest { form.add("client_id", oauth.clientID) }
        if sendsSecret, isSecretInBody { form.add("client_secret", clientSecret) }
        let isPublic = if case .secret = method { !sendsSecret } else { false }
        let sendsHeader = sendsSecret && !isSecretInBody || isPublic && oauth.includesClientHeader
        if sendsHeader { request.headers.add(name: "Authorization", value: try clientHeader(clientSecret)) }
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/x-www-form-urlencoded")
        // An `Accept` header of the profile has precedence.
        if !request.headers.contains(name: "Accept") { request.headers.add(name: "Accept", value: "application/json") }
        request.body = .bytes(form.finish())
        if kind == .token, let proof = try proof() { try await proof.sign(&request, nonce: nonce) }
        let answer = try await exchange.fetch(request, limit: Self.maximumAnswer, readsErrors: true)
        // Glewlwyd says no more to a client whose certificate is wrong or missing.
        if answer.status == 403, answer.body.isEmpty, exchange.wasAskedForCertificate {
            throw .failed(.certificateRefused, status: 403)
        }
        return answer
    }

    /// An assertion for one request. Its audience comes from the signer.
    private func assertion(
        for kind: ServerEndpoint.Kind, at address: EndpointURL, _ algorithms: [String]?
    ) async throws(OnlineRefusal) -> SecretBytes {
        guard let signer else { throw .failed(.unusableClientKey) }
        // Attack: the document names another endpoint than before, which gets an assertion for the old one.
        if oauth.proof.audience == .endpoint, let known = oauth.audience(at: kind) {
            guard EndpointURL(reading: known) == address else { throw .failed(.unusableClientKey) }
        }
        let allowed = algorithms.map { ClientAssertion.algorithms(named: $0) } ?? SigningPurpose.allAlgorithms
        guard allowed != 0 else { throw .failed(.noKeyAlgorithm) }
        return try await signer.sign(.assertion(at: kind, algorithms: allowed))
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
        let method: ClientMethod =
            if [.none, .certificate, .selfSignedCertificate].contains(oauth.proof.method) {
                .none
            } else if let kind = oauth.readyMadeAssertion {
                .readyMade(kind)
            } else if tokens.revocationTakesAssertion ?? false {
                .assertion
            } else { .secret(isInBody: tokens.revocationTakesSecretInBody ?? false) }
        for (token, hint) in [(tokens.refresh ?? tokens.unused, "refresh_token"), (tokens.access, "access_token")] {
            guard let token else { continue }
            var form = FormBody()
            form.add("token", token)
            form.add("token_type_hint", hint)
            let answer = try await post(
                form, to: address, at: .revocation, method: method, algorithms: nil, domain: domainHeader,
                clientSecret: clientSecret, exchange)
            if answer.isSuccess { continue }
            do throws(OnlineRefusal) { _ = try TokenResponse(answer, sendsPassword: false) } catch {
                // The server does not revoke this kind of token (RFC 7009, 2.2.1). Such a token expires by itself.
                guard case .failed(.otherOAuthError, _, _) = error else { throw error }
            }
        }
    }

    /// Reads a token endpoint's answer, whose tokens must be bound as the profile says. If not, they are revoked.
    ///
    /// - Throws: ``OnlineFailure/tokenNotBound``, ``OnlineFailure/tokenBound``, and what ``TokenResponse`` throws.
    func read(
        _ answer: HTTPResponse, sendsPassword: Bool, _ endpoints: OAuthEndpoints, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) -> TokenResponse {
        let said = try TokenResponse(answer, sendsPassword: sendsPassword)
        try await checkBinding(of: said, endpoints, clientSecret: clientSecret)
        return said
    }

    /// Attack: an attacker on the way, or the server, gives a plain token in place of a bound one, which a thief can use.
    func checkBinding(
        of said: TokenResponse, _ endpoints: OAuthEndpoints, clientSecret: borrowing SecretBytes
    ) async throws(OnlineRefusal) {
        let demands = oauth.constraint == .dpop
        guard said.isBound != demands else { return }
        await discard(tokens(said, sent: 0, endpoints, clientSecret: clientSecret), clientSecret: clientSecret)
        throw .failed(demands ? .tokenNotBound : .tokenBound)
    }

    /// The tokens of a token endpoint's answer.
    ///
    /// - Parameter sent: When they were asked for.
    func tokens(
        _ said: TokenResponse, sent: Int64, _ endpoints: OAuthEndpoints, clientSecret: borrowing SecretBytes
    ) -> ServerSession.Tokens {
        var tokens = ServerSession.Tokens(
            access: said.access, refresh: said.refresh, issued: sent, lifetime: said.sessionLifetime,
            scopes: said.scopes ?? oauth.scopes, revocation: endpoints.revocation?.text)
        noteRevocation(&tokens, endpoints, clientSecret: clientSecret)
        return tokens
    }

    /// Notes how the client proves itself where the tokens are revoked: at a logout no document is asked.
    func noteRevocation(
        _ tokens: inout ServerSession.Tokens, _ endpoints: OAuthEndpoints, clientSecret: borrowing SecretBytes
    ) {
        let method = ClientMethod(oauth, offered: endpoints.revocationMethods, hasSecret: clientSecret.count > 0)
        tokens.revocationTakesSecretInBody = method == .secret(isInBody: true)
        tokens.revocationTakesAssertion = method == .assertion ? true : nil
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
