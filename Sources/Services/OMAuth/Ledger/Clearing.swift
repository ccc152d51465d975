// What each event deletes of a login: the wipe matrix of docs/reference/login.md, as one function.

internal import OMOnlineModel

/// What an event leaves of a login.
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

    /// The session: cookies and tokens. The caller keeps them, not this room.
    public enum Session: String, Hashable, Sendable {
        case kept
        /// Kept, but not valid before the next login.
        case invalid
        case deleted
        /// Deleted, together with a registration at the server.
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
        // Without a password there is no auto login, whatever the preference is.
        case .sessionTimeOut: self.init(verifier: true, password: false, user: true, preferences: .kept, session: .deleted)
        case .logout: self.init(verifier: true, password: false, user: true, preferences: .kept, session: .deleted)
        case .logoutClear:
            self.init(verifier: false, password: false, user: false, preferences: .deleted, session: .deletedWithRegistration)
        }
    }

    /// A row of the matrix: what is kept, and what happens to the rest.
    private init(verifier: Bool, password: Bool, user: Bool, preferences: Preferences, session: Session) {
        (keepsVerifier, keepsPassword, keepsUserName) = (verifier, password, user)
        (self.preferences, self.session) = (preferences, session)
    }
}

extension AuthError {
    /// The event of the matrix that this error reports, for a caller that keeps a session. Nil if it reports none. The
    /// refused login has already cleared what is stored here.
    public var clearing: ClearingEvent? {
        switch self {
        // Also if found wiped or locked: the process that exceeded the limit may have been killed before it reported that.
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
