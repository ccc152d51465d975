// The options of every command. They can be before or after the command.

internal import ArgumentParser
internal import OMShell

struct GlobalOptions: ParsableArguments {
    @Option(
        name: [.long, .customShort("V")],
        help: ArgumentHelp("The vault: a name, or a path with a / or ending in .omv.", valueName: "name|path"),
        completion: .vaults)
    var vault: String?

    @Option(help: ArgumentHelp("How to print.", valueName: "format"))
    var format: FormatName?

    @Flag(help: "The same as --format json.")
    var json = false

    @Flag(help: "Never ask a question: exit with 8 instead.")
    var noInput = false

    @Flag(help: "Answer yes where omvault asks for a confirmation.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Print no notices. Errors are always printed.")
    var quiet = false

    /// The format that the options ask for. An environment variable can ask for one too.
    var formatAsked: FormatName? { json ? .json : format }

    /// Whether the options ask for JSON.
    var isJSON: Bool { formatAsked?.kind == .json }

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
        var name: String?
        for (index, word) in options.enumerated() {
            if word.hasPrefix("--format=") { name = String(word.dropFirst("--format=".count)) }
            if word == "--format" { name = options.dropFirst(index + 1).first ?? "" }
        }
        return (name ?? Environment.text("OMVAULT_FORMAT")).flatMap(FormatName.init)?.kind == .json
    }
}
