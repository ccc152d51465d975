// The help pages as the program shows them. The program that the tests start is optimised, the parser in the tests is not.

import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import omvault_full

/// The help page of a command.
struct ShownHelp {
    /// The words that call the command, without "omvault".
    let words: [String]
    let page: String
    private let pageWithoutSpaces: String

    private init(words: [String], page: String) {
        (self.words, self.page, pageWithoutSpaces) = (words, page, Self.withoutSpaces(page))
    }

    /// The help page of each command, for a terminal of 200 columns.
    static let wide = Task { try await all(columns: 200) }

    /// The help page of each command, for a terminal of this width.
    static func all(columns: Int) async throws -> [ShownHelp] {
        let commands = below(CommandTree.self, [])
        let ran = try await bash(
            #"while read -r words; do printf '\036'; omvault $words --help; done <<< "$COMMANDS""#,
            environment: [
                "COMMANDS": commands.map { $0.joined(separator: " ") }.joined(separator: "\n"), "COLUMNS": "\(columns)",
            ])
        let pages = ran.output.split(separator: "\u{1E}")
        try #require(pages.count == commands.count, "\(ran.errors)")
        return zip(commands, pages).map { ShownHelp(words: $0, page: String($1)) }
    }

    private static func below(_ command: any ParsableCommand.Type, _ words: [String]) -> [[String]] {
        [words] + command.configuration.subcommands.flatMap { below($0, words + [$0._commandName]) }
    }

    /// The names of the options that the page lists: `-o`, `--out`.
    var optionNames: Set<String> {
        let labels = page.split(separator: "\n").filter { $0.hasPrefix("  -") }.map { $0.dropFirst(2).split(separator: "  ")[0] }
        let words = labels.flatMap { $0.split { ", /".contains($0) } }
        return Set(words.filter { $0.hasPrefix("-") }.map(String.init))
    }

    /// Whether the page has the text, wherever its lines break.
    func says(_ text: String) -> Bool { pageWithoutSpaces.contains(Self.withoutSpaces(text)) }

    private static func withoutSpaces(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 != 32 && $0 != 10 }, as: UTF8.self)
    }
}

/// A command as the parser knows it, with those below it.
struct ParsedCommand: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var typed: String { (kind == "long" ? "--" : "-") + name }
        }

        let shouldDisplay: Bool
        let abstract: String?
        let names: [Name]?
    }

    let commandName: String
    let arguments: [Argument]?
    let subcommands: [ParsedCommand]?

    /// The root of the program's commands.
    static let root = Task {
        struct Dump: Decodable { let command: ParsedCommand }
        let ran = try await bash("omvault --experimental-dump-help")
        return try JSONDecoder().decode(Dump.self, from: Data(ran.output.utf8)).command
    }

    /// The command that the words call.
    func command(_ words: [String]) throws -> ParsedCommand {
        guard let word = words.first else { return self }
        return try #require(subcommands?.first { $0.commandName == word }).command(Array(words.dropFirst()))
    }
}
