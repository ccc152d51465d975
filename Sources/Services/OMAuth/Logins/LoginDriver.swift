// The driver of the login's state machine: one thread, and no lock while the network is used.

internal import OMOnlineModel
public import OMSecrets

extension Authenticator {
    /// Logs in, online or offline. The request's mode and the policy decide which.
    ///
    /// - Parameters:
    ///   - provider: The provider that is asked online. Nil if there is none.
    ///   - prompter: Answers the server's other questions beside the password.
    ///   - cancellation: Ends the login until an attempt is charged or a server has decided.
    /// - Throws: ``AuthError``: what the server or the cached credential refused.
    public func login(
        _ request: LoginRequest, password: borrowing Password, asking provider: (any Provider)?,
        prompter: (any LoginPrompter)? = nil, cancellation: Cancellation = Cancellation()
    ) throws(AuthError) -> LoginReceipt {
        try keepingLedger().drive(
            request, password, asking: provider,
            prompter: CancellablePrompter(prompter ?? NoPrompter(), cancellation), cancellation)
    }

    private func drive(
        _ request: LoginRequest, _ password: borrowing Password, asking provider: (any Provider)?,
        prompter: any LoginPrompter, _ cancellation: Cancellation
    ) throws(AuthError) -> LoginReceipt {
        let authenticator = cancelled(cancellation)
        let rules = LoginStateMachine.Rules(
            mode: request.mode, isOfflineAllowed: isOfflineAllowed(request),
            isOfflineOnUntrusted: request.profile.offlineOnUntrustedServer,
            isOfflineOnServerError: request.profile.offlineOnServerError, hasProvider: provider != nil)
        var accepted: AcceptedAnswer?
        var receipt: LoginReceipt?
        var verified: VerifiedLogin?
        var online: OnlineRefusal?
        var found = VerifierSnapshot(nil)
        var (state, effect) = LoginStateMachine.next(.start, .begun, rules)
        while true {
            let event: LoginStateMachine.Event
            switch effect {
            case .ask:
                if cancellation.isCancelled {
                    guard state.isDecisionKnown else { throw .cancelled }
                    online = .failed(.cancelled)
                    event = .answered(online)
                    break
                }
                guard let provider else { throw .noServer }
                found = verifierSnapshot(request)
                prompter.progress(.asking)
                let sent = clock()
                let answer = provider.authenticate(
                    request.question, password: password, asking: prompter, cancellation: cancellation)
                online = answer.refusal
                // Once the server has answered, finish even if the caller cancelled: a yes opened a session, a no must
                // clear the cache.
                if let online, !online.isDecision, !state.isDecisionKnown { try cancellation.check() }
                accepted = AcceptedAnswer(answer, sent: sent)
                event = .answered(online)
            case .check:
                try cancellation.check()
                prompter.progress(.stretching)
                do throws(AuthError) {
                    let verdict = try authenticator.attempt(on: request.login, under: request.profile, password)
                    switch consume verdict {
                    case .right(let login):
                        verified = consume login
                        event = .opened
                    case .wrong(let error): event = .wrong(error)
                    }
                } catch { event = .refused(error) }
            case .settle(let refusal):
                settle(refusal, request, password)
                event = .settled
            case .accept:
                // Only a server's yes can be accepted.
                guard let yes = accepted.take() else { throw .cancelled }
                prompter.progress(.storing)
                receipt = accept(yes, request, password, found: found)
                event = .settled
            case .grantOnline:
                guard let receipt else { throw .cancelled }
                return receipt
            case .grantOffline:
                guard let verified else { throw .cancelled }
                return LoginReceipt(offline: verified, request, online, clock())
            case .refuse(let error): throw error
            }
            (state, effect) = LoginStateMachine.next(state, event, rules)
        }
    }

    /// The policy as far as it is known before the check. If the row cannot be read, the check says why.
    private func isOfflineAllowed(_ request: LoginRequest) -> Bool {
        let policy = try? policy(of: request.user, request.profile, domain: request.domain)
        return (policy ?? LoginPolicy(request.profile)).isOfflineAllowed
    }
}

extension LoginStateMachine.State {
    /// Whether the limit was exceeded. Then a cancelled login must still report that, because a session may have to end.
    fileprivate var isDecisionKnown: Bool {
        if case .askingAfterWipe = self { true } else { false }
    }
}
