// A command's help in the order of its use: its own arguments and options first, then what opens the vault, then the options that
// every command takes. The parser knows one list of options, the shared ones first.

internal import ArgumentParser

struct HelpPage {
    private let head: [String]
    private var sections: [Section] = []

    private struct Section {
        let title: String
        var entries: [[String]] = []

        var lines: [String] { [title + ":"] + entries.flatMap(\.self) + [""] }
    }

    /// What the parser wrote for `--help`, with its sections in our order. Anything else, such as a completion script, stays as
    /// it is.
    static func ordered(_ text: String, _ width: Int) -> String {
        guard text.hasPrefix("OVERVIEW: ") else { return text }
        return HelpPage(text).text(width)
    }

    private init(_ text: String) {
        let lines = text.replacing("<subcommand>", with: "<command>").split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        let start = lines.firstIndex { $0.hasPrefix("USAGE: ") } ?? lines.startIndex
        let end = lines[start...].firstIndex(of: "") ?? lines.endIndex
        head = Array(lines[..<end])
        for line in lines[end...] {
            if line.hasSuffix(":"), !line.hasPrefix(" ") {
                sections.append(Section(title: Self.title(line)))
            } else if !line.isEmpty, !line.hasPrefix("  See '"), let last = sections.indices.last {
                // A deeper line goes on with the entry above it.
                if line.hasPrefix("   "), !sections[last].entries.isEmpty {
                    sections[last].entries[sections[last].entries.count - 1].append(line)
                } else {
                    sections[last].entries.append([line])
                }
            }
        }
    }

    /// `OPENING A VAULT SUBCOMMANDS:` is a group of commands.
    private static func title(_ line: String) -> String {
        let title = line.dropLast()
        return title == "SUBCOMMANDS" ? "COMMANDS" : String(title).replacing(" SUBCOMMANDS", with: "")
    }

    private func text(_ width: Int) -> String {
        let isRoot = sections.contains { $0.title == CommandTree.groups[0].name.uppercased() }
        let shared = Self.entries(GlobalOptions.helpMessage(columns: width))
        let unlocking =
            Self.entries(UnlockOptions.helpMessage(columns: width))
            + Self.entries(CredentialUnlockOptions.helpMessage(columns: width))
        var own = sections.filter { $0.title != "OPTIONS" }
        var (opening, every) = (Section(title: "OPENING THE VAULT"), Section(title: "EVERY COMMAND TAKES"))
        var options = Section(title: "OPTIONS")
        for entry in sections.first(where: { $0.title == "OPTIONS" })?.entries ?? [] {
            if shared.contains(entry) || entry[0].hasPrefix("  --version ") {
                every.entries.append(entry)
            } else if unlocking.contains(entry) {
                opening.entries.append(entry)
            } else {
                options.entries.append(entry)
            }
        }
        if isRoot { every.entries = shared.dropLast() + every.entries }
        own += [options, opening, every].filter { !$0.entries.isEmpty }
        var lines = head + [""] + own.flatMap(\.lines)
        if sections.contains(where: { $0.title != "ARGUMENTS" && $0.title != "OPTIONS" }) {
            lines += ["omvault COMMAND --help explains a command, with examples."]
        } else {
            lines.removeLast()
        }
        return lines.joined(separator: "\n")
    }

    private static func entries(_ message: String) -> [[String]] {
        HelpPage(message).sections.first { $0.title == "OPTIONS" }?.entries ?? []
    }
}
