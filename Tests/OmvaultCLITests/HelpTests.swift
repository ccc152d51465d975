// Help pages: groups of commands, a command's own options first, and examples that work.

import ArgumentParser
import TestSupport
import Testing

@testable import omvault_full

@Suite("Help") struct HelpTests {
    @Test("the first screen has examples, the commands in groups, where to read more, and the shared options last")
    func firstScreen() async throws {
        let page = try await bash("omvault --help").output
        let lines = page.split(separator: "\n").map(String.init)
        let titles = lines.filter { $0.hasSuffix(":") && !$0.hasPrefix(" ") }
        #expect(
            titles == [
                "VAULT:", "OPENING A VAULT:", "KEEPING A VAULT SAFE:", "SEVERAL DEVICES:", "LOGINS:", "TOOLKIT:",
                "AGENT AND MAINTENANCE:", "EVERY COMMAND TAKES:",
            ])
        #expect(page.contains("\n  omvault get github:token") && page.contains("README.md"))
        #expect(page.contains("\n  completion ") && page.contains("\n  -V, --vault "))
        for group in CommandTree.groups {
            for command in group.subcommands {
                let abstract = command.configuration.abstract
                #expect(abstract.count <= 52, "one short line: \(abstract)")
                let name = command._commandName
                #expect(
                    lines.contains("  " + name + String(repeating: " ", count: 24 - name.count) + abstract), "\(name)")
            }
        }
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test("a command's own options come first, then those that open the vault, then those of every command")
    func order() async throws {
        let page = try await bash("omvault get --help").output
        let titles = ["\nARGUMENTS:\n", "\nOPTIONS:\n", "\nOPENING THE VAULT:\n", "\nEVERY COMMAND TAKES:\n"]
        let places = titles.map { page.firstRange(of: $0)?.lowerBound }
        let found = places.compactMap(\.self)
        #expect(found.count == 4 && found == found.sorted(), "\(page)")
        let own = try #require(page.split(separator: "\nOPTIONS:\n").last?.split(separator: "\n\n").first)
        #expect(own.hasPrefix("  --field ") && own.contains("  --rev ") && !own.contains("--vault") && !own.contains("-from"))
        // An option of a verb that is called like one of those that open the vault is its own.
        let initPage = try await bash("omvault init --help").output
        #expect(!initPage.contains("OPENING THE VAULT"))
        #expect(try await bash("omvault key --help").output.contains("\nCOMMANDS:\n  slots "))
    }

    @Test("help shows every option with its text, at any width", arguments: [40, 80, 200])
    func nothingLost(width: Int) async throws {
        let root = try await ParsedCommand.root.value
        var count = 0
        for help in try await width == 200 ? ShownHelp.wide.value : ShownHelp.all(columns: width) {
            let names = help.optionNames
            for argument in try root.command(help.words).arguments ?? [] where argument.shouldDisplay {
                count += 1
                for name in argument.names ?? [] { #expect(names.contains(name.typed), "\(help.words): \(name.typed)") }
                #expect(help.says(argument.abstract ?? ""), "\(help.words): \(argument)")
            }
        }
        #expect(count > 800)
    }

    @Test("every command has an example of itself, and every example is accepted by its command")
    func examples() throws {
        var count = 0
        func check(_ command: any ParsableCommand.Type) throws {
            let configuration = command.configuration
            let lines = Example.lines(of: configuration.discussion)
            var ofItself = 0
            for line in lines {
                for words in Example.commands(in: line) {
                    count += 1
                    do {
                        if type(of: try CommandLineArguments(words, root: CommandTree.self).parse()) == command { ofItself += 1 }
                    } catch { Issue.record("\(command): \(line): \(CommandTree.message(for: error)) \(error)") }
                }
            }
            if configuration.subcommands.isEmpty { #expect(ofItself > 0, "\(command) has no example of itself") }
            try configuration.subcommands.forEach(check)
        }
        try check(CommandTree.self)
        #expect(count > 120)
    }

    @Test("no verb in the list of foreign verbs is a command of omvault")
    func foreignVerbs() {
        let commands = Set(CommandTree.configuration.subcommands.map { $0._commandName })
        let names = ForeignVerb.all.flatMap(\.names)
        #expect(commands.isDisjoint(with: names), "\(commands.intersection(names)) is a command now")
        #expect(Set(names).count == names.count)
        #expect(
            ["edit", "mv", "cp", "gen", "clip", "otp", "import", "export", "run"].allSatisfy { name in
                commands.contains(name) || names.contains(name)
            })
    }

    @Test("a help page that mentions the SDK says whose SDK it is")
    func sdk() async throws {
        for help in try await ShownHelp.wide.value
        where help.page.replacing("OracleIDMMobileSDKConfigurationKey", with: "").contains("SDK") {
            #expect(help.says("Oracle's IDM Mobile SDK"), "\(help.words)")
        }
    }
}

/// The lines of a help page that can be copied into a shell.
private enum Example {
    static func lines(of discussion: String) -> [String] {
        let joined = discussion.replacing("\\\n", with: " ")
        return joined.split(separator: "\n").map { String($0.drop { $0 == " " }) }.filter { $0.hasPrefix("omvault ") }
    }

    /// The arguments of each omvault in a line, without what the shell takes for itself.
    static func commands(in line: String) -> [[String]] {
        let line = line.split(separator: /\s+#\s/)[0]
        return line.split(separator: /\s(?:&&|\|)\s/).compactMap { part in
            let words = CommandWords.split(String(part.replacing(/\s[<>]\s?\S+/, with: "")))
            guard let words, words.first == "omvault" else { return nil }
            return Array(words.dropFirst())
        }
    }
}
