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
        let environment = environment.merging(try await Server.environment) { $1 }
        let ran =
            isAtTerminal
            ? try await atTerminal(script, dialogue, environment: environment)
            : try await bash("exec 2>&1\n" + script, environment: environment)
        let shown = Self.split(ran.output)
        var differences: [Difference] = []
        for (index, step) in steps.enumerated() {
            guard let (lines, status) = shown[index] else {
                differences.append(Difference(step: step, shown: ["the session ended here", ran.errors], status: ran.status))
                break
            }
            if !step.matches(lines, status) { differences.append(Difference(step: step, shown: lines, status: status)) }
        }
        return differences
    }

    /// Each command between two marks, so that its output is told from the next one's.
    private var script: String {
        var script =
            Server.shell + """
                mark() { printf '\\036%s\\n' "$*"; }
                export XDG_RUNTIME_DIR=$HOME/.run; mkdir -m 700 "$XDG_RUNTIME_DIR"
                at_end='omvault -q agent stop'

                """
        for (index, step) in steps.enumerated() {
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
