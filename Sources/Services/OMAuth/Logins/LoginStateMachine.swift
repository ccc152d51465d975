// The decision of a login, online and offline, as one pure function. docs/reference/login.md has every cell of its table.
//
// It sees verdicts and never a password, a key or a receipt. So it can say what to do next, but it cannot grant a login.

internal import OMOnlineModel

/// The states S0 to S6 of a login, and the steps between them.
enum LoginStateMachine {
    /// The facts of a request. They do not change while the login runs.
    struct Rules: Hashable {
        let mode: ConnectivityMode
        /// As far as the policies of profile, server and administrator are known. The check itself reads the row again.
        let isOfflineAllowed: Bool
        /// `OfflineOnUntrustedServer`
        let isOfflineOnUntrusted: Bool
        /// `OfflineOnServerError`
        let isOfflineOnServerError: Bool
        /// Whether there is a provider to ask.
        let hasProvider: Bool
    }

    enum State: Hashable {
        case start
        /// The server is asked. Nothing was checked offline yet.
        case asking
        /// The server accepted the password. A credential is stored, and opened as a test.
        case accepting
        /// The server refused. The data that this clears is being deleted.
        case refusing(OnlineRefusal)
        /// The cached credential is checked. `online` is why no server decided. Nil if none was asked.
        case checking(online: OnlineRefusal?)
        /// The limit was exceeded. The same password is tried online.
        case askingAfterWipe(isFinished: Bool)
        /// The server refused that password too.
        case refusingAfterWipe(OnlineRefusal, isFinished: Bool)
        case ended
    }

    enum Event: Hashable {
        case begun
        /// The server's answer. Nil if it accepted the password.
        case answered(OnlineRefusal?)
        /// The effects of the answer are written.
        case settled
        /// The slot opened.
        case opened
        /// The attempt was charged, and the slot did not open.
        case wrong(AuthError)
        /// The password was not checked.
        case refused(AuthError)
    }

    enum Effect: Hashable {
        case ask
        case check
        /// Store the credential that the server's yes allows, and test it.
        case accept
        /// Delete the data that the server's no clears.
        case settle(OnlineRefusal)
        case grantOnline
        case grantOffline
        case refuse(AuthError)
    }

    /// The next state and its effect. An event that does not belong to the state grants nothing.
    static func next(_ state: State, _ event: Event, _ rules: Rules) -> (State, Effect) {
        switch (state, event) {
        case (.start, .begun): begin(rules)
        case (.asking, .answered(nil)): (.accepting, .accept)
        case (.asking, .answered(let refusal?)): answered(refusal, rules)
        case (.accepting, .settled): (.ended, .grantOnline)
        case (.refusing(let refusal), .settled): (.ended, .refuse(.online(refusal)))
        case (.checking, .opened): (.ended, .grantOffline)
        // An attempt that locks is a verdict on the password, like an attempt that wipes.
        case (.checking, .wrong(.lockedOut)): (.ended, .refuse(.lockedOut))
        case (.checking(let online), .wrong(let error)), (.checking(let online), .refused(let error)):
            checked(error, online, rules)
        case (.askingAfterWipe, .answered(nil)): (.accepting, .accept)
        case (.askingAfterWipe(let isFinished), .answered(let refusal?)):
            (.refusingAfterWipe(refusal, isFinished: isFinished), .settle(refusal))
        case (.refusingAfterWipe(let refusal, let isFinished), .settled):
            (.ended, .refuse(.attemptsExceeded(isFinished: isFinished, online: refusal)))
        default: (.ended, .refuse(.cancelled))
        }
    }

    /// S1: chooses online or offline.
    private static func begin(_ rules: Rules) -> (State, Effect) {
        switch rules.mode {
        case .online: rules.hasProvider ? (.asking, .ask) : (.ended, .refuse(.noServer))
        case .auto where rules.hasProvider: (.asking, .ask)
        case .auto, .offline: offline(nil, rules)
        }
    }

    /// S2, or why there is no offline check.
    private static func offline(_ online: OnlineRefusal?, _ rules: Rules) -> (State, Effect) {
        guard rules.isOfflineAllowed else {
            return (.ended, .refuse(online.map { .online($0) } ?? .offlineNotAllowed))
        }
        return (.checking(online: online), .check)
    }

    /// S3 and S5. Only if the server was not reached, or as the profile allows, the cached credential is checked.
    private static func answered(_ refusal: OnlineRefusal, _ rules: Rules) -> (State, Effect) {
        switch refusal {
        case .unreachable where rules.mode == .auto: offline(refusal, rules)
        case .untrusted where rules.mode == .auto && rules.isOfflineOnUntrusted: offline(refusal, rules)
        // Only if the profile says so: a 500 can mean that the server's directory is down and the server cannot decide.
        case .failed(.serverError, status: 500, _) where rules.mode == .auto && rules.isOfflineOnServerError,
            .failed(.oauthServerError, status: 500, _) where rules.mode == .auto && rules.isOfflineOnServerError:
            offline(refusal, rules)
        case .unreachable, .untrusted, .rejected, .forbidden, .blocked, .failed: (.refusing(refusal), .settle(refusal))
        }
    }

    /// The verdicts of S2.
    private static func checked(_ error: AuthError, _ online: OnlineRefusal?, _ rules: Rules) -> (State, Effect) {
        switch error {
        case .attemptsExceeded(let isFinished, _):
            // The server was asked with this password a moment ago. Asking again would only wait for a second time-out.
            if let online { return (.ended, .refuse(.attemptsExceeded(isFinished: isFinished, online: online))) }
            guard rules.hasProvider else { return (.ended, .refuse(error)) }
            return (.askingAfterWipe(isFinished: isFinished), .ask)
        case .offlineNotAllowed: return (.ended, .refuse(online.map { .online($0) } ?? error))
        // A wrong password is a verdict, and a cancelled login is over. Neither needs the server's answer.
        case .wrongPassword, .cancelled: return (.ended, .refuse(error))
        // Attack: an offline error alone hides that the server may have received the password, and the user sends it
        // again. So both errors are reported.
        default: return (.ended, .refuse(online.map { .neither(online: $0, offline: error) } ?? error))
        }
    }
}
