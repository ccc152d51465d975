internal import ArgumentParser

/// The options of every command, for a command that prints a token: its `--format` names the forms of a token.
struct TokenGlobalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How to print the token; raw, if not given.", valueName: "form"))
    var format: TokenFormat?

    @Option(
        name: [.long, .customShort("V")],
        help: ArgumentHelp("The vault: a name, or a path with a / or ending in .omv.", valueName: "name|path"),
        completion: .vaults)
    var vault: String?

    @Flag(help: "The same as --format json.")
    var json = false

    @Flag(help: "Never ask a question: exit with 8 instead.")
    var noInput = false

    @Flag(help: "Answer yes where omvault asks for a confirmation.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Print no notices. Errors are always printed.")
    var quiet = false

    /// The same as every command has them.
    var shared: GlobalOptions {
        var options = GlobalOptions()
        (options.vault, options.format) = (vault, format == .json ? .json : nil)
        (options.json, options.noInput, options.yes, options.quiet) = (json, noInput, yes, quiet)
        return options
    }

    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) contradict each other")
        }
    }
}
