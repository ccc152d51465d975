internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// Shows a new recovery code, and checks that the user wrote it down.
enum RecoveryCodeSheet {
    /// Prints the code on standard output, and a notice about what to do with it.
    static func print(_ code: borrowing SecretBytes, _ context: CommandContext) throws(Failure) {
        context.output.notice("the recovery code, shown only once; write it down and keep it away from this device:")
        var line = SecretBuffer()
        line.append(code)
        line.append(UInt8(ascii: "\n"))
        try StandardOutput.write(line.finish())
    }

    /// The error of a recovery code that could not be printed although its slot is stored. It has a message even if the reader
    /// of the output has gone.
    ///
    /// - Parameter hint: What to do without the code.
    static func lost(_ error: Failure, hint: String) -> Failure {
        Failure(error.status, "\(error.message), so the recovery code was lost", hint: hint)
    }

    /// Whether the user must type the code back: with `--code-from`, and at a terminal. A script without it need not.
    static func isTypedBack(wasGiven: Bool, _ context: CommandContext) -> Bool {
        context.output.format != .json && (wasGiven || context.terminal.mayAsk && StandardOutput.isTerminal)
    }

    /// Reads the code back. At a terminal the user has three tries, so that a slip does not cost the passwords typed before.
    ///
    /// - Throws: ``ExitStatus/aborted`` if it is another code.
    static func confirm(
        _ code: borrowing RecoveryCode, _ secrets: borrowing SecretSources, _ context: CommandContext
    ) throws(Failure) {
        for left in (0..<(secrets.isAsked("--code-from") ? SecretTries.most : 1)).reversed() {
            let typed = try secrets.read(
                "--code-from", prompt: "Recovery code, from what you wrote down", name: "the new recovery code, typed back",
                isShown: true)
            var isSame = false
            do throws(VaultError) { isSame = try RecoveryCode(typed: typed).secret.isEqual(to: code.secret) } catch {}
            if isSame { return }
            if left > 0 { context.terminal.tell("that is not the recovery code shown above; compare each character") }
        }
        throw Failure(
            .aborted, "the given code is not the recovery code; nothing was changed, and the code shown above opens nothing",
            hint: "run the command again for a new code")
    }
}
