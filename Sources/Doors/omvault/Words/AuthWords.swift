// What the user reads when a login is refused.

internal import OMAuth
internal import OMOnlineModel
internal import OMStorage
internal import OMSystem

extension Failure {
    init(_ error: AuthError) { self.init(error, of: nil) }

    private init(_ error: AuthError, of profile: Profile?) {
        self = Failure(withoutSDKCode: error, profile).with(sdkCode: error.sdkCode)
    }

    /// The one hint that helps only where something is cached: ``LoginAccess/denied(_:_:_:)`` looks.
    static let offlineHint = "--mode offline uses the cached credential"

    /// Of a login that was refused under a profile.
    ///
    /// - Parameter policy: What was in force, where that can be told: a server may have had a say in it.
    init(_ error: AuthError, under profile: Profile?, policy: @autoclosure () -> LoginPolicy? = nil) {
        var failure = Failure(error, of: profile)
        if error == .offlineNotAllowed, let profile {
            failure = Failure(offlineForbiddenBy: policy() ?? LoginPolicy(profile), profile.name)
        }
        self = failure.with(sdkCode: profile.flatMap { error.sdkCode(under: $0) })
    }

    /// Whose word it was: nobody is told to change a profile that was not it.
    private init(offlineForbiddenBy policy: LoginPolicy, _ profile: ProfileName) {
        switch policy.sources[.offlineAuthAllowed] {
        case .server:
            self.init(
                .policy, "the server's policy does not allow offline logins",
                hint: "log in online: the server may have another one by now")
        case .ceiling: self.init(.policy, "the administrator of this machine does not allow offline logins")
        case .profile, .standard, nil:
            self.init(
                .policy, "the profile does not allow offline logins",
                hint: "omvault profile set \(profile.text) OfflineAuthAllowed=true")
        }
    }

    /// How a cached credential is made anew.
    private enum Renewal {
        case unknown, online, enrolment, impossible

        /// The way that is open under the profile: a user cannot enroll under a profile with a server.
        init(_ profile: Profile?) {
            self =
                switch profile?.serverKind {
                case nil: .unknown
                case .some(.none): .enrolment
                case .basic, .oauthResourceOwner: .online
                case .unsupported: .impossible
                }
        }

        func hints(
            online: String = "a login online makes it anew",
            enrolment: String = "omvault login rm USER, then omvault login enroll USER"
        ) -> [String] {
            switch self {
            case .unknown: ["\(online); where there is no server, \(enrolment)"]
            case .online: [online]
            case .enrolment: [enrolment]
            case .impossible: []
            }
        }

        func hints(afterWipe isFinished: Bool) -> [String] {
            guard isFinished else {
                return ["a process still reads an old state of the ledger; the next login command erases the last bytes"]
            }
            return hints(
                online: "the next login online caches a new one", enrolment: "omvault login enroll USER caches a new one")
        }
    }

    private init(withoutSDKCode error: AuthError, _ profile: Profile?) {
        let renewal = Renewal(profile)
        switch error {
        case .invalidUserName:
            self.init(.usage, "that cannot be a user's name", hint: "1 to 255 bytes of UTF-8, no control characters")
        case .invalidDomain:
            self.init(
                .usage, "that cannot be an identity domain", hint: "up to 255 bytes of UTF-8, no control characters")
        case .policyMissing(let policyProblem):
            let status: ExitStatus =
                if case .notFetched(let refusal) = policyProblem { Failure(refusal).status } else { .remoteError }
            self.init(status, "the server's policy \(policyProblem.words), and none is known", hint: policyProblem.hint)
        case .overtaken:
            self.init(
                .busy, "another login changed what is cached while the server was asked; nothing was stored",
                hint: "log in again")
        case .noServer:
            self.init(.config, "the profile names no server that could be asked", hint: Self.offlineHint)
        case .cancelled: self.init(.aborted, "the login was given up")
        case .delayed(let seconds):
            self.init(
                .delayed, "a wrong password came a moment ago; nothing was charged",
                hint: "try again in \(seconds) s", details: ["retry_after": .number(Int(seconds))])
        case .clockRolledBack:
            self.init(
                .policy, "the clock is behind what this login has seen, and the profile does not tolerate that",
                hints: renewal.hints(online: "set the clock; or log in online", enrolment: "set the clock"))
        case .online(let refusal): self.init(refusal, under: profile)
        case .neither(let online, let offline):
            let (failed, cause) = (Failure(online, under: profile), Failure(offline, of: profile))
            // What is wrong with the credential here says more than that nobody was reached; that there is none does not.
            let status = cause.status == .noOffline ? failed.status : cause.status
            self.init(
                status, "\(failed.message); and offline: \(cause.message)", hints: failed.hints + cause.hints,
                details: cause.details)
        case .invalidProfileName:
            self.init(
                .usage, "that cannot be a profile's name",
                hint: "1 to 64 of letters, digits, dot, underscore and dash, not starting with a dot")
        case .unknownProfile(let name):
            self.init(
                .config, "there is no profile \"\(name.text)\"",
                hint: "omvault profile set \(name.text) OfflineAuthAllowed=true MaxLoginAttempts=5")
        case .profile(let problem): self.init(problem)
        case .offlineNotAllowed:
            self.init(
                .policy, "the profile does not allow offline logins",
                hint: "omvault profile set NAME OfflineAuthAllowed=true")
        case .wrongPassword(let left, let consequence):
            self.init(
                .badSecret,
                "wrong password; attempts left: \(left); the \(left == 0 ? "next wrong one" : "wrong one after them") "
                    + consequence.words,
                details: ["attempts_left": .number(left), "on_exceeded": .text(consequence.rawValue)])
        case .tooManyAttempts(let last):
            let failure = Failure(last)
            self.init(
                failure.status, "\(failure.message); this command asks no more",
                hint: "find out the right password, then log in again", details: failure.details)
        case .attemptsExceeded(let isFinished, _):
            self.init(
                .wiped, "wrong password, one more than is tolerated: the cached credential is destroyed",
                hints: renewal.hints(afterWipe: isFinished), details: ["attempts_left": .number(0)])
        case .wiped(let isFinished):
            self.init(
                .wiped, "the cached credential was destroyed after too many wrong passwords",
                hints: renewal.hints(afterWipe: isFinished), details: ["attempts_left": .number(0)])
        case .lockedOut:
            self.init(
                .lockedOut, "too many attempts: the login is locked, nothing is destroyed",
                hints: renewal.hints() + ["root ends a lock-out of the system store with omvault login unlock USER --system"],
                details: ["attempts_left": .number(0)])
        case .noCredential:
            self.init(
                .noOffline, "no credential is cached for this user and profile",
                hints: renewal.hints(
                    online: "a login online caches one", enrolment: "omvault login enroll USER --profile NAME caches one"))
        case .expired(let since):
            self.init(
                .noOffline, "the cached credential expired at \(Timestamp.text(since)); nothing is deleted",
                hints: renewal.hints(
                    online: "a login online, or a longer OfflineCredentialMaxAge, makes it good again",
                    enrolment: "a longer OfflineCredentialMaxAge makes it good again; or omvault login rm USER, then enroll"))
        case .oldPasswordRequired:
            self.init(
                .exists, "there is a credential for this user and profile already",
                hint: "--old-password-from replaces it; omvault login rm removes it")
        case .quarantined:
            self.init(
                .corrupt, "the cached credential is damaged or was changed; it was not used",
                hints: renewal.hints())
        case .deviceKeyMissing:
            self.init(
                .corrupt, "the cached credential needs this device's key, and that is gone",
                hints: ["restore device.key; or omvault login rm USER, and move the folder omvault-device away"] + renewal.hints()
            )
        case .deviceKeyDamaged: self.init(StorageError.deviceKeyDamaged)
        case .otherDeviceKey:
            self.init(
                .corrupt, "the cached credential was made under another device key than the one here",
                hints: ["restore the folder omvault-device"] + renewal.hints())
        case .rolledBack:
            self.init(
                .rollback, "the cached credential is older than what this device saw last; it was not checked",
                hints: ["a copy of the ledger was put back"] + renewal.hints())
        case .selfTestFailed:
            self.init(.general, "the new credential did not open when it was tried, so it was taken back")
        case .rootRequired:
            self.init(.permission, "only root may use the system store", hint: "run it as root, or without --system")
        case .busy:
            self.init(
                .busy, "another process held the login for the whole wait", hint: "try again")
        case .outOfMemory:
            self.init(.general, "there is not enough free memory to stretch the password; nothing was charged")
        case .schemeUnavailable:
            self.init(.unsupported, "this machine's OpenSSL does not offer the hash function of the CryptoScheme")
        case .storage(let error): self.init(error)
        }
    }

    /// - Parameter profile: The one that was asked, where it is known: its keys are what can be changed.
    init(_ refusal: OnlineRefusal, under profile: Profile? = nil) {
        self = Failure(withoutSDKCode: refusal, profile).with(sdkCode: refusal.sdkCode)
    }

    private init(withoutSDKCode refusal: OnlineRefusal, _ profile: Profile?) {
        let hints = refusal.hints(profile)
        switch refusal {
        case .rejected: self.init(.badSecret, "the server refused the user name or the password")
        case .forbidden: self.init(.remoteAuth, "the server does not let this user in")
        case .blocked: self.init(.lockedOut, "the server says that the account is blocked or disabled")
        case .untrusted(let cause):
            self.init(
                .remoteError, "the server could not prove who it is, and was told nothing: \(cause.words)",
                hints: hints)
        case .unreachable(.noHelper):
            self.init(
                .agent, "the server was not reached: \(UnreachableCause.noHelper.words)",
                hints: hints)
        case .unreachable(let cause): self.init(.network, "the server was not reached: \(cause.words)", hints: hints)
        case .failed(.cancelled, _, _): self.init(.aborted, "the login was given up")
        case .failed(let failure, let status, let retryAfter):
            let said = status.map { " (status \($0))" } ?? ""
            self.init(
                failure.status,
                "\(failure.isOurs ? "the server was not asked" : "the server gave no verdict"): \(failure.words(profile))\(said)",
                hints: hints,
                details: retryAfter.map { ["retry_after": .number(Int($0))] } ?? [:])
        }
    }

}

extension DamagedFile {
    /// What became of a ledger.
    var words: String {
        let gone = removed.isEmpty ? "" : "; older ones had to go: \(removed.map(\.shown).joined(separator: ", "))"
        return "the ledger could not be read and is now \(path.shown); its other logins are refused until each logs in online "
            + "or is removed\(gone); \(Self.warning)"
    }

    /// Of any such file.
    static let warning = "it may hold credentials and remembered passwords: delete it when nobody wants to look at it any more"
}

extension OnAttemptsExceeded {
    /// What it does, after "the next wrong one".
    var words: String {
        switch self {
        case .wipe: "wipes the cached credential"
        case .lockout: "locks the login"
        }
    }
}
