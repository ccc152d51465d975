// With JSON every failure is one JSON document on standard error, whatever the command and the error.

import ArgumentParser
import OMJSON
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("Failures as JSON") struct JSONFailureTests {
    /// How one command ended.
    private struct Ended {
        let command: String
        let status: Int32
        let output: String
        let errors: String

        /// The error, if it is the one document on standard error and names this exit code.
        var error: [String: JSON]? {
            guard errors.hasSuffix("\n"), errors.split(separator: "\n").count == 1,
                let document = (try? JSON(parsing: Array(errors.utf8).span))?.members, document.count == 1,
                let error = document["error"]?.members, error["exit"] == .number("\(status)"),
                // The failures of `run` itself are 125, and the code says what another command would have ended with.
                let meant = ExitStatus.allCases.first(where: { $0.name == error["code"]?.text }),
                status == meant.rawValue || status == RunCommand.ownFailure && command.contains("run"),
                error["message"]?.text != ""
            else { return nil }
            return error
        }
    }

    /// The words of every command.
    static let verbs: [String] = {
        func below(_ command: any ParsableCommand.Type, _ words: [String]) -> [String] {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty else { return [words.joined(separator: " ")] }
            return commands.flatMap { below($0, words + [$0._commandName]) }
        }
        return below(CommandTree.self, [])
    }()

    /// Runs each line in one home, where no vault, agent or terminal is.
    private func run(_ lines: [String], output: String = "output") async throws -> [Ended] {
        let script = """
            while read -r line; do
                : > output
                eval "omvault $line" < /dev/null > \(output) 2> errors
                code=$?
                IFS= read -rd '' printed < output; IFS= read -rd '' said < errors
                printf '\\036%s\\037%s\\037%s\\037%s' "$line" $code "$printed" "$said"
            done << 'END'
            \(lines.joined(separator: "\n"))
            END
            """
        let ran = try await bash(script)
        let ended = ran.output.split(separator: "\u{1E}").map { part in
            let fields = part.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
            return Ended(command: fields[0], status: Int32(fields[1]) ?? -1, output: fields[2], errors: fields[3])
        }
        #expect(ended.count == lines.count)
        return ended
    }

    /// A whole run tries each spelling at each command. A sample tries one at each, in turn.
    @Test("an unknown option of any command, and JSON before or behind the command", arguments: 0..<3)
    func unknownOption(spelling: Int) async throws {
        #expect(Self.verbs.count > 60)
        let json = ["--json", "--format json", "--format=jsonl"][spelling]
        let verbs = Self.verbs.enumerated().filter { Sweep.isWhole || $0.offset % 3 == spelling }.map(\.element)
        for ended in try await run(verbs.flatMap { ["\($0) --frob \(json)", "\(json) \($0) --frob"] }) {
            #expect(ended.error?["code"]?.text == "usage" && ended.output.isEmpty, "\(ended)")
        }
    }

    @Test("any command without an argument, in an empty home and with a full disk as its output")
    func noArgument() async throws {
        // Without a file the first would run all vectors before it finds the disk full, and the second writes nothing. The third
        // ends with its reader.
        let more = ["vectors verify": " nothing", "inject": " -i /etc/passwd", "helper pinentry": " --frob"]
        let lines = Self.verbs.map { $0 + (more[$0] ?? "") }.map { "\($0) --json --no-input" }
        for ended in try await run(lines, output: "/dev/full") {
            #expect(ended.status != 0 && ended.error != nil, "\(ended)")
        }
    }

    @Test("any command with arguments that mean nothing")
    func anyArguments() async throws {
        for ended in try await run(Self.verbs.map { "\($0) --json --no-input nothing:at=all" }) where ended.status != 0 {
            #expect(ended.output.isEmpty && ended.error != nil, "\(ended)")
        }
    }

    @Test(
        "a line that names no command, or what the parser refuses before it knows one",
        arguments: [
            "--json", "--json frob", "frob --json", "--json key", "key frob --json", "--json --vault", "get --json --vault",
            "--format json get", "get --format=json", "--json get x --format", "--json get x --format xml", "frob --format jsonl",
            "--json get x --format plain", "--json --frob get x", "get -dash --json", "login statsu --json",
            #"get $'\xff' --json"#, "--format=jsonl get", "get x --format csv --json",
            "--json list", "get a b c --json", "set x --if-rev y --json",
        ])
    func refusedLines(line: String) async throws {
        let ended = try #require(try await run([line]).first)
        #expect(ended.status == 2 && ended.output.isEmpty && ended.error != nil, "\(ended)")
    }

    @Test("the notices before an error are in the error; behind an answer they are printed as without JSON")
    func notices() async throws {
        let ended = try await run(["crypto hash --alg md5 --json missing", "crypto hash --alg md5 --json /dev/null"])
        let warning = "warning: an attacker can make two files with the same MD5 hash"
        #expect(ended[0].error?["notices"] == .array([.string(warning)]), "\(ended[0])")
        #expect(ended[1].status == 0 && ended[1].errors == "omvault: \(warning)\n", "\(ended[1])")
    }

    @Test("an agent that cannot run in the foreground says so in JSON")
    func agent() async throws {
        let ran = try await bash(
            """
            export XDG_RUNTIME_DIR=$HOME/.run; mkdir -m 700 "$XDG_RUNTIME_DIR"
            omvault -q agent start
            omvault agent run --json; echo $?
            omvault -q agent stop
            """)
        #expect(ran.output == "61\n")
        let ended = Ended(command: "agent run", status: 61, output: "", errors: ran.errors)
        #expect(ended.error != nil, "\(ended)")
    }
}
