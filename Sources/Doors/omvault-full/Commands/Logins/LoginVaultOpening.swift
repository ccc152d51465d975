// `omvault login --unlock`: the login also opens the vault's slot for this login, so that one password serves both.
//
// Attack: an attacker uses an unattended terminal, or a program that can run omvault. A session or a remembered password lets
// a user in if the profile allows it. Neither opens a vault here, since the user did not choose that for a vault.

internal import OMAuth
internal import OMItems
internal import OMShell
internal import OMVault

/// A vault that a login opens in the agent.
struct LoginVaultOpening {
    private let access: VaultAccess
    private let agent: AgentVaultClient

    /// - Throws: If there is no vault, or no agent can run, so that the user types no password for it.
    init(_ context: CommandContext) throws {
        access = try VaultAccess(context)
        agent = try access.startedAgent()
    }

    /// The result for the vault. The login is granted in any case.
    enum Outcome {
        case unlocked(String)
        /// Why this login does not open the vault.
        case closed(String)
        /// An error of the vault or the agent.
        case failed(Failure)

        var isUnlocked: Bool {
            if case .unlocked = self { true } else { false }
        }

        func report(_ output: Output) throws(Failure) {
            switch self {
            case .unlocked(let words): output.notice(words)
            case .closed(let words): output.notice(words)
            case .failed(let failure): throw failure
            }
        }
    }

    func open(_ receipt: borrowing LoginReceipt) -> Outcome {
        let details = receipt.details
        switch receipt.login {
        case .none: return closed(LoginAccess.nothingToUnlock(details.mode).message)
        case .some(let login):
            do throws(Failure) { return try open(login, details) } catch { return .failed(error) }
        }
    }

    private func open(_ login: borrowing VerifiedLogin, _ details: LoginDetails) throws(Failure) -> Outcome {
        let file = try access.file()
        let vault: Vault?
        do throws(VaultError) { vault = try access.unlock(file, with: login) } catch {
            guard case .staleLogin(let slot) = error else { throw Failure(error, vault: access.location.name) }
            return closed("slot \(slot) belongs to an earlier enrolment of this login; \(remedy(details))")
        }
        switch vault {
        case .none: return closed("it has no slot for this login; \(remedy(details))")
        case .some(let vault): return .unlocked(agent.unlockedWords(try agent.handOver(vault)))
        }
    }

    private func closed(_ why: String) -> Outcome {
        .closed("vault \"\(access.location.name.shown)\" was not unlocked: \(why)")
    }

    private func remedy(_ details: LoginDetails) -> String {
        var words = ["omvault key add-slot --type login --profile", details.profile.text.asShellWord]
        if details.domain != .none { words += ["--domain", details.domain.text.asShellWord] }
        if let vault = access.context.vaultGiven { words += ["--vault", vault.asShellWord] }
        let user = details.user.text
        words += (user.hasPrefix("-") ? ["--"] : []) + [user.asShellWord]
        return words.joined(separator: " ") + " makes one"
    }
}
