internal import ArgumentParser
internal import OMShell
internal import OMVault

/// The options of every command that unlocks a vault.
struct UnlockOptions: ParsableArguments {
    private enum CodingKeys: CodingKey { case passwordFrom, recoveryFrom, keyFileFrom, keyslot, noAgent }

    @Option(help: ArgumentHelp("Where the vault's password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Open with a recovery code, and where it comes from.", valueName: "source"))
    var recoveryFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Open with a key file, and where it comes from.", valueName: "source"))
    var keyFileFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Open through this slot; 'omvault key slots' lists them.", valueName: "id"))
    var keyslot: UInt32?

    @Flag(help: "Open the vault here, without the agent.")
    var noAgent = false

    /// The option for the vault's password. It differs in commands that have a password of their own.
    var passwordOption = "--password-from"

    func validate() throws {
        if given.count > 1 {
            throw ValidationError("\(given.map(\.key).joined(separator: " and ")) are different ways to unlock; give only one")
        }
    }

    /// The options for ``SecretSources``. With `--keyslot` alone, each of them may be needed.
    var sources: [(key: String, value: SecretSourceArgument?)] {
        if !given.isEmpty { return given }
        guard keyslot != nil else { return [(passwordOption, nil)] }
        return [(passwordOption, nil), ("--recovery-from", nil), ("--key-file-from", nil)]
    }

    /// Whether the command line or the environment says what unlocks.
    var isGiven: Bool { !given.isEmpty || keyslot != nil || Environment.text("OMVAULT_PASSWORD_FROM") != nil }

    /// The one option that was given, if any.
    var given: [(key: String, value: SecretSourceArgument?)] {
        [(passwordOption, passwordFrom), ("--recovery-from", recoveryFrom), ("--key-file-from", keyFileFrom)]
            .filter { $0.value != nil }
    }
}

extension UnlockOptions {
    /// The kind of slot to unlock, if `--keyslot` names none.
    var kind: KeySlot.Kind { recoveryFrom != nil ? .recovery : keyFileFrom != nil ? .keyFile : .password }

    /// The option for the secret of a slot.
    func option(for slot: KeySlot) -> String? {
        if let given = given.first?.key { return given }
        return slot.kind.option == "--password-from" ? passwordOption : nil
    }
}
