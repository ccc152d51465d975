// Plays a transcript with the real command, and says where its output is not the page's.

import Foundation
import TestSupport
import Testing

extension Transcript {
    /// A command that did not show what its page says.
    struct Difference: Sendable {
        let step: Step
        let shown: [String]
        let status: Int32

        /// As the page would have it. Lines that are right in the page stay as they are.
        var lines: [String] { shown.map { step.pattern(of: $0) ?? $0 } + (status == 0 ? [] : ["[exit \(status)]"]) }
    }

    /// Runs all commands in one bash, in an empty home.
    ///
    /// Where `OMVAULT_RECORD` is set, the page gets what was shown, and nothing is different: look at its diff.
    func play(environment: [String: String] = [:]) async throws -> [Difference] {
        var environment = environment.merging(try await Server.environment) { $1 }
        let begun = try await BegunHomes.all.home(of: self, environment)
        if let begun { environment["BEGUN"] = begun.path }
        let ran =
            isAtTerminal
            ? try await atTerminal(script, dialogue, environment: environment)
            : try await bash("exec 2>&1\n" + script, environment: environment)
        let shown = Self.split(ran.output)
        var differences: [Difference] = []
        for (index, step) in steps.enumerated() where !isDone(step) {
            guard let (lines, status) = shown[index] else {
                differences.append(Difference(step: step, shown: ["the session ended here", ran.errors], status: ran.status))
                break
            }
            if !step.matches(lines, status) { differences.append(Difference(step: step, shown: lines, status: status)) }
        }
        return differences
    }

    /// Whether the home with which the session begins has the result of the step. A whole page as one session has no such home.
    private func isDone(_ step: Step) -> Bool { step.isOnce && !once.isEmpty }

    /// Makes the home with which each session of the page begins.
    fileprivate func begin(_ environment: [String: String]) async throws -> TestFolder {
        let home = try TestFolder()
        let script = once.map { "eval '\($0.command.replacing("'", with: "'\\''"))' || exit" }.joined(separator: "\n")
        let ran = try await bash(Self.start + script, environment: environment, home: home)
        guard ran.status == 0 else {
            throw Malformed(page: page, line: once[0].line, reason: "the setup failed: \(ran.output)\(ran.errors)")
        }
        return home
    }

    /// What each session begins with: its functions, and a folder for the agent.
    static let start =
        Server.shell + """
            mark() { printf '\\036%s\\n' "$*"; }
            [[ -z $BEGUN ]] || cp -a "$BEGUN/." .
            export XDG_RUNTIME_DIR=$HOME/.run; mkdir -p -m 700 "$XDG_RUNTIME_DIR"
            at_end='[[ ! -S $XDG_RUNTIME_DIR/omvault/agent.sock ]] || omvault -q agent stop'

            """

    /// Each command between two marks, so that its output is told from the next one's.
    private var script: String {
        var script = Self.start
        for (index, step) in steps.enumerated() where !isDone(step) {
            script += "mark \(index)\neval '\(step.command.replacing("'", with: "'\\''"))'\nmark end $?\n"
        }
        return script
    }

    /// Nothing is typed before its command has begun.
    private var dialogue: [(prompt: String, answer: String?)] {
        steps.enumerated().flatMap { index, step in
            step.answers.isEmpty ? [] : [("\u{1E}\(index)\r\n", "")] + step.answers
        }
    }

    /// What each command showed, by its number, and its exit code.
    private static func split(_ output: String) -> [Int: (lines: [String], status: Int32)] {
        var found: [Int: ([String], Int32)] = [:]
        var shown: (index: Int, text: String)?
        for part in output.replacing("\r\n", with: "\n").split(separator: "\u{1E}") {
            let head = part.prefix { $0 != "\n" }, rest = String(part.dropFirst(head.count + 1))
            if let index = Int(head) {
                shown = (index, rest)
            } else if let last = shown, let status = head.split(separator: " ").last.flatMap({ Int32($0) }) {
                let text = last.text.hasSuffix("\n") ? String(last.text.dropLast()) : last.text
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                found[last.index] = (text.isEmpty ? [] : lines, status)
                shown = nil
            }
        }
        return found
    }
}

/// The homes with which sessions begin: each is made once, for all sessions of its page.
private actor BegunHomes {
    static let all = BegunHomes()

    private var homes: [String: Task<TestFolder, any Error>] = [:]

    func home(of transcript: Transcript, _ environment: [String: String]) async throws -> TestFolder? {
        guard !transcript.once.isEmpty else { return nil }
        let home = homes[transcript.page] ?? Task { try await transcript.begin(environment) }
        homes[transcript.page] = home
        return try await home.value
    }
}
