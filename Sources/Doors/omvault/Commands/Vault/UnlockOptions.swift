internal import ArgumentParser
internal import OMVault

/// The options of every verb that unlocks.
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

    /// What the vault's password is called where a verb has a password of its own.
    var passwordOption = "--password-from"

    /// Whether the agent has been asked the same question just now, and did not have the keys.
    var hasAskedAgent = false

    func validate() throws {
        if given.count > 1 {
            throw ValidationError("\(given.map(\.key).joined(separator: " and ")) are two ways to unlock; give one")
        }
    }

    /// What ``SecretSources`` is told of these options. With a slot and nothing else any of them may be needed.
    var sources: [(key: String, value: SecretSourceArgument?)] {
        if !given.isEmpty { return given }
        guard keyslot != nil else { return [(passwordOption, nil)] }
        return [(passwordOption, nil), ("--recovery-from", nil), ("--key-file-from", nil)]
    }

    /// The one option that was given, if any.
    var given: [(key: String, value: SecretSourceArgument?)] {
        [(passwordOption, passwordFrom), ("--recovery-from", recoveryFrom), ("--key-file-from", keyFileFrom)]
            .filter { $0.value != nil }
    }
}

extension UnlockOptions {
    /// The kind of slot that is asked for where none is named.
    var kind: KeySlot.Kind { recoveryFrom != nil ? .recovery : keyFileFrom != nil ? .keyFile : .password }

    /// The option behind which the secret of a slot is.
    func option(for slot: KeySlot) -> String? {
        if let given = given.first?.key { return given }
        return slot.kind.option == "--password-from" ? passwordOption : nil
    }
}
