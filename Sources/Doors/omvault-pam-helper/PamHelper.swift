// The program behind pam_omvault.so. It reads one question from descriptor 0 and sends one answer: from the system store and,
// if the profile names one, from a server. See docs/reference/pam.md.

internal import COMSystem
internal import Glibc
internal import OMAuth
internal import OMSecrets

@main
enum PamHelper {
    static func main() {
        // Nothing of the calling program reaches the code below: su and sudo run with their user's environment, folder and
        // real user id.
        guard clearenv() == 0, chdir("/") == 0, om_harden_process() == 0, om_no_new_privileges() == 0 else { exit(71) }
        umask(0o077)
        guard geteuid() == 0, setgid(0) == 0, setuid(0) == 0 else { exit(77) }
        // Nor do the caller's terminal, control group, limits, priority and signals.
        guard om_leave_caller() == 0 else { exit(71) }
        guard CommandLine.arguments.count == 1, let question = PamQuestion(from: STDIN_FILENO) else { exit(64) }
        answer(to: question).send(to: STDIN_FILENO, answering: question.nonce)
    }

    private static func answer(to question: borrowing PamQuestion) -> PamAnswer {
        // No login has a name with a slash here: a PAM module after ours may take it for a path.
        guard let user = try? UserName(question.user), let profile = try? ProfileName(question.profile),
            !question.user.utf8.contains(UInt8(ascii: "/"))
        else { return PamAnswer(verdict: .refused) }
        guard let password = try? Password(question.password.duplicate()) else { return PamAnswer(verdict: .wrong) }
        do throws(AuthError) {
            let policy = try SystemStore.profileFolder().profile(profile)
            // PAM cannot ask for the domain, and without it the helper would check another login than the user's.
            guard !policy.collectIdentityDomain || policy.domain != .none else { return PamAnswer(verdict: .profile) }
            // Attack: a server of another department, or an imitation of it, says yes for root. The verifier is an earlier
            // answer of the same server, so it may not let root in either. Nor may a login without a server: an attacker
            // who guesses its password would be root, and the rule would depend on the profile.
            guard question.allowsRoot || !Account.mayBeRoot(user.text) else {
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
