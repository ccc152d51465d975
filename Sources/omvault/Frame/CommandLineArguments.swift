// Global options may stand before the verb, where ArgumentParser does not look for them. Here they are moved behind it,
// so that a verb declares them once and both places work.

internal import ArgumentParser

/// `omvault --vault work crypto --json hash f` as ArgumentParser wants it: `crypto hash --vault work --json f`.
struct CommandLineArguments {
    /// The verb's names, the global options that stood before or between them, and the rest as it was typed.
    let arguments: [String]
    private let verb: [String]

    /// - Throws: a usage ``Failure`` for an unknown command, an unknown option before it, or no command at all.
    init(_ typed: [String], root: any ParsableCommand.Type) throws(Failure) {
        var rest = typed[...]
        var verb: [String] = []
        var hoisted: [String] = []
        var isQuestion = typed.isEmpty
        var command = root

        walk: while let word = rest.first {
            if let width = Self.globalWidth(rest) {
                hoisted += rest.prefix(width)
                rest = rest.dropFirst(width)
                continue
            }
            if Self.questions.contains(word) {
                isQuestion = true
                hoisted.append(word)
                rest = rest.dropFirst()
                continue
            }
            // `help crypto hash` asks what `crypto hash --help` asks.
            if word == "help", verb.isEmpty, !isQuestion {
                isQuestion = true
                hoisted.append("--help")
                rest = rest.dropFirst()
                continue
            }
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty { break walk }
            if let next = subcommands.first(where: { $0.answers(to: word) }) {
                verb.append(next._commandName)
                command = next
                rest = rest.dropFirst()
                continue
            }
            if command.configuration.defaultSubcommand != nil { break walk }
            if word == "--" { break walk }
            if word.hasPrefix("-"), !Self.belongsToParser(word) { throw Self.unknownOption(word) }
            if word.hasPrefix("-") { break walk }
            throw Self.unknownCommand(word, after: verb, among: subcommands)
        }

        if !isQuestion, let implied = command.configuration.defaultSubcommand {
            verb.append(implied._commandName)
            command = implied
        }
        let isGroup = !command.configuration.subcommands.isEmpty
        if isGroup, !isQuestion, !rest.contains(where: Self.belongsToParser) {
            throw Self.missingCommand(after: verb, among: command.configuration.subcommands)
        }
        // A group knows no global options: a question to it is asked without them.
        if isGroup { hoisted.removeAll { !Self.questions.contains($0) } }
        self.verb = verb
        arguments = verb + hoisted + rest
    }

    /// What ArgumentParser said, in our anatomy.
    func usageFailure(_ message: String) -> Failure {
        let sentence = message.prefix(1).lowercased() + message.dropFirst()
        return Failure(.usage, sentence.shown, hint: (["omvault"] + verb + ["--help"]).joined(separator: " "))
    }
}

extension CommandLineArguments {
    private static let questions: Set = ["--help", "-h", "--help-hidden", "--version"]

    /// How many words a global option at the front takes; nil when there is none.
    private static func globalWidth(_ words: ArraySlice<String>) -> Int? {
        guard let first = words.first else { return nil }
        if let takesValue = GlobalOptions.spellings[first] { return takesValue && words.count > 1 ? 2 : 1 }
        let name = first.prefix { $0 != "=" }
        return first.hasPrefix("--") && GlobalOptions.spellings[String(name)] == true ? 1 : nil
    }

    /// ArgumentParser's own flags at the root: completion scripts and the help as data.
    private static func belongsToParser(_ word: String) -> Bool {
        word.hasPrefix("--generate-completion-script") || word.hasPrefix("--experimental-dump-help")
    }

    private static func unknownOption(_ word: String) -> Failure {
        // The value behind "=" may be a secret that was meant for another program.
        let name = String(word.prefix { $0 != "=" })
        let known = Suggestion.closest(to: name, among: GlobalOptions.spellings.keys)
        return Failure(
            .usage, "unknown option \(name.shown) before the command",
            hint: known.map { "did you mean \($0)?" } ?? "a command's own options follow it; omvault --help")
    }

    private static func unknownCommand(
        _ word: String, after verb: [String], among commands: [any ParsableCommand.Type]
    ) -> Failure {
        let known = Suggestion.closest(to: word, among: commands.map { $0._commandName })
        let help = (["omvault"] + verb + ["--help"]).joined(separator: " ")
        return Failure(
            .usage, "no command \"\((verb + [word]).joined(separator: " ").shown)\"",
            hint: known.map { "did you mean \"\((verb + [$0]).joined(separator: " "))\"?  (\(help))" } ?? help)
    }

    private static func missingCommand(
        after verb: [String], among commands: [any ParsableCommand.Type]
    ) -> Failure {
        let names = commands.map { $0._commandName }.joined(separator: ", ")
        return Failure(
            .usage, verb.isEmpty ? "no command given" : "\"\(verb.joined(separator: " "))\" needs a command",
            hint: "one of: \(names)")
    }
}

extension ParsableCommand {
    fileprivate static func answers(to word: String) -> Bool {
        word == _commandName || configuration.aliases.contains(word)
    }
}
