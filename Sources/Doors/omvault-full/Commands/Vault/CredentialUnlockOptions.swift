internal import ArgumentParser

/// How these commands unlock the vault. Here `--password-from` is for the credential's password.
struct CredentialUnlockOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the vault's password comes from.", valueName: "source"))
    var vaultPasswordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Open with a recovery code, and where it comes from.", valueName: "source"))
    var recoveryFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Open with a key file, and where it comes from.", valueName: "source"))
    var keyFileFrom: SecretSourceArgument?

    @Flag(help: "Open the vault here, without the agent.")
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
