/// A page in Markdown, with lines of at most 120 columns.
struct Markdown {
    private(set) var text: String

    /// - Parameter source: The command that writes this page.
    init(writtenBy source: String) {
        text = "<!-- Generated from the commands' own help by '\(source)'. -->\n"
    }

    mutating func heading(_ level: Int, _ title: String) {
        text += "\n" + String(repeating: "#", count: level) + " " + title + "\n"
    }

    /// A paragraph of a help text.
    mutating func paragraph(_ prose: String) { paragraph(markdown: Self.marked(prose)) }

    /// A paragraph that is Markdown already.
    mutating func paragraph(markdown: String) {
        text += "\n" + HelpText.wrapped(markdown.split(separator: " "), Self.width).joined(separator: "\n") + "\n"
    }

    mutating func block(_ lines: [String], language: String = "") {
        text += "\n```\(language)\n" + lines.map { $0 + "\n" }.joined() + "```\n"
    }

    /// A list. Each entry is Markdown already.
    mutating func list(_ entries: [String]) {
        text += "\n"
        for entry in entries {
            text += HelpText.wrapped(("- " + entry).split(separator: " "), Self.width - 2).joined(separator: "\n  ") + "\n"
        }
    }

    /// Addresses that `[name]` in the text leads to.
    mutating func links(_ links: [(name: String, address: String)]) {
        text += "\n" + links.map { "[\($0.name)]: \($0.address)\n" }.joined()
    }

    mutating func table(_ header: [String], _ rows: [[String]]) {
        text += "\n" + Self.row(header) + Self.row(header.map { _ in "---" })
        for row in rows { text += Self.row(row) }
    }

    static func code(_ words: String) -> String { "`" + words + "`" }

    /// The prose of a help text, with everything that a user types as code.
    static func marked(_ prose: String) -> String {
        ProseSpan.spans(of: prose).map { span in
            switch span {
            case .plain(let words): words
            case .typed(let words): code(words)
            }
        }.joined()
    }

    private static let width = 120

    private static func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }

}
