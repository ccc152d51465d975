// The command line, prepared for ArgumentParser. It does not accept global options before the command. So they are moved
// behind the command: a command declares them once, and both positions work.

internal import ArgumentParser
internal import OMShell

/// `omvault --vault work crypto --json hash f` in ArgumentParser's order: `crypto hash --vault work --json f`.
struct CommandLineArguments {
    /// The command's names, the global options that were before or between them, and the rest as it was typed.
    let arguments: [String]
    private let verb: [String]
    private let command: any ParsableCommand.Type
    /// The group whose default command was chosen, because the user named no command in it.
    private let group: (any ParsableCommand.Type)?

    /// - Throws: a usage ``Failure`` for an unknown command, an unknown option before it, or no command at all.
    init(_ typed: [String], root: any ParsableCommand.Type) throws(Failure) {
        var walk = Walk(rest: typed[...], command: root, isQuestion: typed.isEmpty)
        while try walk.step() {}
        let typed = try walk.finish()
        (verb, command, group) = (walk.verb, walk.command, walk.impliedGroup)
        arguments = ClipOption.spelled(typed, of: verb)
        try UsageError.refuseClusters(arguments, of: verb)
    }

    /// The command with its arguments. With all commands the parser needs several times as long, so it gets this one alone.
    /// What it then refuses, or answers with help, it gets again from the root: its messages name the whole line.
    func parse() throws -> any ParsableCommand {
        let own = Array(arguments.dropFirst(verb.count))
        // A request for help is parsed as a command of its own.
        if command.configuration.subcommands.isEmpty, let parsed = try? command.parseAsRoot(own), type(of: parsed) == command {
            return parsed
        }
        return try CommandTree.parseAsRoot(arguments)
    }

    /// Refuses a mistyped subcommand: `omvault login statsu` would ask for a password of the user "statsu".
    ///
    /// - Parameter word: The argument of the default command. Behind `--` any word is accepted.
    func refuseTypo(_ word: String?) throws(Failure) {
        guard let word, let group, !arguments.contains("--") else { return }
        try group.refuseTypo(word, behind: Array(verb.dropLast()))
    }

    /// The failure. If its command refuses the command line and names no next step, the command's help is one.
    func withHelp(_ failure: Failure) -> Failure {
        guard failure.status == .usage, failure.hints.isEmpty else { return failure }
        return failure.with(hints: [UsageError.help(of: verb)])
    }

    /// ArgumentParser's message as an error with a hint.
    func usageFailure(_ message: String) -> Failure { UsageError.failure(message, of: verb) }
}

/// Walks from the first word down the command tree to a leaf.
private struct Walk {
    var rest: ArraySlice<String>
    var command: any ParsableCommand.Type
    /// Whether the user asks for help or the version. That needs no complete command.
    var isQuestion: Bool
    private(set) var verb: [String] = []
    private(set) var impliedGroup: (any ParsableCommand.Type)?
    private var hoisted: [String] = []

    private static let questions: Set = ["--help", "-h", "--help-hidden", "--version"]

    init(rest: ArraySlice<String>, command: any ParsableCommand.Type, isQuestion: Bool) {
        (self.rest, self.command, self.isQuestion) = (rest, command, isQuestion)
    }

    /// Takes the next word or two. False if the rest belongs to the command that was found.
    mutating func step() throws(Failure) -> Bool {
        if try takeGlobalOption() { return true }
        if takeQuestion() { return true }
        return try takeCommand()
    }

    private mutating func takeGlobalOption() throws(Failure) -> Bool {
        guard let word = rest.first else { return false }
        if let takesValue = GlobalOptions.spellings[word] {
            guard !takesValue || rest.count > 1 else { throw UsageError.missingValue(of: word) }
            hoist(takesValue ? 2 : 1)
            return true
        }
        let name = String(word.prefix { $0 != "=" })
        guard word.hasPrefix("--"), name != word, GlobalOptions.spellings[name] == true else { return false }
        hoist(1)
        return true
    }

    private mutating func takeQuestion() -> Bool {
        guard let word = rest.first else { return false }
        if Self.questions.contains(word) {
            isQuestion = true
            hoist(1)
            return true
        }
        // `help crypto hash` is the same as `crypto hash --help`.
        guard word == "help", verb.isEmpty, !isQuestion else { return false }
        isQuestion = true
        hoisted.append("--help")
        rest = rest.dropFirst()
        return true
    }

    /// Goes one step down the tree. False at a leaf, and if a default command takes the rest.
    private mutating func takeCommand() throws(Failure) -> Bool {
        let commands = command.configuration.subcommands
        guard let word = rest.first, !commands.isEmpty else { return false }
        if let next = commands.first(where: { $0.answers(to: word) }) {
            verb.append(next._commandName)
            command = next
            rest = rest.dropFirst()
            return true
        }
        if word == "--" || Self.belongsToParser(word) { return false }
        if command.configuration.defaultSubcommand != nil {
            // Checked here too: the parser would first complain about options that only the subcommand has.
            if !isQuestion { try command.refuseTypo(word, behind: verb) }
            return false
        }
        throw word.hasPrefix("-") ? unknownOption(word) : unknownCommand(word)
    }

    mutating func finish() throws(Failure) -> [String] {
        if !isQuestion, let implied = command.configuration.defaultSubcommand {
            verb.append(implied._commandName)
            (impliedGroup, command) = (command, implied)
        }
        guard !command.configuration.subcommands.isEmpty else { return verb + hoisted + rest }
        guard isQuestion || rest.contains(where: Self.belongsToParser) else { throw missingCommand() }
        // A group has no global options, so a question about a group gets none.
        return verb + hoisted.filter(Self.questions.contains) + rest
    }

    private mutating func hoist(_ count: Int) {
        hoisted += rest.prefix(count)
        rest = rest.dropFirst(count)
    }

    /// ArgumentParser's own flags at the root: completion scripts, their questions on Tab, and the help as JSON.
    private static func belongsToParser(_ word: String) -> Bool {
        ["--generate-completion-script", "---completion", "--experimental-dump-help"].contains { word.hasPrefix($0) }
    }
}

extension Walk {
    private func unknownOption(_ word: String) -> Failure {
        // The value after "=" is not repeated: it may be a secret for another program.
        let name = String(word.prefix { $0 != "=" })
        // Many programs answer -v with their version; here -V is an option that takes a vault.
        if name == "-v" {
            return Failure(
                .usage, "unknown option -v before the command", hint: "did you mean --version?", "-V NAME chooses a vault")
        }
        if name.hasPrefix("-"), !name.hasPrefix("--"), name.count > 2 { return UsageError.cluster(name, of: verb) }
        let known = Suggestion.closest(to: name, among: GlobalOptions.spellings.keys)
        return Failure(
            .usage, "unknown option \(name) before the command",
            hint: known.map { "did you mean \($0)?" }
                ?? "put a command's own options after the command; omvault --help lists the commands")
    }

    private func unknownCommand(_ word: String) -> Failure {
        let foreign = verb.isEmpty ? ForeignVerb.named(word) : nil
        let help = (["omvault"] + verb + ["--help"]).joined(separator: " ")
        let known = foreign == nil ? known(word).map { "\"\(phrase($0))\"" } : []
        return Failure(
            .usage, "no command \"\(phrase(verb + [word]))\"",
            hint: foreign?.hint ?? (known.isEmpty ? help : "did you mean \(known.joined(separator: " or "))?  (\(help))"))
    }

    /// The commands that a word may be meant for: those of its name one step down, or else the nearest one here.
    private func known(_ word: String) -> [[String]] {
        let commands = command.configuration.subcommands
        let below = commands.filter { $0.configuration.subcommands.contains { $0.answers(to: word) } }
            .map { verb + [$0._commandName, word] }
        if (1...3).contains(below.count) { return below }
        return Suggestion.closest(to: word, among: commands.map { $0._commandName }).map { [verb + [$0]] } ?? []
    }

    private func missingCommand() -> Failure {
        guard !verb.isEmpty else { return Failure(.usage, "no command given", hint: "omvault --help lists them") }
        let names = command.configuration.subcommands.map { $0._commandName }.joined(separator: ", ")
        return Failure(.usage, "\"\(phrase(verb))\" needs a command", hint: "one of: \(names)")
    }

    private func phrase(_ words: [String]) -> String { words.joined(separator: " ") }
}

extension ParsableCommand {
    fileprivate static func refuseTypo(_ word: String, behind verb: [String]) throws(Failure) {
        guard !word.hasPrefix("-"), !configuration.subcommands.contains(where: { $0.answers(to: word) }),
            let meant = Suggestion.likelyTypo(word, of: configuration.subcommands.map { $0._commandName })
        else { return }
        let group = (["omvault"] + verb).joined(separator: " ")
        throw Failure(
            .usage, "no command \"\((verb + [word]).joined(separator: " "))\"",
            hint: "did you mean \"\(group) \(meant)\"?", "if \(word) is a user: \(group) -- \(word)")
    }

    static func answers(to word: String) -> Bool {
        word == _commandName || configuration.aliases.contains(word)
    }
}
