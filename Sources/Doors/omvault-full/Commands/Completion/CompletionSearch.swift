// Finds what can be at the cursor of a command line: it follows the commands, options and values before the cursor.

internal import ArgumentParser

struct CompletionSearch {
    enum Found: Equatable {
        case words([CompletionWord])
        /// The shell itself completes paths.
        case files, folders

        static let nothing = Found.words([])
    }

    private let words: [String]
    private let current: String
    private var command: any ParsableCommand.Type = CommandTree.self
    private var verb: [String] = []
    private var rest: ArraySlice<String>
    /// An option before the command that the current word is the value of.
    private var openOption: String?
    private var isUnknown = false
    private var isHelp = false

    /// - Parameter words: those before the current one, without the program's name and without quotes.
    init(_ words: [String], current: String) {
        (self.words, self.current) = (words, current)
        rest = words[...]
        while openOption == nil, !isUnknown, !command.configuration.subcommands.isEmpty, let word = rest.first { step(word) }
    }

    /// `--vault=` of `--vault=wo`.
    static func optionPrefix(of word: String) -> String {
        guard word.hasPrefix("--"), let end = word.firstIndex(of: "=") else { return "" }
        return String(word[...end])
    }

    private mutating func step(_ word: String) {
        let configuration = command.configuration
        if let takesValue = GlobalOptions.spellings[word] {
            if takesValue, rest.count == 1 { openOption = word }
            rest = rest.dropFirst(takesValue ? 2 : 1)
        } else if word == "help", verb.isEmpty {
            isHelp = true
            rest = rest.dropFirst()
        } else if let next = configuration.subcommands.first(where: { $0.answers(to: word) }) {
            command = next
            verb.append(next._commandName)
            rest = rest.dropFirst()
        } else if let implied = configuration.defaultSubcommand {
            command = implied
            verb.append(implied._commandName)
        } else if word.hasPrefix("-") {
            rest = rest.dropFirst()
        } else {
            isUnknown = true
        }
    }

    func found() -> Found {
        guard !isUnknown else { return .nothing }
        let commands = command.configuration.subcommands
        guard !commands.isEmpty else { return isHelp ? .nothing : atLeaf(verb, command) }
        let implied = command.configuration.defaultSubcommand
        // A group has the options of every command, as `status` has.
        let leaf = implied.map { (verb + [$0._commandName], $0) } ?? (["status"], StatusCommand.self)
        if let openOption {
            return CompletionArgument.all(of: leaf.1).first { $0.names.contains(openOption) }?
                .found(leaf.0, words, typed: current) ?? .nothing
        }
        if current.hasPrefix("-") { return atLeaf(leaf.0, leaf.1) }
        var names = commands.map { CompletionWord(text: $0._commandName, about: $0.configuration.abstract) }
        if implied != nil, case .words(let more) = atLeaf(leaf.0, leaf.1) { names += more }
        return .words(names)
    }

    /// What can follow the words behind a command's name.
    private func atLeaf(_ verb: [String], _ command: any ParsableCommand.Type) -> Found {
        let arguments = CompletionArgument.all(of: command)
        let positionals = arguments.filter(\.names.isEmpty)
        var used: Set<String> = [], count = 0, hasEnded = false
        var open: CompletionArgument?
        for word in rest {
            if open != nil {
                open = nil
            } else if hasEnded || !word.hasPrefix("-") || word == "-" {
                count += 1
            } else if word == "--" {
                hasEnded = true
            } else {
                let option = arguments.first { $0.names.contains(String(word.prefix { $0 != "=" })) }
                used.formUnion(option?.isRepeating == false ? option?.names ?? [] : [])
                if option?.takesValue == true, !word.contains("=") { open = option }
            }
        }
        if let open { return open.found(verb, words, typed: current) }
        if !hasEnded, current.hasPrefix("-") {
            let prefix = Self.optionPrefix(of: current)
            guard prefix.isEmpty else {
                let option = arguments.first { $0.takesValue && $0.names.contains(String(prefix.dropLast())) }
                return option?.found(verb, words, typed: String(current.dropFirst(prefix.count))) ?? .nothing
            }
            let left = arguments.filter { used.isDisjoint(with: $0.names) }
            return .words(left.flatMap { option in option.names.map { CompletionWord(text: $0, about: option.about) } })
        }
        let last = positionals.last.flatMap { $0.isRepeating ? $0 : nil }
        guard let argument = positionals.dropFirst(count).first ?? last else { return .nothing }
        return argument.found(verb, words, typed: current, isBehindDashes: hasEnded)
    }
}
