// A command's page in the manual, in no form yet. Man pages and the reference are written from it, and it is read from the same
// help as `--help`.

internal import ArgumentParser

struct CommandPage {
    /// A line of a section: what a user types, such as `-o, --out <file>`, and what it means.
    struct Entry: Equatable {
        let label: String
        let text: String
    }

    struct Section {
        let title: String
        let entries: [Entry]
    }

    let command: any ParsableCommand.Type
    /// The words that call the command, without "omvault".
    let words: [String]
    let abstract: String
    let usage: String
    let paragraphs: [String]
    let examples: [String]
    /// Arguments and options, in the order of the help.
    let sections: [Section]
    /// The commands below this one, by groups. A group of commands has one group without a name.
    let groups: [(name: String, pages: [CommandPage])]

    /// Every command, as a tree.
    static func root() -> CommandPage { CommandPage(CommandTree.self, []) }

    private init(_ command: any ParsableCommand.Type, _ words: [String]) {
        let configuration = command.configuration
        // So wide that the parser wraps nothing.
        let width = 10_000
        let help = HelpPage(CommandTree.helpMessage(for: command, columns: width))
        (self.command, self.words) = (command, words)
        abstract = configuration.abstract
        (paragraphs, examples) = Self.split(configuration.discussion)
        sections = help.sections(width).filter { !$0.listsCommands }
            .map { Section(title: $0.title, entries: $0.entries.map(Self.entry)) }
        usage = Self.usage(help.usage, Self.name(words))
        let named = configuration.groupedSubcommands.map { ($0.name, $0.subcommands) }
        groups = (named.isEmpty ? [("", configuration.subcommands)] : named)
            .map { name, commands in (name, commands.map { CommandPage($0, words + [$0._commandName]) }) }
            .filter { !$0.1.isEmpty }
    }

    var below: [CommandPage] { groups.flatMap(\.pages) }

    /// This page and all pages below it, in the order of the help.
    var all: [CommandPage] { [self] + below.flatMap(\.all) }

    /// `omvault key add-slot`
    var name: String { Self.name(words) }

    func entries(_ title: String) -> [Entry] { sections.first { $0.title == title }?.entries ?? [] }

    /// The other commands that the text names in quotes: `'omvault key slots'`.
    var mentioned: [[String]] {
        let text = (paragraphs + sections.flatMap { $0.entries.map(\.text) }).joined(separator: "\n")
        var found: [[String]] = []
        for quoted in text.matches(of: /'omvault ([^']+)'/) {
            guard let named = Self.command(of: quoted.1.split(separator: " ").map(String.init)) else { continue }
            if named != words, !found.contains(named) { found.append(named) }
        }
        return found
    }

    /// The command that a line calls, without its arguments. Nil if there is none.
    private static func command(of line: [String]) -> [String]? {
        var (found, command): ([String], any ParsableCommand.Type) = ([], CommandTree.self)
        for word in line {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            found.append(word)
            command = next
        }
        return found.isEmpty ? nil : found
    }

    /// The parser's usage with `[<options>]` for all options that can be left out. The parser writes them only if they are few.
    private static func usage(_ whole: String, _ name: String) -> String {
        let rest = whole.dropFirst(name.count).replacing(/\ \[--[^\]]*\]|\ \[?<options>\]?/, with: "")
        return name + (rest == " <command>" ? "" : " [<options>]") + rest
    }

    private static func name(_ words: [String]) -> String { (["omvault"] + words).joined(separator: " ") }

    /// Lines with an indent are examples; a paragraph is one line here.
    private static func split(_ discussion: String) -> (paragraphs: [String], examples: [String]) {
        var (paragraphs, examples): ([String], [String]) = ([], [])
        var isInside = false
        for line in discussion.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix(" ") {
                examples.append(String(line.trimmingPrefix("  ")))
            } else if isInside, !line.isEmpty {
                paragraphs[paragraphs.count - 1] += " " + line
            } else if !line.isEmpty {
                paragraphs.append(line)
            }
            isInside = !line.isEmpty && !line.hasPrefix(" ")
        }
        return (paragraphs, examples)
    }

    /// The parser puts the text at one column, or below a label that reaches that column.
    private static func entry(_ lines: [String]) -> Entry {
        let column = 26
        let isBeside = lines.count == 1 && lines[0].count > column && lines[0].dropFirst(column - 1).first == " "
        let label = isBeside ? String(lines[0].prefix(column)) : lines[0]
        let text = isBeside ? String(lines[0].dropFirst(column)) : lines.dropFirst().joined(separator: " ")
        return Entry(label: label.trimmed, text: text.trimmed)
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
