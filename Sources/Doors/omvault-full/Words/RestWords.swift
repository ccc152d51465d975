// Messages for requests to web services.

internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

extension Failure {
    /// The status of an answer, as an error. Nil for 1xx to 3xx.
    ///
    /// - Parameter isOfSession: Whether the agent sent the token of a session.
    init?(_ response: RESTResponse, ofSession isOfSession: Bool) {
        let status = response.status
        guard status >= 400 else { return nil }
        let exit: ExitStatus =
            switch status {
            case 401, 403: .remoteAuth
            case 404, 410: .notFound
            case 409, 412: .conflict
            case 429, 500...: .remoteError
            default: .general
            }
        let scope = response.insufficientScope
        let wait = response.retryAfter
        var hints = [wait.map { "try again in \($0) s" }].compactMap(\.self)
        if let scope {
            let wanted = scope.isEmpty ? "another scope" : "the scopes \(scope)"
            self.init(
                exit, "the server wants a token with \(wanted)",
                hints: [
                    isOfSession
                        ? "add them to OAuthScope of the profile, then log in again"
                        : "no token of a session was sent; --profile sends one"
                ],
                details: ["status": .number(status), "scope": .text(scope)])
            return
        }
        if hints.isEmpty { hints = ["the answer of the server says more; --any-status makes this no error"] }
        let words = "the server answered with the status \(status)"
        if let wait {
            self.init(exit, words, hints: hints, details: ["status": .number(status), "retry_after": .number(Int(wait))])
        } else {
            self.init(exit, words, hints: hints, details: ["status": .number(status)])
        }
    }

    /// - Parameter sender: The session that the request was sent for, and its profile. Nil without one.
    init(_ error: RESTError, of sender: (session: AgentSession, profile: Profile)?, address: ServerURL) {
        let session = sender?.session
        let name = session?.login.key.profile.text.asShellWord ?? "NAME"
        switch error {
        case .unusable:
            self.init(.usage, "the request cannot be sent", hint: "omvault help rest shows what can be")
        case .agent(let error): self.init(error)
        case .noSession:
            self.init(
                .notFound, "there is no valid session any more",
                hint: "omvault login \(session?.login.key.user.text.asShellWord ?? "USER") --profile \(name)")
        case .foreignOrigin:
            self.init(
                .policy, "RESTOrigins of the profile does not name \(address.shortOrigin), so the token was not sent there",
                hint: "omvault profile set \(name) RESTOrigins=\(address.shortOrigin)   (the setting counts from the next login)",
                "leave out --profile to send the request without a token")
        case .token(let refusal):
            guard let sender else {
                self.init(.remoteAuth, "there is no access token", hint: "omvault login")
                return
            }
            self.init(refusal, of: sender.session, under: sender.profile)
        case .failed(let refusal): self.init(ofRequest: refusal)
        case .gateTokenNeeded, .gate:
            self.init(
                oracle: "a gate of an Oracle server wants a token of its own, which this command cannot get",
                hint: "an application can get it with a WebGateTokenSource: docs/reference/library.md")
        case .tooManyRedirects:
            self.init(
                .remoteError, "the server redirects the request more often than --follow allows", hint: "give a higher --follow")
        case .unsafeRedirect:
            self.init(
                .remoteError, "the server redirects the request to an address without encryption, or to none",
                hint: "without --follow the answer shows the address")
        case .bodySpent:
            self.init(
                .remoteError, "the body would have to be sent again, and it goes only to one server, once",
                hint: "send the request to the last address; a body from file:PATH can be sent again to the same server")
        case .body(let code): self.init(.io, "cannot read the body of the request", errno: code)
        case .cancelled: self.init(aborted: "the request was cancelled")
        }
        self = with(sdkCode: error.sdkCode)
    }

    private init(ofRequest refusal: OnlineRefusal) {
        switch refusal {
        case .unreachable(let cause):
            self.init(
                .network, "the server was not reached: \(cause.words)",
                hint: (cause == .nameNotFound ? NameServices.hint : nil) ?? "check the address, and the network")
        case .untrusted(let cause):
            self.init(
                .remoteError, "the server did not prove who it is: \(cause.words)",
                hint: "with --profile, TrustedCA of the profile names the authorities to trust; without one --trusted-ca does")
        case .failed(.answerTooLarge, _, _):
            self.init(
                .remoteError, "the headers of the answer are too long, or more than \(RequestHead.mostHeaders)",
                hint: "ask the administrator of the server")
        case .failed(.brokenAnswer, _, _):
            self.init(
                .remoteError, "the answer is broken", hint: "try again; if it stays so, ask the administrator of the server")
        case .failed(.unsafeAddress, _, _):
            self.init(.usage, "the address is ambiguous, so nothing was sent", hint: "escape its special characters with %")
        case .failed(.unusableTrust, _, _):
            self.init(
                .config, "TrustedCA holds no certificate", hint: "TrustedCA must be a PEM file of the authorities to trust")
        case .failed(.oldTLS, _, _):
            self.init(
                .remoteError, "the server does not speak TLS 1.3, so the client certificate was not shown",
                hint: "a profile with ClientCertificateTLS12=true shows it in TLS 1.2 too")
        case .failed(let failure, _, _) where failure.isOfCertificate:
            self = Failure(refusal)
        default:
            self.init(.agent, "the process that sends the request failed or ended", hint: "try again")
        }
    }
}

extension OnlineFailure {
    /// Whether it is about the client's certificate, or about the key of it.
    fileprivate var isOfCertificate: Bool {
        [.certificateRefused, .unusableCertificate, .unusableClientKey, .lockedClientKey, .noKeyAlgorithm].contains(self)
    }
}
