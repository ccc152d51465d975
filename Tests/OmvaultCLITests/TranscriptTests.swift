// Every transcript and every guide is played: what a page shows is what the command shows.

import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct TranscriptTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    private static let pages = Mutex(())

    /// The pages of a folder, by their paths from the repository's root on.
    private static func pages(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
        return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
    }

    /// The pages that `OMVAULT_TRANSCRIPTS` chooses: those whose path the regular expression matches. All if it is not set.
    private static func chosen(of pages: [String]) -> [String] {
        guard let expression = ProcessInfo.processInfo.environment["OMVAULT_TRANSCRIPTS"] else { return pages }
        guard let regex = try? Regex(expression) else { fatalError("OMVAULT_TRANSCRIPTS is not a regular expression") }
        return pages.filter { $0.contains(regex) }
    }

    private static func text(_ page: String) throws -> String {
        try String(contentsOf: root.appending(path: page), encoding: .utf8)
    }

    private static let sessions = chosen(of: pages(in: "Tests/Transcripts")).flatMap { page in
        (try? Transcript.sessions(of: text(page), named: page)) ?? [Transcript(page: page, title: "", steps: [])]
    }

    private static let guides = chosen(of: pages(in: "docs/guide") + ["README.md"])

    @Test("a transcript shows what the command shows", arguments: sessions)
    func session(_ transcript: Transcript) async throws {
        // A page that cannot be read has no session.
        if transcript.steps.isEmpty { _ = try Transcript.sessions(of: Self.text(transcript.page), named: transcript.page) }
        try await Self.play(transcript)
    }

    @Test("a guide's commands show what the guide says", arguments: guides)
    func guide(_ page: String) async throws {
        try await Self.play(Transcript.session(of: Self.text(page), named: page))
    }

    @Test("the player finds each command whose output or exit code is not as its page says")
    func differences() async throws {
        let page = """
            ```console
            $ echo one; echo two; false
            one
            two
            [exit 1]
            $ echo one; echo two
            …
            two
            $ echo "a b c"
            a … c
            $ echo one
            two
            $ false
            $ true
            [exit 1]
            $ printf 'one\\ntwo\\n'
            one
            $ read -rsp "Secret: " a; echo; read -rp "Name: " b; echo "$a $b"
            Secret: «first»
            Name: ‹second›
            first second
            $ echo code-$RANDOM | tee code; read -rsp "Again: " a; echo; test "$a" = "$(cat code)" && echo same
            code-…
            Again: «…»
            same
            $ echo Lines:; cat > lines; cat lines
            Lines:
            ‹one›
            ‹two›
            «^D»
            one
            two
            $ echo Lines:; cat > lines; cat lines
            Lines:
            ‹one›
            «^D»
            two
            $ cat << 'END'
            > it's
            > END
            it's
            ```
            """
        let transcript = try Transcript.session(of: page, named: "page")
        #expect(transcript.isAtTerminal)
        #expect(try await transcript.play().map(\.step.line) == [11, 13, 14, 16, 33])
        #expect(throws: Transcript.Malformed.self) { try Transcript.session(of: "```console\nout\n```", named: "page") }
        #expect(throws: Transcript.Malformed.self) { try Transcript.session(of: "```console\n$ true", named: "page") }
    }

    @Test("a session runs at a terminal if its page says so", arguments: [true, false])
    func terminal(isMarked: Bool) async throws {
        let page = "## One\n\(isMarked ? "<!-- at a terminal -->" : "")\n```console\n$ test -t 1\n```\n"
        let transcript = try #require(try Transcript.sessions(of: page, named: "page").first)
        #expect(transcript.isAtTerminal == isMarked)
        #expect(try await transcript.play().isEmpty == isMarked)
    }

    private static func play(_ transcript: Transcript) async throws {
        for difference in try await transcript.play() {
            if ProcessInfo.processInfo.environment["OMVAULT_RECORD"] != nil, difference.step.output != nil {
                try record(difference, of: transcript)
                continue
            }
            Issue.record(
                """
                \(transcript.page):\(difference.step.line): "\(transcript.title)"
                $ \(difference.step.command)
                \(difference.lines.joined(separator: "\n"))
                The page says:
                \(difference.step.lines.joined(separator: "\n"))
                """)
        }
    }

    /// Writes into the page what was shown.
    private static func record(_ difference: Transcript.Difference, of transcript: Transcript) throws {
        try pages.withLock { _ in
            var lines = try text(transcript.page).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            // Other sessions of the page may have been recorded meanwhile, and moved this one.
            let sessions = try Transcript.sessions(of: lines.joined(separator: "\n"), named: transcript.page)
            let steps = (sessions + [try Transcript.session(of: lines.joined(separator: "\n"), named: transcript.page)])
                .filter { $0.title == transcript.title }.flatMap(\.steps)
            let number = transcript.steps.firstIndex { $0.line == difference.step.line } ?? 0
            lines.replaceSubrange(steps[number].outputLines, with: difference.lines)
            try lines.joined(separator: "\n").write(
                to: root.appending(path: transcript.page), atomically: true, encoding: .utf8)
        }
    }
}

extension Transcript: CustomTestStringConvertible {
    var testDescription: String { "\(page): \(title)" }
}
