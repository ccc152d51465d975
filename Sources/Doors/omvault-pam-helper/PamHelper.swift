// The program behind pam_omvault.so: one question on descriptor 0, one answer, from the system store and, where its profile
// names one, from a server. docs/pam.md.

internal import COMSystem
internal import Glibc
internal import OMAuth
internal import OMSecrets

@main
enum PamHelper {
    static func main() {
        // Nothing of the program that was asked reaches what follows: su and sudo run with their user's environment, folder
        // and real user id.
        guard clearenv() == 0, chdir("/") == 0, om_harden_process() == 0, om_no_new_privileges() == 0 else { exit(71) }
        umask(0o077)
        guard geteuid() == 0, setgid(0) == 0, setuid(0) == 0 else { exit(77) }
        // Nor do its terminal, its control group, its limits, its priority and its signals.
        guard om_leave_caller() == 0 else { exit(71) }
        guard CommandLine.arguments.count == 1, let question = PamQuestion(from: STDIN_FILENO) else { exit(64) }
        answer(to: question).send(to: STDIN_FILENO, answering: question.nonce)
    }

    private static func answer(to question: borrowing PamQuestion) -> PamAnswer {
        // A name with a slash is no login's here: a module after this one may take it for a path.
        guard let user = try? UserName(question.user), let profile = try? ProfileName(question.profile),
            !question.user.utf8.contains(UInt8(ascii: "/"))
        else { return PamAnswer(verdict: .refused) }
        guard let password = try? Password(question.password.duplicate()) else { return PamAnswer(verdict: .wrong) }
        do throws(AuthError) {
            let policy = try SystemStore.profileFolder().profile(profile)
            // Nobody can be asked for it here, and without it another login than the user's would be judged.
            guard !policy.collectIdentityDomain || policy.domain != .none else { return PamAnswer(verdict: .profile) }
            // Attack: a server of another department, or whoever imitates it, says yes for root. The cached credential is the
            // same server's word of an earlier day.
            guard question.allowsRoot || !policy.serverKind.isThere || !Account.mayBeRoot(user.text) else {
                return PamAnswer(verdict: .root)
            }
            let request = LoginRequest(user, policy, domain: policy.domain, mode: question.mode.connectivity)
            let provider = try PamOnlineProvider.provider(for: request, within: question.seconds)
            _ = try SystemStore.authenticator().login(request, password: password, asking: provider)
            return PamAnswer(verdict: .granted)
        } catch {
            return PamAnswer(error)
        }
    }
}
