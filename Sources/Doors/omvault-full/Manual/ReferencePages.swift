// The pages of docs/reference that omvault writes about itself: its commands, and its exit codes.

internal import OMShell

enum ReferencePages {
    /// What writes all pages. They lie below `docs/reference`.
    static let source = "omvault manual --markdown --install docs/reference"

    /// Each page, by its path.
    static func all(_ root: CommandPage) -> [(path: String, text: String)] {
        [("commands/README.md", overview(root))] + root.below.map { ("commands/\($0.words[0]).md", text($0)) }
            + [("exit-codes.md", ExitCodePage.text())]
    }

    /// The page of one command. That of a group has all its commands.
    static func text(_ page: CommandPage) -> String {
        guard !page.words.isEmpty else { return overview(page) }
        var markdown = Markdown(writtenBy: source)
        add(page, 1, to: &markdown)
        return markdown.text
    }

    private static func overview(_ root: CommandPage) -> String {
        var markdown = Markdown(writtenBy: source)
        markdown.heading(1, "Every command of omvault")
        markdown.paragraph(
            markdown: """
                Each page has a command's options, examples and exit codes, as `omvault COMMAND --help` and \
                `omvault manual COMMAND | man -l -` show them. What all commands have in common, such as the sources of \
                secrets, is in [the command line's conventions](../command-line.md).
                """)
        for group in root.groups {
            markdown.heading(2, group.name)
            markdown.list(group.pages.flatMap(\.all).map(line))
        }
        markdown.heading(2, "Options of every command")
        add(root.entries(HelpPage.Section.every), to: &markdown)
        markdown.paragraph("Every command can exit with these codes:")
        add(CommandPage.exitStatusesOfEvery, to: &markdown)
        markdown.heading(2, "Options that open a vault")
        markdown.paragraph(
            markdown: """
                Give at most one of the first three. Without them, and without an open vault in the agent, omvault asks for the \
                password. `omvault credential` has a `--password-from` of its own, so it calls the vault's \
                `--vault-password-from`.
                """)
        add(opening(root), to: &markdown)
        markdown.paragraph("A command that opens a vault can exit with these codes:")
        add(CommandPage.exitStatusesOfOpening, to: &markdown)
        return markdown.text
    }

    private static func add(_ page: CommandPage, _ level: Int, to markdown: inout Markdown) {
        markdown.heading(level, page.name)
        markdown.paragraph(page.abstract)
        markdown.block([page.usage])
        for paragraph in page.paragraphs { markdown.paragraph(paragraph) }
        if !page.below.isEmpty { markdown.list(page.below.map(line)) }
        if !page.examples.isEmpty {
            markdown.heading(level + 1, "Examples")
            markdown.block(page.examples, language: "sh")
        }
        if page.below.isEmpty { addOptions(page, level + 1, to: &markdown) }
        for below in page.below { add(below, level + 1, to: &markdown) }
    }

    /// A command's own arguments, options and exit codes, and where the others are.
    private static func addOptions(_ page: CommandPage, _ level: Int, to markdown: inout Markdown) {
        let arguments = page.entries(HelpPage.Section.arguments)
        if !arguments.isEmpty {
            markdown.heading(level, "Arguments")
            add(arguments, to: &markdown)
        }
        markdown.heading(level, "Options")
        let options = page.entries(HelpPage.Section.options)
        if !options.isEmpty { add(options, to: &markdown) }
        let opens = !page.entries(HelpPage.Section.opening).isEmpty
        markdown.paragraph(
            markdown: """
                \(options.isEmpty ? "It takes" : "It also takes") \
                \(opens ? "[the options that open a vault](README.md#options-that-open-a-vault) and " : "")\
                [the options of every command](README.md#options-of-every-command).\
                \(page.endsAsAnotherProgram ? "" : " Their exit codes apply too.")
                """)
        guard !page.ownExitStatuses.isEmpty else { return }
        markdown.heading(level, "Exit codes")
        add(page.ownExitStatuses, to: &markdown)
    }

    private static func add(_ entries: [CommandPage.Entry], to markdown: inout Markdown) {
        markdown.list(entries.map { "\(Markdown.code($0.label)): \(Markdown.marked($0.text))" })
    }

    private static func add(_ statuses: [ExitStatus], to markdown: inout Markdown) {
        markdown.list(statuses.map { "[\($0.rawValue)](../exit-codes.md): \(Markdown.marked($0.meaning))" })
    }

    /// The options of all commands that open a vault, each once.
    private static func opening(_ root: CommandPage) -> [CommandPage.Entry] {
        root.all.flatMap { $0.entries(HelpPage.Section.opening) }
            .reduce(into: []) { found, entry in if !found.contains(entry) { found.append(entry) } }
    }

    /// A command in a list, with a link to its page or to its part of its group's page.
    private static func line(_ page: CommandPage) -> String {
        let anchor = page.words.count == 1 ? "" : "#omvault-" + page.words.joined(separator: "-")
        return "[\(page.words.joined(separator: " "))](\(page.words[0]).md\(anchor)): \(Markdown.marked(page.abstract))"
    }
}
