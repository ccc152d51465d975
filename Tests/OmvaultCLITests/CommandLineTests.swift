import ArgumentParser
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("The command line") struct CommandLineTests {
    @Test("in the help of every command, paragraphs fill the width, and an example is one line")
    func helpText() async throws {
        #expect(
            try await bash("omvault get --help").output.contains(
                """
                ITEM prints the item's main secret: "password" of a login, a database or an item
                without a type, "notes" of a note, "key" of an api-key, or the only concealed
                field. ITEM:FIELD prints that field. The output is the exact bytes, with no
                newline added. 'omvault show' prints the whole item. A value above 1 MiB goes
                only into a file or a pipe.

                  omvault get github

                """))
        #expect(
            try await bash("COLUMNS=50 omvault get --help").output.contains(
                "secret: \"password\" of\na login, a database or an item without a type,\n"))
        let words = "a bb\nccc\n\n  omvault x\n--y z\n"
        #expect(HelpText.filled("OVERVIEW: \(words)\nUSAGE: x", 80) == "OVERVIEW: a bb ccc\n\n  omvault x --y z\n\nUSAGE: x")
        #expect(HelpText.filled(words, 80) == words)
        #expect(try await bash("omvault --generate-completion-script bash | bash -n").status == 0)
        var pages = 0
        func check(_ command: any ParsableCommand.Type) {
            let page = HelpText.filled(CommandTree.helpMessage(for: command, columns: 80), 80)
            let lines = page.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.hasPrefix("USAGE: ") }
            for (line, next) in zip(lines, lines.dropFirst()) where !next.isEmpty && !next.hasPrefix(" ") {
                guard !line.isEmpty else { continue }
                #expect(!line.hasPrefix(" "), "\(command): \(next)")
                let first = next.prefix { $0 != " " }
                #expect(line.count + 1 + first.count > 80, "\(command): \(line)")
                #expect(line.count <= 80, "\(command): \(line)")
            }
            pages += 1
            command.configuration.subcommands.forEach(check)
        }
        check(CommandTree.self)
        #expect(pages > 60)
    }

    @Test("control characters in arguments do not reach the terminal")
    func escapes() async throws {
        let ran = try await bash(#"omvault $'\e]0;owned\a'"#)
        #expect(!ran.errors.contains("\u{1B}"))
        #expect(ran.errors.contains(#"\u{1b}]0;owned\u{7}"#))
    }

    @Test("every exit code is listed, for people at a terminal, for scripts in a pipe, and as JSON")
    func exitCodes() async throws {
        let plain = try await bash("omvault exit-codes").output.split(separator: "\n")
        #expect(plain.count == ExitStatus.allCases.count)
        #expect(plain[0] == "0\tok\tsuccess, granted or match")
        let table = try await atTerminal("omvault exit-codes")
        #expect(table.output.hasPrefix("CODE  NAME"))
        let json = try Ran.json(await bash("omvault exit-codes --json").output)
        let codes = try #require(json["exit_codes"] as? [[String: Any]])
        #expect(codes.map { $0["code"] as? Int } == ExitStatus.allCases.map { Int($0.rawValue) })
        #expect(Set(ExitStatus.allCases.map(\.name)).count == ExitStatus.allCases.count)
    }

    @Test(
        "the process writes no core file, and other processes cannot look into it", arguments: ["omvault", "omvault-full"])
    func hardened(program: String) async throws {
        let ran = try await bash("strace -f -e trace=prctl,prlimit64 \(program) --version 2>&1")
        #expect(ran.output.contains("prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE"))
        #expect(ran.output.contains("RLIMIT_CORE, {rlim_cur=0, rlim_max=0}"))
    }

    @Test(
        "help, version, exit codes, gen and otp without an item open no file of ours and no socket",
        arguments: [
            "--help", "--version", "exit-codes", "gen", "gen --words 6",
            "crypto otp-uri --account a --secret-from 'cmd:printf MY======'", "otp --uri-from 'cmd:printf MY======'",
        ])
    func opensNothing(line: String) async throws {
        let ran = try await bash(
            "strace -f -o trace -e trace=openat,open,socket,connect omvault \(line) >/dev/null; cat trace; echo \"$HOME\""
        )
        #expect(ran.output.contains("openat"))
        let home = try #require(ran.output.split(separator: "\n").last)
        #expect(!ran.output.contains("\(home)/") && !ran.output.contains(".omv\""))
        #expect(!ran.output.contains("socket(") && !ran.output.contains("connect("))
    }
}

@Suite("Global options before the verb") struct HoistingTests {
    private struct Root: ParsableCommand {
        static let configuration = CommandConfiguration(subcommands: [Get.self, Crypto.self, Login.self])
    }
    private struct Get: ParsableCommand {
        @OptionGroup var global: GlobalOptions
        @Argument var item: [String] = []
    }
    private struct Crypto: ParsableCommand {
        static let configuration = CommandConfiguration(subcommands: [Hash.self])
    }
    private struct Hash: ParsableCommand {
        @OptionGroup var global: GlobalOptions
        @Argument var file: [String] = []
    }
    private struct Login: ParsableCommand {
        static let configuration = CommandConfiguration(
            subcommands: [Open.self, Check.self], defaultSubcommand: Open.self)
    }
    private struct Open: ParsableCommand {
        @OptionGroup var global: GlobalOptions
        @Argument var user: String
    }
    private struct Check: ParsableCommand {
        @OptionGroup var global: GlobalOptions
        @Argument var user: String
    }

    @Test(
        "options before the verb move behind it; words after the verb keep their order",
        arguments: [
            ("get x", "get x"),
            ("get -qh", "get -qh"),
            ("--vault work get x", "get --vault work x"),
            ("--vault=work get x", "get --vault=work x"),
            ("-V work -q --json get x", "get -V work -q --json x"),
            ("--vault get get x", "get --vault get x"),
            ("--format json crypto --quiet hash f", "crypto hash --format json --quiet f"),
            ("--json get -- --json", "get --json -- --json"),
            ("get --vault work x", "get --vault work x"),
            ("get x --vault work --frob", "get x --vault work --frob"),
            ("--json login alice", "login open --json alice"),
            ("login check alice", "login check alice"),
            ("login -- check", "login open -- check"),
            ("--json login --vault v check alice", "login check --json --vault v alice"),
            ("--help get", "get --help"),
            ("help crypto hash", "crypto hash --help"),
            ("--json --help", "--help"),
            ("--vault x crypto --help", "crypto --help"),
        ])
    func hoisting(typed: String, expected: String) throws {
        let line = try CommandLineArguments(words(typed), root: Root.self)
        #expect(line.arguments == words(expected))
    }

    @Test("an option before the verb means the same as one after it")
    func bothPlaces() throws {
        for typed in ["--vault work --json get x", "get --vault work x --json", "-V work get --json x"] {
            let command = try Root.parseAsRoot(CommandLineArguments(words(typed), root: Root.self).arguments)
            let get = try #require(command as? Get)
            #expect(get.global.vault == "work")
            #expect(get.global.json)
            #expect(get.item == ["x"])
        }
    }

    @Test(
        "a missing, partial or unknown command, or an unknown option, is a usage error",
        arguments: [
            "--json", "crypto", "crypto --json", "crypto frob", "gett x", "--frob get x", "-x get", "-- get", "--vault",
        ])
    func refused(typed: String) {
        #expect(throws: Failure.self) { try CommandLineArguments(words(typed), root: Root.self) }
    }

    @Test("the options allowed before the verb are exactly the declared ones")
    func spellings() throws {
        let declared = GlobalOptions.helpMessage()
        for (spelling, takesValue) in GlobalOptions.spellings {
            #expect(declared.contains(spelling))
            let value = spelling == "--format" ? ["plain"] : takesValue ? ["x"] : []
            #expect(throws: Never.self) { try GlobalOptions.parse([spelling] + value) }
        }
        let inHelp = declared.matches(of: /(?m)^  (?:(-\w), )?(--[a-z-]+)/).flatMap { [$0.1, $0.2].compactMap { $0 } }
        #expect(Set(inHelp.map(String.init)).subtracting(["-h", "--help"]) == Set(GlobalOptions.spellings.keys))
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    @Test("no group of options is nested more than three levels deep: each level makes a debug build four times as slow")
    func shallowGroups() throws {
        var (commands, groups) = (0, 0)
        func depth(_ type: any ParsableArguments.Type) -> Int {
            let below = held(type)
            groups += below.count
            return below.map { 1 + depth($0) }.max() ?? 0
        }
        func check(_ command: any ParsableCommand.Type) {
            commands += 1
            #expect(depth(command) <= 3, "\(command)")
            command.configuration.subcommands.forEach(check)
        }
        check(CommandTree.self)
        #expect(commands > 60 && groups > 100, "the tree was not found")
    }

    private func held(_ type: any ParsableArguments.Type) -> [any ParsableArguments.Type] {
        Mirror(reflecting: type.init()).children.compactMap { ($0.value as? any HeldGroup)?.held }
    }
}

/// The group of options that a property of a command holds.
protocol HeldGroup { var held: any ParsableArguments.Type { get } }

extension OptionGroup: HeldGroup {
    var held: any ParsableArguments.Type { Value.self }
}
