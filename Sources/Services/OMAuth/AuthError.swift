// What a login can refuse: one case a decision, so that the door has one sentence and one exit code for each.

public import OMOnlineModel
public import OMSystem

/// Why there is no login. No case carries a password, nor anything derived from one.
@nonexhaustive
public indirect enum AuthError: Error, Hashable, Sendable {
    // Names and policy

    /// A user name is 1 to 255 bytes of UTF-8 without control characters.
    case invalidUserName
    /// An identity domain is up to 255 bytes of UTF-8 without control characters.
    case invalidDomain
    /// A profile name is 1 to 64 of `A-Z a-z 0-9 . _ -` and does not start with a dot.
    case invalidProfileName
    /// There is no profile of this name.
    case unknownProfile(ProfileName)
    /// The profile says something that it must not.
    case profile(ProfileProblem)
    /// Profile, server or administrator do not allow offline logins.
    case offlineNotAllowed
    /// The profile names a `ProfileURL`, and no policy was ever had from there: nothing is cached without the server's word.
    case policyMissing(PolicyProblem)
    /// The server took the password, and what it said to another login meanwhile is newer: nothing is cached.
    case overtaken
    /// An online login was asked for, and the profile names no server that could be asked.
    case noServer
    /// Whoever was asked for the password declined.
    case cancelled

    // Verdicts

    /// The password is wrong. `attemptsLeft` more wrong ones are tolerated; the one after them has `consequence`.
    case wrongPassword(attemptsLeft: Int, consequence: OnAttemptsExceeded)
    /// As many answers of a person were wrong as one login takes; `last` says why the last of them was.
    case tooManyAttempts(last: AuthError)
    /// This wrong password exceeded the limit and the cached credential is gone. Until `isFinished`, another process
    /// that reads an old state keeps its bytes in the ledger's log. `online` says why the server did not accept it
    /// either, where there is one.
    case attemptsExceeded(isFinished: Bool, online: OnlineRefusal? = nil)
    /// The cached credential went earlier: an enrolment or an online success makes a new one.
    case wiped(isFinished: Bool)
    /// Too many attempts, or too many that a crash cut short. Nothing is destroyed; an administrator is needed.
    case lockedOut
    /// No credential is cached for this user and profile.
    case noCredential
    /// The cached credential is older than the profile's `OfflineCredentialMaxAge` since this time (seconds, 1970).
    case expired(since: Int64)
    /// A wrong password was typed a moment ago. Nothing is charged before so many seconds have passed.
    case delayed(seconds: Int64)
    /// The wall clock is behind what this login has seen, and the profile does not tolerate that.
    case clockRolledBack
    /// There is a credential already: it is replaced only after its old password.
    case oldPasswordRequired
    /// The server, or the way to it, gave no login; nothing was looked at offline.
    case online(OnlineRefusal)
    /// The server gave no login because of `online`, and no offline login could take its place because of `offline`.
    case neither(online: OnlineRefusal, offline: AuthError)

    // What was found is not what was written

    /// The row, its mark or the ledger is damaged or was changed. Nothing is used, charged or deleted.
    case quarantined
    /// Credentials are here, but the device key that they need is gone.
    case deviceKeyMissing
    /// The device key's file does not hold a key.
    case deviceKeyDamaged
    /// The credential was made under another device key.
    case otherDeviceKey
    /// The row is older than this device has seen, or gone: a copy was put back.
    case rolledBack
    /// What was just stored does not open, so it was taken back.
    case selfTestFailed

    // The machine

    /// The system store is root's.
    case rootRequired
    /// Another process held the lock for the whole wait. Nothing was charged.
    case busy
    /// The machine has not enough memory for the stretch. Nothing was charged.
    case outOfMemory
    /// This machine's OpenSSL does not offer the scheme's hash function.
    case schemeUnavailable
    /// A file could not be used. An attempt that was charged before stays charged.
    case storage(StorageError)

    /// The table of the errors: the name in machine-readable answers, and the SDK's number, where it has one.
    private var entry: (name: String, sdkCode: Int?) {
        switch self {
        case .wrongPassword: ("wrong_password", 10003)
        case .tooManyAttempts: ("too_many_attempts", 10418)
        case .attemptsExceeded: ("attempts_exceeded", 10418)
        case .wiped(let isFinished): (isFinished ? "wiped" : "wipe_pending", 10418)
        case .lockedOut: ("locked_out", 10418)
        case .delayed: ("delayed", 10418)
        case .noCredential: ("no_credential", 10408)
        case .expired: ("expired", 10408)
        case .oldPasswordRequired: ("old_password_required", 10408)
        case .offlineNotAllowed: ("offline_not_allowed", nil)
        case .policyMissing: ("policy_missing", 10015)
        case .overtaken: ("overtaken", nil)
        case .noServer: ("no_server", 10101)
        case .cancelled: ("cancelled", 10029)
        case .online(let refusal), .neither(let refusal, _): (refusal.name, refusal.sdkCode)
        case .invalidUserName: ("invalid_name", 10036)
        case .invalidDomain: ("invalid_name", 10037)
        case .invalidProfileName: ("invalid_name", 10100)
        case .unknownProfile: ("unknown_profile", nil)
        case .profile(let problem): ("invalid_profile", problem.sdkCode)
        case .quarantined: ("quarantined", nil)
        case .deviceKeyMissing: ("device_key_missing", nil)
        case .deviceKeyDamaged: ("device_key_damaged", nil)
        case .otherDeviceKey: ("other_device_key", nil)
        case .rolledBack: ("rolled_back", nil)
        case .clockRolledBack: ("clock_rolled_back", nil)
        case .selfTestFailed: ("self_test_failed", nil)
        case .rootRequired: ("root_required", nil)
        case .busy: ("busy", 10534)
        case .outOfMemory: ("out_of_memory", nil)
        case .schemeUnavailable: ("scheme_unavailable", 10506)
        case .storage: ("storage", nil)
        }
    }

    /// The name in machine-readable answers.
    package var name: String { entry.name }

    /// The SDK's number for this error, where it has one.
    public var sdkCode: Int? { entry.sdkCode }

    /// The same for a login under `profile`: where the user is asked for the domain too, a wrong one may be what is wrong.
    public func sdkCode(under profile: Profile) -> Int? {
        let code = sdkCode
        return code == 10003 && profile.collectIdentityDomain ? 10011 : code
    }
}

extension AuthError: StorageErrorConvertible {
    public init(storage error: StorageError) {
        switch error {
        case .busy: self = .busy
        case .corrupt: self = .quarantined
        case .deviceKeyDamaged: self = .deviceKeyDamaged
        case .deviceKeyMissing: self = .deviceKeyMissing
        default: self = .storage(error)
        }
    }
}

/// Runs a call of the ground floor and gives its error this room's name.
func storing<R: ~Copyable>(_ body: () throws(StorageError) -> R) throws(AuthError) -> R {
    do throws(StorageError) { return try body() } catch { throw AuthError(storage: error) }
}
