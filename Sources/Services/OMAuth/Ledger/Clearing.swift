// What ends with what: the wipe matrix of docs/login.md, as one function.

internal import OMOnlineModel

/// What is left of a login after an event.
public struct Clearing: Hashable, Sendable {
    /// The row's slot.
    public let keepsVerifier: Bool
    public let keepsPassword: Bool
    public let keepsUserName: Bool
    public let preferences: Preferences
    public let session: Session

    public enum Preferences: String, Hashable, Sendable {
        case kept, autoLoginOff, deleted
    }

    /// The context: cookies and tokens, kept by whoever keeps the session.
    public enum Session: String, Hashable, Sendable {
        case kept
        /// Kept, and good for nothing before the next login.
        case invalid
        case deleted
        /// Deleted, and a registration with the server too.
        case deletedWithRegistration
    }

    public init(after event: ClearingEvent) {
        switch event {
        case .limitExceeded, .rejectedCached, .blocked:
            self.init(verifier: false, password: false, user: true, preferences: .autoLoginOff, session: .deleted)
        case .rejectedOther, .forbidden:
            self.init(verifier: true, password: false, user: true, preferences: .autoLoginOff, session: .deleted)
        case .wrongOffline:
            self.init(verifier: true, password: false, user: true, preferences: .autoLoginOff, session: .kept)
        case .otherFailure: self.init(verifier: true, password: true, user: true, preferences: .kept, session: .kept)
        case .idleTimeOut: self.init(verifier: true, password: true, user: true, preferences: .kept, session: .invalid)
        // Without a password there is no auto login, whatever is preferred.
        case .sessionTimeOut: self.init(verifier: true, password: false, user: true, preferences: .kept, session: .deleted)
        case .logout: self.init(verifier: true, password: false, user: true, preferences: .kept, session: .deleted)
        case .logoutClear:
            self.init(verifier: false, password: false, user: false, preferences: .deleted, session: .deletedWithRegistration)
        }
    }

    /// A row of the matrix: what is kept, and what becomes of the rest.
    private init(verifier: Bool, password: Bool, user: Bool, preferences: Preferences, session: Session) {
        (keepsVerifier, keepsPassword, keepsUserName) = (verifier, password, user)
        (self.preferences, self.session) = (preferences, session)
    }
}

extension AuthError {
    /// What took place that the matrix names, for whoever keeps the session; nil: nothing of it. A refused login has carried
    /// out the rest.
    public var clearing: ClearingEvent? {
        switch self {
        // Found wiped or locked, too: whoever exceeded it may have been killed before the session was told.
        case .attemptsExceeded, .wiped, .lockedOut: .limitExceeded
        case .neither(_, let offline): offline.clearing
        case .tooManyAttempts(let last): last.clearing
        case .wrongPassword: .wrongOffline
        case .online(.rejected): .rejectedOther
        case .online(.forbidden): .forbidden
        case .online(.blocked): .blocked
        default: nil
        }
    }
}
