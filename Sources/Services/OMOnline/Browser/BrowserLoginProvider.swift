// Logins at the server's own pages: by authorization code with PKCE, and by another device. docs/reference/online.md, "Logins in a
// browser".

internal import AsyncHTTPClient
internal import OMJSON
public import OMOnlineModel
public import OMSecrets

public struct BrowserLoginProvider: Sendable {
    let service: OnlineService
    let oauth: OAuthService
    let timer: LoginTimer
    let signer: (any IdentitySigner)?
    let keyThumbprint: String?

    /// - Parameters:
    ///   - signer: Signs with the keys of the client: `OAuthClientKey` and that of the service's certificate, and with the key to
    ///     which the tokens are bound. Nil for a client without any.
    ///   - keyThumbprint: Names the key to which the tokens are bound. Nil without one.
    /// - Precondition: `oauth.browser` is not nil.
    public init(
        _ service: OnlineService, _ oauth: OAuthService, signer: (any IdentitySigner)? = nil, keyThumbprint: String? = nil
    ) {
        self.init(service, oauth, signer: signer, keyThumbprint: keyThumbprint, timer: .real)
    }

    init(
        _ service: OnlineService, _ oauth: OAuthService, signer: (any IdentitySigner)? = nil, keyThumbprint: String? = nil,
        timer: LoginTimer
    ) {
        (self.service, self.oauth, self.timer, self.signer) = (service, oauth, timer, signer)
        self.keyThumbprint = keyThumbprint
    }

    var client: OAuthClient { OAuthClient(service: service, oauth: oauth, signer: signer) }

    /// Logs a user in by authorization code. It ends when the server's answer came, or when the task is cancelled.
    ///
    /// - Parameters:
    ///   - listening: Loopback TCP sockets that are bound and listen, for the answer: none, one, or two for `localhost`. This call
    ///     owns and closes them. Without one only a pasted answer counts.
    ///   - user: The name that the server must give. Nil: any.
    ///   - clientSecret: A confidential client's secret. Empty for a public client.
    public func logIn(
        listening: [Int32], user: String?, clientSecret: borrowing SecretBytes, with person: any BrowserConversation
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let began = timer.now()
        let (asked, brought) = try await askBrowser(listening, clientSecret: clientSecret, with: person)
        let (server, endpoints, secrets) = (asked.server, asked.endpoints, asked.secrets)
        // Only a login that awaits a token has another answer.
        guard case .code(let code) = brought else { throw .failed(.unexpectedAnswer) }
        person.hasFinished()
        var form = FormBody()
        form.add("grant_type", "authorization_code")
        form.add("code", code)
        form.add("redirect_uri", asked.redirect.text)
        form.add("code_verifier", secrets.key.verifier)
        // The time for the server's answers begins here: the person may have taken long.
        let exchange = try HTTPExchange(service, signer), sent = UnixTime.now(), waited = timer.now() - began
        let answer = try await post(form, to: endpoints.token, at: .token, endpoints, clientSecret: clientSecret, exchange)
        let said = try Self.asOfClient { () throws(OnlineRefusal) in try TokenResponse(answer, sendsPassword: false) }
        try await client.checkBinding(of: said, endpoints, clientSecret: clientSecret)
        return try await finish(
            Arrival(
                said: said, sent: sent, waited: waited, serverTime: try endpoints.token.isSecure ? answer.date : nil,
                nonce: secrets.nonce),
            user: user, clientSecret: clientSecret, at: server, by: exchange, for: person)
    }

    /// Logs a user in by a code that the person types into a browser on any device (RFC 8628). It ends when the server's answer
    /// came, when the code expires, or when the task is cancelled.
    ///
    /// - Parameters: as those of ``logIn(listening:user:clientSecret:with:)``.
    /// - Throws: ``OnlineFailure/codeExpired`` if the person did not finish in time.
    public func logInByDevice(
        user: String?, clientSecret: borrowing SecretBytes, with person: any BrowserConversation
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let exchange = try HTTPExchange(service, signer), asked = timer.now()
        let server = try await OAuthServer.find(oauth, exchange)
        let endpoints = try server.endpoints()
        guard let page = try server.page(.device) else { throw .failed(.noLoginPage) }
        try checkUser(of: server)
        var form = FormBody()
        if !oauth.scopes.isEmpty { form.add("scope", oauth.scopes.joined(separator: " ")) }
        let began = timer.now()
        let answer = try await post(form, to: page, at: .device, endpoints, clientSecret: clientSecret, exchange)
        let code = try Self.asOfClient { () throws(OnlineRefusal) in try DeviceAuthorization(answer) }
        // Attack: the answer leads the person to another server's page.
        guard code.isAllowed(by: oauth) else { throw .failed(.foreignEndpoint) }
        try await person.show(code.step)
        var polling = DevicePolling(code, now: began, isSigned: !service.identities.isEmpty || service.isBoundToKey)
        while true {
            let wait = try polling.wait(now: timer.now())
            do { try await timer.sleep(wait) } catch { throw .failed(.cancelled) }
            let exchange = try HTTPExchange(service, signer), sent = UnixTime.now(), waited = timer.now() - asked
            let (said, answer) = try await poll(code, endpoints, clientSecret: clientSecret, exchange)
            switch said {
            case .pending: continue
            case .slower: polling.slowDown()
            case .late: polling.backOff()
            case .tokens(let said):
                guard let answer else { continue }
                person.hasFinished()
                try await client.checkBinding(of: said, endpoints, clientSecret: clientSecret)
                return try await finish(
                    Arrival(
                        said: said, sent: sent, waited: waited,
                        serverTime: try endpoints.token.isSecure ? answer.date : nil, nonce: nil),
                    user: user, clientSecret: clientSecret, at: server, by: exchange, for: person)
            }
        }
    }

    // MARK: - Requests

    func post(
        _ form: consuming FormBody, to address: EndpointURL, at kind: ServerEndpoint.Kind, _ endpoints: OAuthEndpoints,
        clientSecret: borrowing SecretBytes, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> HTTPResponse {
        try await client.post(
            form, to: address, at: kind, endpoints, domain: client.domainHeader, clientSecret: clientSecret, exchange)
    }

    /// One question for the tokens of a device code.
    private func poll(
        _ code: DeviceAuthorization, _ endpoints: OAuthEndpoints, clientSecret: borrowing SecretBytes, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> (DeviceAnswer, HTTPResponse?) {
        var form = FormBody()
        form.add("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
        form.add("device_code", code.deviceCode)
        let answer: HTTPResponse
        do throws(OnlineRefusal) {
            answer = try await post(form, to: endpoints.token, at: .token, endpoints, clientSecret: clientSecret, exchange)
        } catch {
            guard case .unreachable = error else { throw error }
            return (.late, nil)
        }
        do throws(OnlineRefusal) {
            return (try Self.asOfClient { () throws(OnlineRefusal) in try DeviceAnswer(answer) }, answer)
        } catch {
            // A gateway that says that the server is down.
            guard case .unreachable = error else { throw error }
            return (.late, nil)
        }
    }

    /// The refusals of a request that has no password: 401 says that the client is wrong (RFC 6749, 5.2).
    static func asOfClient<Value>(_ body: () throws(OnlineRefusal) -> Value) throws(OnlineRefusal) -> Value {
        do throws(OnlineRefusal) { return try body() } catch {
            guard error == .rejected else { throw error }
            throw .failed(.invalidClient, status: 401)
        }
    }

    // MARK: - The user

    /// Tokens on their way to a session.
    struct Arrival {
        let said: TokenResponse
        /// When they were asked for: the answer may be late.
        let sent: Int64
        /// How long after the login began that was: the person took it.
        let waited: Duration
        /// The server's clock. Nil if TLS does not vouch for it.
        let serverTime: Int64?
        let nonce: String?
        /// Whether the browser brought them, so that the ID token must name the access token.
        var needsAccessHash = false
    }

    /// Attack: another program brings a token that another client of the server got. Only the ID token says for which client and which
    /// login it is.
    var asksForIDToken: Bool { oauth.grant == .implicit || oauth.scopes.contains("openid") }

    /// Refuses a server whose ID tokens could not be checked, or that would name no user, before the person does anything.
    func checkUser(of server: OAuthServer) throws(OnlineRefusal) {
        if asksForIDToken {
            _ = try server.idTokenKeys()
        } else if try server.page(.userInfo) == nil {
            throw .failed(.unnamedUser)
        }
    }

    /// The grant of tokens that came. If the user is not certain, the tokens are revoked and not kept.
    func finish(
        _ arrival: Arrival, user: String?, clientSecret: borrowing SecretBytes, at server: OAuthServer, by exchange: HTTPExchange,
        for person: any BrowserConversation
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let said = arrival.said, endpoints = try server.endpoints()
        try await client.requireBinding(said, endpoints, clientSecret: clientSecret, exchange)
        var tokens = client.tokens(said, sent: arrival.sent, endpoints, clientSecret: clientSecret)
        let named: NamedUser
        do throws(OnlineRefusal) {
            named = try await self.user(arrival, server, exchange)
            if let user, !named.name.utf8.elementsEqual(user.utf8) { throw .failed(.otherUser) }
            if Task.isCancelled || person.isGone { throw .failed(.cancelled) }
        } catch {
            await client.discard(tokens, clientSecret: clientSecret)
            throw error
        }
        (tokens.user, tokens.subject) = (named.name, named.subject)
        // The caller counts the life from the question, so the time that the person took is added.
        let life = UInt32(clamping: Int64(said.sessionLifetime) + arrival.waited.components.seconds)
        // Only a login that asks for an ID token verifies it.
        let idToken = asksForIDToken ? said.idToken.map { SecretBytes(copying: Array($0.utf8)) } : nil
        return OnlineGrant(
            session: try ServerSession.tokens(tokens).sealable(), access: tokens.secretAccess,
            scopes: ScopeSet(granted: tokens.scopes), idToken: idToken, lifetime: life,
            serverTime: arrival.serverTime,
            profile: await ApplicationProfile.fetchIfAny(service, exchange), user: named)
    }

    /// The user whom the server names: in the ID token, else at its userinfo endpoint.
    private func user(
        _ arrival: Arrival, _ server: OAuthServer, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> NamedUser {
        let claim = oauth.browser?.userClaim
        guard asksForIDToken else {
            guard let page = try server.page(.userInfo) else { throw .failed(.unnamedUser) }
            let claims = try await UserInfo.fetch(page, access: arrival.said.access, client.proof(), exchange)
            let name = try claims.name(claim)
            return NamedUser(name, subject: claims.identity(claim) ?? name)
        }
        guard let text = arrival.said.idToken, let issuer = server.issuer else { throw .failed(.unusableIDToken) }
        let verified = try await server.idTokenKeys().verified(text, exchange)
        let expected = IDToken.Expected(
            issuer: issuer, client: oauth.clientID, nonce: arrival.nonce, access: arrival.said.access,
            maximumAge: arrival.nonce == nil ? nil : oauth.browser?.maximumAge, needsAccessHash: arrival.needsAccessHash)
        let token = try IDToken(verified, expected, now: UnixTime.now())
        var claims = token.claims
        // A server may name the user at its userinfo endpoint only.
        if !claims.hasName(claim), let page = try? server.page(.userInfo) {
            let more = try await UserInfo.fetch(page, access: arrival.said.access, client.proof(), exchange)
            // Attack: the access token is another user's (OpenID Connect Core, 5.3.2).
            guard let subject = more.subject, subject.utf8.elementsEqual(token.subject.utf8) else {
                throw .failed(.unusableIDToken)
            }
            claims = more
        }
        return NamedUser(try claims.name(claim), subject: token.subject)
    }
}
