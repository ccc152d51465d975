internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The recovery code of a vault, so that it opens the remotes too.
enum RollCode {
    /// - Parameters:
    ///   - secret: What opened the vault. If that is the code, no one types it twice.
    ///   - wasGiven: Whether `--code-from` was given.
    /// - Returns: Nil if there is none, or the user has none.
    /// - Throws: ``ExitStatus/badSecret`` for a code that does not open this vault.
    static func read(
        _ secret: borrowing SlotSecret, of access: VaultAccess, _ secrets: borrowing SecretSources, wasGiven: Bool
    ) throws(Failure) -> RecoveryCode? {
        switch secret.recoveryCode() {
        case .some(let code): return code
        case .none: break
        }
        let slots = try access.file().slots.filter { $0.kind.secretKind == .recovery }
        guard wasGiven || !slots.isEmpty && access.context.terminal.mayAsk && StandardOutput.isTerminal else { return nil }
        let typed = try secrets.read(
            "--code-from",
            prompt: "Recovery code of vault \"\(access.location.name)\", so that it opens the remotes too (Enter for none)",
            name: "the recovery code", isShown: true, canBeEmpty: !wasGiven)
        guard typed.count > 0 else { return nil }
        let code = try access.code(typed)
        let file = try access.file()
        for slot in slots {
            do throws(VaultError) {
                _ = try file.unlock(slot, with: slot.key(stretching: code.secret))
                return code
            } catch {
                guard error == .cannotUnlock else { throw access.failure(error) }
            }
        }
        throw Failure(
            .badSecret, "that is not the recovery code of vault \"\(access.location.name.shown)\"",
            hint: "nothing was changed; omvault sync init works without a code too")
    }
}

extension SlotSecret {
    /// A copy of the code, if this is one.
    fileprivate borrowing func recoveryCode() -> RecoveryCode? {
        switch self {
        case .recovery(let code): code.duplicate()
        case .password: nil
        case .keyFile: nil
        case .login: nil
        }
    }
}
