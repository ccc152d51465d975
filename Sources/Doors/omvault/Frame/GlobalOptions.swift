// The options of every command. They can be before or after the command.

internal import ArgumentParser

struct GlobalOptions: ParsableArguments {
    @Option(
        name: [.long, .customShort("V")],
        help: ArgumentHelp("The vault: a name, or a path with a / or ending in .omv.", valueName: "name|path"),
        completion: .vaults)
    var vault: String?

    @Option(help: ArgumentHelp("How to print.", valueName: "format"))
    var format: OutputFormat?

    @Flag(help: "The same as --format json.")
    var json = false

    @Flag(help: "Never ask a question: exit with 8 instead.")
    var noInput = false

    @Flag(help: "Answer yes where omvault asks for a confirmation.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Print no notices. Errors are always printed.")
    var quiet = false

    /// Whether the options ask for one JSON document. An environment variable can ask for it too.
    var isJSON: Bool { json || format == .json }

    /// Every spelling that can be before the command, and whether a value follows it. A test compares it with the options above.
    static let spellings = [
        "--vault": true, "-V": true, "--format": true,
        "--json": false, "--no-input": false, "--yes": false, "--quiet": false, "-q": false,
    ]

    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) contradict each other")
        }
    }
}

extension GlobalOptions {
    /// Whether errors must be JSON. This is decided before the parser runs, since a parse error must be JSON too.
    static func wantJSON(_ arguments: [String]) -> Bool {
        let options = arguments.prefix { $0 != "--" }
        if options.contains("--json") { return true }
        if let format = options.last(where: { $0.hasPrefix("--format=") }) { return format == "--format=json" }
        if let flag = options.lastIndex(of: "--format") { return options.dropFirst(flag + 1).first == "json" }
        return Environment.text("OMVAULT_FORMAT") == OutputFormat.json.rawValue
    }
}
