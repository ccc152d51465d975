// A command's help in the order of its use: its own arguments and options first, then what opens the vault, then the options that
// every command takes. The parser knows one list of options, the shared ones first.

internal import ArgumentParser

struct HelpPage {
    private let head: [String]
    /// As the parser lists them.
    private var listed: [Section] = []

    /// Entries under a title. A title that is none of these four is a group of commands.
    struct Section {
        static let (arguments, options) = ("ARGUMENTS", "OPTIONS")
        static let (opening, every) = ("OPENING THE VAULT", "EVERY COMMAND TAKES")

        let title: String
        /// The lines of each entry, as the parser wrapped them.
        fileprivate(set) var entries: [[String]] = []

        var listsCommands: Bool { ![Self.arguments, Self.options, Self.opening, Self.every].contains(title) }

        fileprivate var lines: [String] { [title + ":"] + entries.flatMap(\.self) + [""] }
    }

    /// What the parser wrote for `--help`, with its sections in our order. Anything else, such as a completion script, stays as
    /// it is.
    static func ordered(_ text: String, _ width: Int) -> String {
        guard text.hasPrefix("OVERVIEW: ") else { return text }
        return HelpPage(text).text(width)
    }

    /// - Parameter text: What the parser wrote for `--help`.
    init(_ text: String) {
        let lines = text.replacing("<subcommand>", with: "<command>").split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        let start = lines.firstIndex { $0.hasPrefix("USAGE: ") } ?? lines.startIndex
        let end = lines[start...].firstIndex(of: "") ?? lines.endIndex
        head = Array(lines[..<end])
        for line in lines[end...] {
            if line.hasSuffix(":"), !line.hasPrefix(" ") {
                listed.append(Section(title: Self.title(line)))
            } else if !line.isEmpty, !line.hasPrefix("  See '"), let last = listed.indices.last {
                // A deeper line goes on with the entry above it.
                if line.hasPrefix("   "), !listed[last].entries.isEmpty {
                    listed[last].entries[listed[last].entries.count - 1].append(line)
                } else {
                    listed[last].entries.append([line])
                }
            }
        }
    }

    /// `OPENING A VAULT SUBCOMMANDS:` is a group of commands.
    private static func title(_ line: String) -> String {
        let title = line.dropLast()
        return title == "SUBCOMMANDS" ? "COMMANDS" : String(title).replacing(" SUBCOMMANDS", with: "")
    }

    /// The usage without its title; a wide page has it in one line.
    var usage: String { head.last?.replacing("USAGE: ", with: "") ?? "" }

    /// The words that call the command.
    private var command: String {
        usage.split(separator: " ").prefix { !$0.hasPrefix("<") && !$0.hasPrefix("[") }.joined(separator: " ")
    }

    /// The sections in our order.
    ///
    /// - Parameter width: The width that the parser wrapped the text to.
    func sections(_ width: Int) -> [Section] {
        let isRoot = listed.contains { $0.title == CommandTree.groups[0].name.uppercased() }
        let shared = Self.entries(GlobalOptions.helpMessage(columns: width))
        let unlocking =
            Self.entries(UnlockOptions.helpMessage(columns: width))
            + Self.entries(CredentialUnlockOptions.helpMessage(columns: width))
        let own = listed.filter { $0.title != Section.options }
        var (opening, every) = (Section(title: Section.opening), Section(title: Section.every))
        var options = Section(title: Section.options)
        for entry in listed.first(where: { $0.title == Section.options })?.entries ?? [] {
            if shared.contains(entry) || entry[0].hasPrefix("  --version ") {
                every.entries.append(entry)
            } else if unlocking.contains(entry) {
                opening.entries.append(entry)
            } else {
                options.entries.append(entry)
            }
        }
        if isRoot { every.entries = shared.dropLast() + every.entries }
        return own + [options, opening, every].filter { !$0.entries.isEmpty }
    }

    private func text(_ width: Int) -> String {
        let sections = sections(width)
        var lines = head + [""] + sections.flatMap(\.lines)
        if sections.contains(where: \.listsCommands) {
            lines += ["\(command) COMMAND --help explains a command, with examples."]
        } else {
            lines.removeLast()
        }
        return lines.joined(separator: "\n")
    }

    private static func entries(_ message: String) -> [[String]] {
        HelpPage(message).listed.first { $0.title == Section.options }?.entries ?? []
    }
}
