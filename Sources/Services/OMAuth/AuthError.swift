// The refusals of a login, one case for each decision. So the door has one sentence and one exit code for each.

public import OMOnlineModel
public import OMSystem

/// Why a login or a change of one failed. No case carries a password or anything derived from one.
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
    /// The profile is not valid.
    case profile(ProfileProblem)
    /// The profile, the server or the administrator does not allow offline logins.
    case offlineNotAllowed
    /// The profile names a `ProfileURL`, but no policy ever came from there. Without the server's policy nothing is cached.
    case policyMissing(PolicyProblem)
    /// The server accepted the password. But another login got a newer answer meanwhile, so nothing is cached.
    case overtaken
    /// An online login was requested, but the profile names no server that can be asked.
    case noServer
    /// The caller cancelled the login, or the person who was asked declined.
    case cancelled

    // Verdicts

    /// The password is wrong. `attemptsLeft` more wrong ones are tolerated. The next one after them has `consequence`.
    case wrongPassword(attemptsLeft: Int, consequence: OnAttemptsExceeded)
    /// A person gave as many wrong answers as one login takes. `last` is the refusal of the last one.
    case tooManyAttempts(last: AuthError)
    /// This wrong password exceeded the limit, and the cached credential was deleted. Until `isFinished`, another
    /// process reads an old state and keeps the credential's bytes in the ledger's write-ahead log. `online` is why the
    /// server did not accept the password either, if it was asked.
    case attemptsExceeded(isFinished: Bool, online: OnlineRefusal? = nil)
    /// The cached credential was deleted earlier. An enrolment or an online success makes a new one.
    case wiped(isFinished: Bool)
    /// Too many attempts failed, or crashes ended too many. Nothing is deleted. An administrator is needed.
    case lockedOut
    /// No credential is cached for this user and profile.
    case noCredential
    /// The cached credential is older than the profile's `OfflineCredentialMaxAge` allows. It expired at `since`, in
    /// seconds since 1970.
    case expired(since: Int64)
    /// A wrong password was typed a moment ago. The next attempt is allowed after this many seconds. Nothing was charged.
    case delayed(seconds: Int64)
    /// The wall clock is behind the time that this login has seen, and the profile does not tolerate that.
    case clockRolledBack
    /// There is a credential already. Its old password is needed to replace it.
    case oldPasswordRequired
    /// The server gave no login, or it was not reached. Nothing was checked offline.
    case online(OnlineRefusal)
    /// The server gave no login because of `online`, and no offline login could replace it because of `offline`.
    case neither(online: OnlineRefusal, offline: AuthError)

    // The stored data is not what this device wrote

    /// The row, its mark or the ledger is damaged or was changed. Nothing is used, charged or deleted.
    case quarantined
    /// There are credentials, but the device key that they need is missing.
    case deviceKeyMissing
    /// The device key's file does not hold a key.
    case deviceKeyDamaged
    /// The credential was made under another device key.
    case otherDeviceKey
    /// The row is older than this device has seen, or missing: an old copy was put back.
    case rolledBack
    /// The new credential did not open after it was stored, so it was removed.
    case selfTestFailed

    // The machine

    /// Only root may use the system store.
    case rootRequired
    /// Another process held the lock for the whole wait. Nothing was charged.
    case busy
    /// The machine has too little memory for the stretch. Nothing was charged.
    case outOfMemory
    /// This machine's OpenSSL does not offer the scheme's hash function.
    case schemeUnavailable
    /// A file could not be used. An attempt that was already charged stays charged.
    case storage(StorageError)

    /// The table of the errors: the name in machine-readable answers, and the SDK's number if it has one.
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

    /// The SDK's number for this error, if it has one.
    public var sdkCode: Int? { entry.sdkCode }

    /// The SDK's number for a login under `profile`. If the user is asked for the domain too, the domain may be the wrong part.
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

/// Runs a storage call and turns its error into an ``AuthError``.
func storing<R: ~Copyable>(_ body: () throws(StorageError) -> R) throws(AuthError) -> R {
    do throws(StorageError) { return try body() } catch { throw AuthError(storage: error) }
}
