// The decision of a login, online, offline and in between: one pure function. docs/login.md holds it cell by cell.
//
// It sees verdicts and never a password, a key or a receipt, so it can say what is to be done and cannot grant anything.

internal import OMOnlineModel

/// The states S0 to S6 of a login, and what leads from one to the next.
enum LoginStateMachine {
    /// What a request brings along; it does not change while the login runs.
    struct Rules: Hashable {
        let mode: ConnectivityMode
        /// As far as profile, server and administrator are known to say. The check itself asks the row again.
        let isOfflineAllowed: Bool
        /// `OfflineOnUntrustedServer`
        let isOfflineOnUntrusted: Bool
        /// `OfflineOnServerError`
        let isOfflineOnServerError: Bool
        /// There is somebody who can be asked.
        let hasProvider: Bool
    }

    enum State: Hashable {
        case start
        /// The server is asked; nothing has been looked at offline.
        case asking
        /// The server took the password: a credential is stored, and opened for a test.
        case accepting
        /// The server refused: what that takes away is being taken away.
        case refusing(OnlineRefusal)
        /// The cached credential is tried; `online` is why no server could be asked.
        case checking(online: OnlineRefusal?)
        /// The limit was exceeded; the same password is tried online.
        case askingAfterWipe(isFinished: Bool)
        /// The server refused that too.
        case refusingAfterWipe(OnlineRefusal, isFinished: Bool)
        case ended
    }

    enum Event: Hashable {
        case begun
        /// The server's answer; nil: it took the password.
        case answered(OnlineRefusal?)
        /// What an answer is worth is written down.
        case settled
        /// The slot opened.
        case opened
        /// It was charged, and did not open.
        case wrong(AuthError)
        /// It was not tried.
        case refused(AuthError)
    }

    enum Effect: Hashable {
        case ask
        case check
        /// Store what the server's yes is worth, and test it.
        case accept
        /// Take away what the server's no takes away.
        case settle(OnlineRefusal)
        case grantOnline
        case grantOffline
        case refuse(AuthError)
    }

    /// The next state and what is to be done there. An event that does not belong to the state grants nothing.
    static func next(_ state: State, _ event: Event, _ rules: Rules) -> (State, Effect) {
        switch (state, event) {
        case (.start, .begun): begin(rules)
        case (.asking, .answered(nil)): (.accepting, .accept)
        case (.asking, .answered(let refusal?)): answered(refusal, rules)
        case (.accepting, .settled): (.ended, .grantOnline)
        case (.refusing(let refusal), .settled): (.ended, .refuse(.online(refusal)))
        case (.checking, .opened): (.ended, .grantOffline)
        // The attempt that locks is a verdict on the password, as the one that wipes is.
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

    /// S1: which way.
    private static func begin(_ rules: Rules) -> (State, Effect) {
        switch rules.mode {
        case .online: rules.hasProvider ? (.asking, .ask) : (.ended, .refuse(.noServer))
        case .auto where rules.hasProvider: (.asking, .ask)
        case .auto, .offline: offline(nil, rules)
        }
    }

    /// S2, or why not.
    private static func offline(_ online: OnlineRefusal?, _ rules: Rules) -> (State, Effect) {
        guard rules.isOfflineAllowed else {
            return (.ended, .refuse(online.map { .online($0) } ?? .offlineNotAllowed))
        }
        return (.checking(online: online), .check)
    }

    /// S3 and S5. Only a server that was not reached makes room for the cached credential; no other answer does.
    private static func answered(_ refusal: OnlineRefusal, _ rules: Rules) -> (State, Effect) {
        switch refusal {
        case .unreachable where rules.mode == .auto: offline(refusal, rules)
        case .untrusted where rules.mode == .auto && rules.isOfflineOnUntrusted: offline(refusal, rules)
        // The profile's own word: behind a 500 stands a directory that is down, and maybe a server that judges no longer.
        case .failed(.serverError, status: 500, _) where rules.mode == .auto && rules.isOfflineOnServerError,
            .failed(.oauthServerError, status: 500, _) where rules.mode == .auto && rules.isOfflineOnServerError:
            offline(refusal, rules)
        case .unreachable, .untrusted, .rejected, .forbidden, .blocked, .failed: (.refusing(refusal), .settle(refusal))
        }
    }

    /// S2's verdicts.
    private static func checked(_ error: AuthError, _ online: OnlineRefusal?, _ rules: Rules) -> (State, Effect) {
        switch error {
        case .attemptsExceeded(let isFinished, _):
            // The server was asked a moment ago with this very password: it is not made to wait for a second time-out.
            if let online { return (.ended, .refuse(.attemptsExceeded(isFinished: isFinished, online: online))) }
            guard rules.hasProvider else { return (.ended, .refuse(error)) }
            return (.askingAfterWipe(isFinished: isFinished), .ask)
        case .offlineNotAllowed: return (.ended, .refuse(online.map { .online($0) } ?? error))
        // A verdict on the password, and whoever gave up, need no word of the server.
        case .wrongPassword, .cancelled: return (.ended, .refuse(error))
        // Attack: what else went wrong here hides that a server has got the password, maybe, and is to get it again.
        default: return (.ended, .refuse(online.map { .neither(online: $0, offline: error) } ?? error))
        }
    }
}
