internal import ArgumentParser

/// The options for opening a key file.
struct KeyFileOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the password of an encrypted key file comes from.", valueName: "source"))
    var keyPasswordFrom: SecretSourceArgument?

    @Option(
        help: ArgumentHelp(
            "PKCS#12: the key to use, by its name or by its number in the list of 'omvault crypto inspect'.",
            valueName: "name|number"))
    var identity: String?
}
