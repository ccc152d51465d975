internal import ArgumentParser
internal import OMShell

/// The options of `device join` for a vault whose devices are lost.
struct RecoveryJoinOptions: ParsableArguments {
    @Flag(help: "Take the recovery code: all devices are lost.")
    var recovery = false

    @Option(help: ArgumentHelp("Where the recovery code comes from.", valueName: "source"))
    var recoveryFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("A device that is not lost, by name or number; may be repeated.", valueName: "device"))
    var keep: [String] = []

    @Option(help: ArgumentHelp("A device whose last files are not read; may be repeated.", valueName: "device"))
    var without: [String] = []

    @Option(help: ArgumentHelp("Which of two entries of the list of devices counts.", valueName: "number"))
    var entry: [String] = []

    /// - Parameter isPairing: Whether `--pairing-code-from` was given.
    func check(isPairing: Bool, _ options: NewVaultOptions) throws {
        guard recovery else {
            if recoveryFrom != nil || !keep.isEmpty || !without.isEmpty || !entry.isEmpty {
                throw ValidationError("--recovery-from, --keep, --without and --entry are for --recovery")
            }
            return
        }
        if isPairing { throw ValidationError("--pairing-code-from is for a device that another one adds, not for --recovery") }
        if options.noRecovery || options.codeFrom != nil {
            throw ValidationError("with --recovery the new vault has the same recovery code: no --no-recovery, no --code-from")
        }
    }
}
