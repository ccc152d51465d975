// The part of a login that is in the browser: the page that is shown, and the answer that comes back.

internal import OMOnlineModel
internal import OMSecrets

/// What a login has told the browser, and the server that it asks.
struct BrowserRequest {
    let server: OAuthServer
    let endpoints: OAuthEndpoints
    let secrets: LoginSecrets
    let redirect: RedirectAddress
}

extension BrowserLoginProvider {
    /// Shows the server's page, and waits for the browser's answer.
    ///
    /// - Parameter listening: This call owns the sockets and closes them.
    /// - Throws: The server's refusal in the browser too.
    func askBrowser(
        _ listening: [Int32], clientSecret: borrowing SecretBytes, with person: any BrowserConversation
    ) async throws(OnlineRefusal) -> (BrowserRequest, RedirectAnswer) {
        let sockets = ListeningSockets(listening), awaitsToken = oauth.grant == .implicit
        guard let registered = oauth.browser?.redirect else { throw .failed(.noLoginPage) }
        let server = try await OAuthServer.find(oauth, HTTPExchange(service, signer))
        let endpoints = try server.endpoints()
        guard let page = try server.page(.authorization).flatMap({ ShownAddress($0.text) }) else {
            throw .failed(.noLoginPage)
        }
        if awaitsToken {
            guard try server.mayAnswer(with: AuthorizationRequest.implicitType) else { throw .failed(.unsupportedResponse) }
        } else {
            // Attack: the code is stolen on its way through the browser. Without PKCE the thief gets tokens for it.
            guard try server.mayTakeProofKey() else { throw .failed(.noProofKey) }
        }
        try checkUser(of: server)
        let pushes = try server.pushes()
        let secrets = LoginSecrets(nonce: asksForIDToken ? LoginSecrets.random() : nil)
        let rules = RedirectRules(
            state: secrets.state, issuer: server.issuer, needsIssuer: try server.namesIssuer(), awaitsToken: awaitsToken)
        let listener = try await RedirectListener(sockets.take(), rules)
        defer { listener.close() }
        let redirect = try RedirectAddress(registered, port: listener.port)
        let request = try AuthorizationRequest(at: page, for: oauth, redirect: redirect, secrets, key: keyThumbprint)
        rules.expect(redirect)
        let address: String
        if let pushes {
            let exchange = try HTTPExchange(service, signer)
            let answer = try await post(
                request.form(), to: pushes, at: .pushedRequest, endpoints, clientSecret: clientSecret, exchange)
            let pushed = try Self.asOfClient { () throws(OnlineRefusal) in try PushedRequest(answer) }
            address = request.address(naming: pushed.name)
        } else {
            address = request.address
        }
        try await person.show(.open(address))
        let answer = try await Self.answer(listening.isEmpty ? nil : listener, rules, person)
        if case .refused(let refusal) = answer { throw refusal }
        return (BrowserRequest(server: server, endpoints: endpoints, secrets: secrets, redirect: redirect), answer)
    }

    /// The first answer that counts: by the listener, or pasted.
    private static func answer(
        _ listener: RedirectListener?, _ rules: RedirectRules, _ person: any BrowserConversation
    ) async throws(OnlineRefusal) -> RedirectAnswer {
        do {
            return try await withThrowingTaskGroup(of: RedirectAnswer?.self) { group in
                if let listener { group.addTask { try await listener.answer() } }
                group.addTask { try await pasted(rules, person) }
                defer { group.cancelAll() }
                while let first = try await group.next() {
                    if let answer = first { return answer }
                }
                // No answer can come: there is no socket, and nothing is pasted.
                throw OnlineRefusal.failed(.cancelled)
            }
        } catch {
            if Task.isCancelled { throw .failed(.cancelled) }
            throw HTTPExchange.refusal(error)
        }
    }

    /// The answer in a pasted text. Nil if the person pastes none.
    private static func pasted(
        _ rules: RedirectRules, _ person: any BrowserConversation
    ) async throws(OnlineRefusal) -> RedirectAnswer? {
        while !Task.isCancelled {
            guard let text = try await person.pasted() else { return nil }
            switch rules.pasted(text) {
            case .elsewhere, .wrong, .script: continue
            case .tooMany: throw .failed(.wrongAnswers)
            case .answer(let answer): return answer
            }
        }
        throw .failed(.cancelled)
    }
}
