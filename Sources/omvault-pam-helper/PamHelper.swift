// The program behind pam_omvault.so: one question on descriptor 0, one answer, from the system store and, where its profile
// names one, from a server. docs/pam.md.

internal import COMSystem
internal import Glibc
internal import OMAuth
internal import OMRecords
internal import OMSecrets

@main
enum PamHelper {
    static func main() {
        // Nothing of the program that was asked reaches what follows: su and sudo run with their user's environment, folder
        // and real user id.
        guard clearenv() == 0, chdir("/") == 0, om_harden_process() == 0, om_no_new_privileges() == 0 else { exit(71) }
        umask(0o077)
        guard geteuid() == 0, setgid(0) == 0, setuid(0) == 0 else { exit(77) }
        signal(SIGPIPE, SIG_IGN)
        guard CommandLine.arguments.count == 1, let question = PamQuestion(from: STDIN_FILENO) else { exit(64) }
        verdict(on: question).send(to: STDIN_FILENO, answering: question.nonce)
    }

    private static func verdict(on question: borrowing PamQuestion) -> PamVerdict {
        // A name with a slash is no login's here: a module after this one may take it for a path.
        guard let user = try? UserName(question.user), let profile = try? ProfileName(question.profile),
            !question.user.utf8.contains(UInt8(ascii: "/"))
        else { return .refused }
        guard let password = try? Password(question.password.duplicate()) else { return .wrong }
        do throws(AuthError) {
            let policy = try SystemStore.profileFolder().profile(profile)
            // Nobody can be asked for it here, and without it another login than the user's would be judged.
            guard !policy.collectIdentityDomain || policy.domain != .none else { return .broken }
            let request = LoginRequest(user, policy, domain: policy.domain, mode: question.mode.connectivity)
            let provider = try PamServer.provider(for: request, within: question.seconds)
            _ = try SystemStore.authenticator().login(request, password: password, asking: provider)
            return .granted
        } catch {
            return PamVerdict(error)
        }
    }
}

extension PamVerdict {
    /// No case of this is ``granted``.
    fileprivate init(_ error: AuthError) {
        switch error {
        case .wrongPassword: self = .wrong
        case .attemptsExceeded, .wiped: self = .wiped
        case .lockedOut: self = .lockedOut
        case .noCredential, .offlineNotAllowed: self = .noCredential
        case .expired: self = .expired
        case .busy, .delayed: self = .wait
        case .noServer: self = .unreachable
        case .online(let refusal): self.init(refusal)
        // What stands in the way offline says more, but for this.
        case .neither(_, .noCredential): self = .unreachable
        case .neither(_, let offline): self.init(offline)
        case .invalidUserName, .invalidProfileName: self = .refused
        default: self = .broken
        }
    }

    private init(_ refusal: OnlineRefusal) {
        switch refusal {
        case .rejected: self = .wrong
        case .forbidden: self = .forbidden
        case .blocked: self = .lockedOut
        case .unreachable: self = .unreachable
        // What root has set up, and has to mend.
        case .failed(.helper, _, _), .failed(.unsafeAddress, _, _), .failed(.unusableHeaders, _, _),
            .failed(.unusableTrust, _, _), .failed(.unsupportedGrant, _, _):
            self = .broken
        case .untrusted, .failed: self = .noVerdict
        }
    }
}
