// The tries of one secret of a vault or a backup. A person at a terminal is asked again, a script is not.

internal import OMItems
internal import OMShell
internal import OMVault

/// How often a command asks for the secret that opens a vault, and the wait between two passwords.
///
///     let tries = SecretTries(slot.kind, of: "--password-from", secrets, context)
///     let vault = try tries.run { isFirst throws(Failure) in
///         try tries.awaitUse(isFirst) { () throws(VaultError) in try file.checkUse(of: slot) }
///         … read the secret, and unlock with it
///     }
struct SecretTries {
    /// Nothing limits the wrong passwords of a vault, since each one makes the next wait longer. So this is the usual number.
    static let most = 3

    /// Nil if a wrong secret ends the command.
    private let terminal: Terminal?
    private let failure: (VaultError) -> Failure

    /// - Parameters:
    ///   - option: The option for the secret's source. Only what is typed at a terminal is asked for again.
    ///   - failure: The words of an error.
    init(
        _ kind: KeySlot.Kind, of option: String, _ secrets: borrowing SecretSources, _ context: CommandContext,
        failure: @escaping (VaultError) -> Failure
    ) {
        // The password of a login is counted by the login: a second question could wipe it.
        let isAsked = kind != .login && secrets.isAsked(option) && context.terminal.isThere
        terminal = isAsked ? context.terminal : nil
        self.failure = failure
    }

    /// Runs `attempt` until it succeeds, at most ``most`` times.
    ///
    /// - Parameter attempt: Reads the secret and tries it. Its argument says whether this is the first try.
    /// - Throws: The last error of `attempt`. Every error other than a wrong secret and a delay ends the tries.
    func run<R: ~Copyable>(_ attempt: (Bool) throws(Failure) -> R) throws(Failure) -> R {
        guard let terminal else { return try attempt(true) }
        return try terminal.withoutEcho { () throws(Failure) in
            var tried = 0
            while true {
                do throws(Failure) { return try attempt(tried == 0) } catch {
                    guard error.status == .badSecret || error.status == .delayed else { throw error }
                    tried += 1
                    guard tried < Self.most else {
                        // The command ends, and the shell reads what was typed during the check.
                        terminal.dropTyped()
                        throw error
                    }
                    terminal.tell(error.message)
                }
            }
        }
    }

    /// Waits while an earlier wrong password delays the next. Without a terminal to ask at, the delay is an error.
    ///
    /// - Parameter check: Throws ``VaultError/delayed(seconds:)`` while there is a delay.
    func awaitUse(_ isFirst: Bool, _ check: () throws(VaultError) -> Void) throws(Failure) {
        while true {
            do throws(VaultError) { return try check() } catch {
                guard let terminal, case .delayed(let seconds) = error else { throw failure(error) }
                try terminal.wait(seconds: seconds) { left in
                    (isFirst ? "too early after a wrong password; asking in" : "asking again in") + " \(left) s"
                }
            }
        }
    }
}
