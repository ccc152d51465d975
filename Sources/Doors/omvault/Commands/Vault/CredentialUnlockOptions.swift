internal import ArgumentParser

/// How these commands unlock the vault. Here `--password-from` is for the credential's password.
struct CredentialUnlockOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the vault's password comes from.", valueName: "source"))
    var vaultPasswordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Unlock with the recovery code from here instead.", valueName: "source"))
    var recoveryFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Unlock with the key file from here instead.", valueName: "source"))
    var keyFileFrom: SecretSourceArgument?

    @Flag(help: "Do not ask the agent: open the vault here.")
    var noAgent = false

    func options() throws -> UnlockOptions {
        var options = try UnlockOptions.parse(noAgent ? ["--no-agent"] : [])
        options.passwordOption = "--vault-password-from"
        options.passwordFrom = vaultPasswordFrom
        options.recoveryFrom = recoveryFrom
        options.keyFileFrom = keyFileFrom
        try options.validate()
        return options
    }
}
