internal import OMSecrets
internal import OMVault

/// A new recovery code on its way to paper.
enum RecoveryCodeSheet {
    /// Prints the code on standard output, with what to do with it beside it.
    static func print(_ code: borrowing SecretBytes, _ context: CommandContext) throws(Failure) {
        context.output.notice("the recovery code, shown this once; write it down and keep it off this device:")
        var line = SecretBuffer()
        line.append(code)
        line.append(UInt8(ascii: "\n"))
        try StandardOutput.write(line.finish())
    }

    /// Whether the code is wanted back: where `--code-from` was given, or a person has just seen it. A script need not.
    static func isTypedBack(wasGiven: Bool, _ context: CommandContext) -> Bool {
        context.output.format != .json && (wasGiven || context.terminal.mayAsk && StandardOutput.isTerminal)
    }

    static func confirm(_ code: borrowing RecoveryCode, _ secrets: borrowing SecretSources) throws(Failure) {
        let typed = try secrets.read(
            "--code-from", prompt: "Type the recovery code back, from what you wrote",
            name: "the new recovery code, typed back")
        var isSame = false
        do throws(VaultError) { isSame = try RecoveryCode(typed: typed).secret.isEqual(to: code.secret) } catch {}
        guard isSame else {
            throw Failure(
                .aborted, "that is another recovery code; nothing was changed, and the one shown opens nothing",
                hint: "run it again for a new code")
        }
    }
}
