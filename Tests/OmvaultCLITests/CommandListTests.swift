import ArgumentParser
import Foundation
import Testing

@testable import omvault

@Suite("The list of commands in docs/reference/command-line.md") struct CommandListTests {
    @Test("the list has every command with the options that its help shows, and nothing else")
    func list() throws {
        let (common, opening, listed) = try page()
        let commands = Self.leaves(of: CommandTree.self, [])
        #expect(commands.count > 60 && common.count > 8 && opening.count == 5, "the tree or the list was not found")
        for (name, command) in commands {
            let shown = Set(Self.options(CommandTree.helpMessage(for: command)))
            #expect(common.isSubset(of: shown), "\(name) lacks \(common.subtracting(shown).sorted())")
            let own = shown.subtracting(common)
            let written = listed[name].map { $0.contains("*opening*") ? $0.subtracting(["*opening*"]).union(opening) : $0 }
            #expect(written == own, "\(name) needs the options \(own.sorted().joined(separator: " "))")
        }
        let gone = Set(listed.keys).subtracting(commands.map(\.name))
        #expect(gone.isEmpty, "there is no \(gone.sorted())")
    }

    /// Every command that has none below it, by the words that call it.
    private static func leaves(
        of command: any ParsableCommand.Type, _ path: [String]
    ) -> [(name: String, command: any ParsableCommand.Type)] {
        let below = command.configuration.subcommands
        guard !below.isEmpty else { return [(path.joined(separator: " "), command)] }
        return below.flatMap { leaves(of: $0, path + [$0._commandName]) }
    }

    /// What stands in front of an option's explanation, without the words for its values.
    private static func options(_ help: String) -> [String] {
        help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
            let head = line.dropFirst(2).replacing(/\s{2}.*/, with: "").replacing(/<[^>]*>/, with: "")
            return head.matches(of: /--?[A-Za-z0-9][a-z0-9-]*/).map { String($0.0) }
        }
    }

    private func page() throws -> (common: Set<String>, opening: Set<String>, listed: [String: Set<String>]) {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: repository.appending(path: "docs/reference/command-line.md"), encoding: .utf8)
        let rest = try #require(text.split(separator: "\n## Every command and option\n").last)
        let section = try #require(rest.split(separator: "\n## ").first)
        let parts = section.prefix { $0 != "|" }.split(separator: "*opening*")
        #expect(parts.count == 2)
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { $0.split(separator: "|") }
        let listed = rows.map { (Self.quoted($0[0]).first ?? "", Self.quoted($0[1])) }
        return (
            Set(Self.quoted(parts[0])).filter { $0.hasPrefix("-") }, Set(Self.quoted(parts[1])),
            Dictionary(listed.map { ($0.0, Set($0.1)) }) { first, _ in first.union(["a second row"]) }
        )
    }

    private static func quoted(_ text: Substring) -> [String] {
        text.matches(of: /`([^`]+)`|\*opening\*/).map { String($0.1 ?? $0.0) }
    }
}
