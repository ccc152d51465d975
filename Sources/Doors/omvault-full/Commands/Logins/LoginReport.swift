// The result of a login, as data on standard output.

internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMShell
internal import OMStorage
internal import OMSystem

struct LoginReport {
    private let output: Output

    init(_ output: Output) { self.output = output }

    /// - Parameters:
    ///   - remembered: The data that is remembered after it. Nil if the command remembers nothing.
    ///   - isKept: Whether the agent keeps a session of it. Nil if the command keeps no sessions.
    ///   - isUnlocked: Whether it also opened a vault. Nil if it did not have to.
    func granted(
        _ receipt: borrowing LoginReceipt, remembered: RememberChoice? = nil, isKept: Bool? = nil, isUnlocked: Bool? = nil
    ) throws(Failure) {
        let details = receipt.details
        notice(details)
        guard output.format == .json else { return try output.line(line(details)) }
        var document = JSONDocument()
        document.field("result", .text("granted"))
        document.field("mode", .text(details.mode.name))
        document.field("user", .text(details.user.text))
        document.field("domain", details.domain == .none ? .null : .text(details.domain.text))
        document.field("profile", .text(details.profile.text))
        document.field("age", .number(Int(details.age)))
        document.field("expires", details.expires.map { .text(Timestamp.text($0)) } ?? .null)
        switch details.mode {
        case .offline(let online):
            document.field("attempts_left", .number(details.attemptsLeft))
            document.field("not_online", online.map { .text($0.name) } ?? .null)
        case .online(let reason):
            document.field("attempts_left", reason == nil ? .number(details.attemptsLeft) : .null)
            document.field("not_cached", reason.map { .text($0.name) } ?? .null)
            document.field("policy_missing", details.policyProblem.map { .text($0.name) } ?? .null)
            document.field("ledger_set_aside", details.damagedLedger.map { .text($0.path) } ?? .null)
        }
        document.field("expires_soon", .flag(details.expiresSoon))
        document.field("clock_is_behind", .flag(details.clockIsBehind))
        document.field("degraded", .flag(details.isDegraded))
        if case .valid(let idle, let session, _) = details.deadlines.state(at: ClockReading.now()) {
            document.field("idle_left", idle.map { .number(Int(clamping: $0)) } ?? .null)
            document.field("session_left", session.map { .number(Int(clamping: $0)) } ?? .null)
        }
        if let remembered { document.field("remembered", .text(remembered.word)) }
        if let isKept { document.field("session_kept", .flag(isKept)) }
        if let isUnlocked { document.field("vault_unlocked", .flag(isUnlocked)) }
        try output.document(document)
    }

    /// Reports that a session of an earlier login is still valid, so that no password was needed.
    func alreadyLoggedIn(_ session: AgentSession) throws(Failure) {
        let key = session.login.key
        guard output.format == .json else {
            return try output.line("granted session user=\(key.user.text.asWord) profile=\(key.profile.text)")
        }
        var document = JSONDocument()
        document.field("result", .text("granted"))
        document.field("mode", .text("session"))
        document.field("user", .text(key.user.text))
        document.field("domain", key.domain == .none ? .null : .text(key.domain.text))
        document.field("profile", .text(key.profile.text))
        document.object("session") { session.describe(&$0) }
        try output.document(document)
    }

    private func line(_ details: LoginDetails) -> String {
        var words = ["granted", details.mode.name, "user=\(details.user.text.asWord)", "profile=\(details.profile.text)"]
        words.append("age=\(details.age)")
        switch details.mode {
        case .offline(let online?): words.append("not_online=\(online.name)")
        case .online(let reason?): words.append("not_cached=\(reason.name)")
        case .offline(nil), .online(nil): break
        }
        return words.joined(separator: " ")
    }

    private func notice(_ details: LoginDetails) {
        switch details.mode {
        case .offline(let online?):
            output.notice("\(Failure(online).message); the cached credential was used")
        case .online(.offlineNotAllowed?), .online(nil), .offline(nil): break
        case .online(let reason?):
            output.notice(
                "the server let the user in, but no credential was cached for offline logins: \(Failure(reason).message)")
        }
        if let aside = details.damagedLedger { output.notice(aside.words) }
        if let policyProblem = details.policyProblem, !details.mode.isUncachedForWantOfPolicy {
            output.notice("the server's policy \(policyProblem.words); the policy that is known here stays in force")
        }
        if details.isDegraded {
            output.notice("the password was right, but the attempt counter could not be reset; is the disk full?")
        }
        if details.clockIsBehind {
            output.notice("the clock was set back: it is behind the time of an earlier login, so it is not used")
        }
        if case .online(nil) = details.mode, let expires = details.expires, expires <= ClockReading.now().wall {
            output.notice(
                "by the server's clock the cached credential expired at \(output.time(expires)), so it cannot be used offline; "
                    + "correct the clock of the server or of this machine")
        } else if details.expiresSoon, let expires = details.expires {
            output.notice("the cached credential expires at \(output.time(expires))")
        }
    }

    /// Reports a login that was not checked, because the program that asks the server cannot be started.
    func denied(_ error: AgentError, _ asked: AskedLogin) throws(Failure) {
        guard output.format == .json else { return try output.line("denied reason=\(error.name)") }
        try output.document(refusal(of: asked, reason: error.name, mode: asked.mode.rawValue.lowercased()))
    }

    private func refusal(of asked: AskedLogin, reason: String, mode: String) -> JSONDocument {
        var document = JSONDocument()
        document.field("result", .text("denied"))
        document.field("reason", .text(reason))
        document.field("mode", .text(mode))
        document.field("user", asked.user.map { .text($0.text) } ?? .null)
        document.field("profile", .text(asked.profileName.text))
        return document
    }

    /// Reports a refused login as data. The sentence for people follows on standard error.
    func denied(_ error: AuthError, _ asked: AskedLogin) throws(Failure) {
        // This reports the refusal of the last answer. The error says that the command does not ask again.
        if case .tooManyAttempts(let last) = error { return try denied(last, asked) }
        guard output.format == .json else {
            switch error {
            case .wrongPassword(let left, _): return try output.line("denied attempts_left=\(left)")
            case .neither(_, let offline):
                return try output.line("denied reason=\(error.name) not_offline=\(offline.name)")
            default: return try output.line("denied reason=\(error.name)")
            }
        }
        var document = refusal(of: asked, reason: error.name, mode: error.mode(asked.mode))
        switch error {
        case .wrongPassword(let left, let consequence):
            document.field("attempts_left", .number(left))
            document.field("on_exceeded", .text(consequence.rawValue))
        case .attemptsExceeded(let isErased, let online):
            document.field("attempts_left", .number(0))
            document.field("erased", .flag(isErased))
            document.field("not_online", online.map { .text($0.name) } ?? .null)
        case .wiped(let isErased):
            document.field("attempts_left", .number(0))
            document.field("erased", .flag(isErased))
        case .lockedOut: document.field("attempts_left", .number(0))
        case .delayed(let seconds): document.field("retry_after", .number(Int(seconds)))
        case .online(.failed(_, _, let seconds?)): document.field("retry_after", .number(Int(seconds)))
        case .neither(_, let offline):
            document.field("not_offline", .text(offline.name))
            if case .delayed(let seconds) = offline { document.field("retry_after", .number(Int(seconds))) }
        default: break
        }
        try output.document(document)
    }
}

extension LoginDetails.Mode {
    /// Whether the notice already says that the server's policy is missing.
    fileprivate var isUncachedForWantOfPolicy: Bool {
        if case .online(.policyMissing?) = self { true } else { false }
    }

    /// The name in answers.
    fileprivate var name: String {
        switch self {
        case .online: "online"
        case .offline: "offline"
        }
    }
}

extension AuthError {
    /// The mode in which the error happened. If the error does not say it, the requested mode.
    fileprivate func mode(_ asked: ConnectivityMode) -> String {
        switch self {
        case .online, .noServer: "online"
        case .wrongPassword, .attemptsExceeded, .wiped, .lockedOut, .noCredential, .expired, .delayed: "offline"
        default: asked.rawValue.lowercased()
        }
    }
}
