// Messages for logins that are refused.

internal import OMAuth
internal import OMOnlineModel
internal import OMShell
internal import OMStorage
internal import OMSystem

extension Failure {
    init(_ error: AuthError) { self.init(error, of: nil) }

    private init(_ error: AuthError, of profile: Profile?) {
        self = Failure(withoutSDKCode: error, profile).with(sdkCode: error.sdkCode)
    }

    /// This hint helps only if a credential is cached. ``LoginAccess/denied(_:_:_:)`` leaves it out otherwise.
    static let offlineHint = "--mode offline uses the cached credential"
    /// The next step if no login under this profile is possible.
    static let profileHint = "omvault profile set NAME changes the profile; omvault profile show NAME prints it"

    /// A login that was refused under a profile.
    ///
    /// - Parameter policy: The policy in force, if it is known. A server may have decided a part of it.
    init(_ error: AuthError, under profile: Profile?, policy: @autoclosure () -> LoginPolicy? = nil) {
        var failure = Failure(error, of: profile)
        if error == .offlineNotAllowed, let profile {
            failure = Failure(offlineForbiddenBy: policy() ?? LoginPolicy(profile), profile.name)
        }
        self = failure.with(sdkCode: profile.flatMap { error.sdkCode(under: $0) })
    }

    /// Names the source that forbids offline logins. The hint to change the profile helps only if the profile decided.
    private init(offlineForbiddenBy policy: LoginPolicy, _ profile: ProfileName) {
        switch policy.sources[.offlineAuthAllowed] {
        case .server:
            self.init(
                .policy, "the server's policy does not allow offline logins",
                hint: "log in online (--mode online): the server may have a new policy")
        case .ceiling:
            self.init(
                .policy, "the administrator of this machine does not allow offline logins",
                hint: "if the profile has a server, log in online: --mode online")
        case .profile, .standard, nil:
            self.init(
                .policy, "the profile does not allow offline logins",
                hint: "omvault profile set \(profile.text) OfflineAuthAllowed=true")
        }
    }

    /// How the user gets a new cached credential.
    private enum Renewal {
        case unknown, online, enrolment, impossible

        /// The way that the profile allows. Under a profile with a server, a user cannot enroll.
        init(_ profile: Profile?) {
            self =
                switch profile?.serverKind {
                case nil: .unknown
                case .some(.none): .enrolment
                case .basic, .oauthResourceOwner, .oamms: .online
                case .oauthClientCredentials, .oauthBrowser, .oauthAssertion, .oauthTokenExchange, .certificate, .unsupported:
                    .impossible
                }
        }

        func hints(
            online: String = "a login online caches a new one",
            enrolment: String = "omvault login rm USER, then omvault login enroll USER"
        ) -> [String] {
            switch self {
            case .unknown: ["\(online); where there is no server, \(enrolment)"]
            case .online: [online]
            case .enrolment: [enrolment]
            case .impossible: ["docs/reference/profiles.md lists the servers that this version can log in to"]
            }
        }

        func hints(afterWipe isFinished: Bool) -> [String] {
            guard isFinished else {
                return [
                    "another process still reads an old state of the ledger; the next login command erases the remaining bytes"
                ]
            }
            return hints(
                online: "the next login online caches a new one", enrolment: "omvault login enroll USER caches a new one")
        }
    }

    /// - Parameter left: How many more wrong passwords are allowed.
    private static func tolerated(_ left: Int) -> String {
        switch left {
        case 0: "no wrong password is tolerated any more; the next one "
        case 1: "1 more wrong password is tolerated; the next one after it "
        default: "\(left) more wrong passwords are tolerated; the next one after them "
        }
    }

    private init(withoutSDKCode error: AuthError, _ profile: Profile?) {
        let renewal = Renewal(profile)
        switch error {
        case .invalidUserName:
            self.init(
                .usage, "the user name is not valid", hint: "a user name has 1 to 255 bytes of UTF-8 and no control characters")
        case .invalidDomain:
            self.init(
                .usage, "the identity domain is not valid",
                hint: "an identity domain has up to 255 bytes of UTF-8 and no control characters")
        case .policyMissing(let policyProblem):
            let status: ExitStatus =
                if case .notFetched(let refusal) = policyProblem { Failure(refusal).status } else { .remoteError }
            self.init(status, "the server's policy \(policyProblem.words), and no earlier one is known", hint: policyProblem.hint)
        case .overtaken:
            self.init(
                .busy, "another login changed the cached credential while the server was asked; nothing was stored",
                hint: "log in again")
        case .noServer:
            self.init(.config, "the profile has no server that can be asked", hint: Self.offlineHint)
        case .cancelled: self.init(aborted: "the login was cancelled")
        case .delayed(let seconds):
            self.init(
                .delayed, "too early after a wrong password; nothing was checked or counted",
                hint: "try again in \(seconds) s", details: ["retry_after": .number(Int(seconds))])
        case .clockRolledBack:
            self.init(
                .policy, "the clock was set back: it is behind the time of an earlier login, and the profile does not allow that",
                hints: renewal.hints(online: "set the clock; or log in online", enrolment: "set the clock"))
        case .online(let refusal): self.init(refusal, under: profile)
        case .neither(let online, let offline):
            let (failed, cause) = (Failure(online, under: profile), Failure(offline, of: profile))
            // The state of the cached credential says more than an unreachable server, unless no credential is cached.
            let status = cause.status == .noOffline ? failed.status : cause.status
            self.init(
                status, "\(failed.message); and offline: \(cause.message)", hints: failed.hints + cause.hints,
                details: cause.details)
        case .invalidProfileName:
            self.init(
                .usage, "the profile name is not valid",
                hint: "a profile name has 1 to 64 letters, digits, dots, underscores and dashes, and does not start with a dot")
        case .unknownProfile(let name):
            self.init(
                .config, "there is no profile \"\(name.text)\"",
                hint: "omvault profile ls lists the profiles; omvault profile set \(name.text) OfflineAuthAllowed=true makes one")
        case .profile(let problem): self.init(problem)
        case .offlineNotAllowed:
            self.init(
                .policy, "the profile does not allow offline logins",
                hint: "omvault profile set NAME OfflineAuthAllowed=true")
        case .wrongPassword(let left, let consequence):
            self.init(
                .badSecret,
                "wrong password; " + Self.tolerated(left) + consequence.words,
                hint: "omvault login status shows the state of every login",
                details: ["attempts_left": .number(left), "on_exceeded": .text(consequence.rawValue)])
        case .tooManyAttempts(let last):
            let failure = Failure(last)
            self.init(
                failure.status, "\(failure.message); this command does not ask again",
                hint: "find the right password, then log in again", details: failure.details)
        case .attemptsExceeded(let isFinished, _):
            self.init(
                .wiped, "too many wrong passwords: the cached credential was wiped",
                hints: renewal.hints(afterWipe: isFinished), details: ["attempts_left": .number(0)])
        case .wiped(let isFinished):
            self.init(
                .wiped, "the cached credential was wiped after too many wrong passwords",
                hints: renewal.hints(afterWipe: isFinished), details: ["attempts_left": .number(0)])
        case .lockedOut:
            self.init(
                .lockedOut, "the login is locked after too many wrong passwords; the cached credential was not wiped",
                hints: renewal.hints() + ["for a login of the system store, as root: omvault login unlock USER --system"],
                details: ["attempts_left": .number(0)])
        case .noCredential:
            self.init(
                .noOffline, "no credential is cached for this user and profile",
                hints: renewal.hints(
                    online: "a login online caches one", enrolment: "omvault login enroll USER --profile NAME caches one"))
        case .expired(let since):
            self.init(
                .noOffline, "the cached credential expired at \(Timestamp.text(since)); it was not deleted",
                hints: renewal.hints(
                    online: "log in online; or set a longer OfflineCredentialMaxAge in the profile",
                    enrolment: "set a longer OfflineCredentialMaxAge in the profile; or omvault login rm USER, then "
                        + "omvault login enroll USER"))
        case .oldPasswordRequired:
            self.init(
                .exists, "a credential is already cached for this user and profile",
                hint: "--old-password-from replaces it; omvault login rm removes it")
        case .quarantined:
            self.init(
                .corrupt, "the cached credential is damaged or was changed; it was not used",
                hints: renewal.hints())
        case .deviceKeyMissing:
            self.init(
                .corrupt, "the cached credential needs this device's key, and the key is missing",
                hints: ["restore device.key; or omvault login rm USER, then move the folder omvault-device away"]
                    + renewal.hints())
        case .deviceKeyDamaged: self.init(StorageError.deviceKeyDamaged)
        case .otherDeviceKey:
            self.init(
                .corrupt, "the cached credential was made with another device key",
                hints: ["restore the folder omvault-device"] + renewal.hints())
        case .rolledBack:
            self.init(
                .rollback, "the cached credential is older than the last state seen on this device; it was not checked",
                hints: ["an older copy of the ledger was put back"] + renewal.hints())
        case .selfTestFailed:
            self.init(.general, "the new credential failed its test and was removed", hint: "try again")
        case .rootRequired:
            self.init(.permission, "only root may use the system store", hint: "run it as root, or without --system")
        case .busy:
            self.init(
                .busy, "another process used this login for the whole wait", hint: "try again")
        case .outOfMemory:
            self.init(
                .general, "there is not enough free memory to stretch the password; nothing was counted",
                hint: "close other programs, then try again")
        case .schemeUnavailable:
            self.init(
                .unsupported, "this machine's OpenSSL does not offer the hash function of the CryptoScheme",
                hint: "choose another CryptoScheme: omvault profile set NAME CryptoScheme=SaltedSHA-512")
        case .storage(let error): self.init(error)
        }
    }

    /// - Parameter profile: The profile of the login, if it is known. The hints name its keys.
    init(_ refusal: OnlineRefusal, under profile: Profile? = nil) {
        self = Failure(withoutSDKCode: refusal, profile).with(sdkCode: refusal.sdkCode)
    }

    private init(withoutSDKCode refusal: OnlineRefusal, _ profile: Profile?) {
        let hints = refusal.hints(profile)
        switch refusal {
        case .rejected:
            self.init(
                .badSecret, "the server refused the user name or the password",
                hint: "check both; a forgotten password is set again at the server")
        case .forbidden:
            self.init(.remoteAuth, "the server does not let this user in", hint: "ask the administrator of the server")
        case .blocked:
            self.init(
                .lockedOut, "the server says that the account is blocked or disabled",
                hint: "ask the administrator of the server to unblock the account")
        case .untrusted(let cause):
            self.init(
                .remoteError, "the server could not prove its identity, so nothing was sent to it: \(cause.words)",
                hints: hints)
        case .unreachable(.noHelper):
            self.init(
                .agent, "the server was not reached: \(UnreachableCause.noHelper.words)",
                hints: hints)
        case .unreachable(let cause): self.init(.network, "the server was not reached: \(cause.words)", hints: hints)
        case .failed(.cancelled, _, _): self.init(aborted: "the login was cancelled")
        case .failed(let failure, _, _) where Self.wholeSentences.contains(failure):
            self.init(failure.status, failure.words(profile), hints: hints)
        case .failed(let failure, let status, let retryAfter):
            let said = status.map { " (status \($0))" } ?? ""
            let isNo = failure == .assertionRefused || failure == .invalidTarget
            let verdict = isNo ? "the server says no" : "the server gave no usable answer"
            self.init(
                failure.status, "\(failure.isOurs ? "the server was not asked" : verdict): \(failure.words(profile))\(said)",
                hints: hints,
                details: retryAfter.map { ["retry_after": .number(Int($0))] } ?? [:])
        }
    }

    /// The failures whose words need no more: they are of the person or of this machine, and not of the server.
    private static let wholeSentences: [OnlineFailure] = [
        .notFinished, .codeExpired, .redirectPortTaken, .unkeptTokens, .insecureGrant,
    ]
}

extension DamagedFile {
    /// The notice about a ledger that was renamed as damaged.
    var words: String {
        let gone = removed.isEmpty ? "" : "; older damaged ledgers were deleted: \(removed.map(\.shown).joined(separator: ", "))"
        return "the ledger could not be read, so it was renamed to \(path.shown); its other logins are refused until each one "
            + "logs in online or is removed\(gone); \(Self.warning)"
    }

    /// The warning about any damaged ledger.
    static let warning = "it may hold credentials and remembered passwords: delete it when you no longer need it"
}

extension OnAttemptsExceeded {
    /// The consequence, as the verb after "the next one".
    var words: String {
        switch self {
        case .wipe: "wipes the cached credential"
        case .lockout: "locks the login"
        }
    }
}
