import ArgumentParser
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("Plain lines of get") struct PlainGetTests {
    /// What a line of `get` says.
    private struct Line: Equatable {
        let words: [String?]
        let numbers: [UInt64?]
        let flags: [Bool]

        init(_ get: GetCommand) {
            words = [
                get.item.item, get.item.field, get.field, get.global.vault, get.global.format?.rawValue,
                get.unlock.option("--password-from"), get.unlock.option("--recovery-from"), get.unlock.option("--key-file-from"),
                get.unlock.passwordOption,
            ]
            numbers = [get.rev, get.unlock.keyslot.map(UInt64.init)]
            flags = [
                get.reveal, get.acceptRollback, get.unlock.noAgent, get.global.json, get.global.noInput, get.global.yes,
                get.global.quiet, get.printsRows,
            ]
        }
    }

    @Test(
        "a plain line means the same as for the parser",
        arguments: [
            "get a", "get a:b", "get get", "get '\"a:b\":c'", "--vault v get a", "-V v get a", "get -V v a",
            "get a --vault ./v.omv", "get --no-agent a", "get a --password-from file:p --no-agent",
            "get --password-from env:P a:b --vault v",
            "get a --password-from nonsense", "get a --password-from ''", "get ''", "get a --vault ''",
        ])
    func sameAsParsed(line: String) throws {
        let arguments = try #require(CommandWords.split(line))
        let plain = try #require(GetCommand(plain: arguments))
        let parsed = try CommandLineArguments(arguments, root: CommandTree.self).parse()
        #expect(Line(plain) == Line(try #require(parsed as? GetCommand)))
    }

    @Test(
        "every other line is left to the parser",
        arguments: [
            "", "get", "a get", "ls a", "get a b", "get a --rev 3", "get a --json", "get a -q", "get -- a", "get -a",
            "get --help", "get a --vault", "get a --vault v -V w", "get a --no-agent --no-agent", "get a --vault=v",
            "get a --vault -v",
            "--no-agent get a", "--password-from file:p get a", "--json get a",
            "get a --password-from file:p --password-from file:q",
        ])
    func notPlain(line: String) throws {
        #expect(GetCommand(plain: try #require(CommandWords.split(line))) == nil)
    }

    @Test("an error of a plain line has the same words, hint and exit code as with the parser")
    func sameErrors() async throws {
        for line in ["get a:", "get missing --no-agent", "--vault missing get a", "get 'a:b:c'"] {
            let plain = try await bash("omvault-full \(line)")
            let parsed = try await bash("omvault-full \(line) --rev 1")
            #expect(plain.status == parsed.status && plain.status != 0, "\(line)")
            #expect(plain.errors == parsed.errors, "\(line)")
        }
    }
}

extension UnlockOptions {
    /// The source that the option names.
    fileprivate func option(_ name: String) -> String? {
        given.first { $0.key == name }?.value.map { "\($0.source.map { "\($0)" } ?? "none")" }
    }
}
