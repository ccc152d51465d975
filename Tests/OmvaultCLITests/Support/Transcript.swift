// Shell sessions in Markdown pages: each command with what it shows, its exit code, and what the user types.

import Foundation

/// One session with a home of its own.
///
/// A page has blocks of the language `console`:
///
///     $ omvault get github:token
///     Password of vault "personal": «correct horse»
///     ghp_…
///     $ omvault get nothing:token
///     error: no item "nothing" in vault "personal"
///     …
///     [exit 10]
///
/// - `$ ` begins a command; a line that begins with `> ` continues it.
/// - `…` matches any text within a line; as a whole line, for any number of lines.
/// - `[exit N]` ends the output of a command whose exit code is not 0.
/// - `«secret»` is typed without being shown, `‹name›` is typed and shown. A session with either runs at a terminal. `«…»` and
///   `‹…›` type the last code that was shown: a line of one word with a dash.
/// - A line that begins with typed text is typed after the line before it. `«^D»` as a whole line is Ctrl-D.
/// - `<!-- at a terminal -->` makes a session run at a terminal though nothing is typed.
/// - A comment `<!-- setup` … `-->` holds commands that a reader of the page need not see. `<!-- setup once` holds commands that
///   run once for the page, before its first heading: each of its sessions begins with a copy of the home that they leave.
struct Transcript: Sendable {
    struct Step: Sendable {
        /// Of the command in its page, from 1.
        let line: Int
        let command: String
        /// Nil for a setup, whose output is not compared.
        var output: [String]?
        var isOnce = false
        var status: Int32 = 0
        /// The page's lines that hold output and exit code, from 0.
        var outputLines: Range<Int>
    }

    let page: String
    /// The heading, or the page's name.
    let title: String
    var steps: [Step]
    /// Whether the page says that the session runs at a terminal.
    var isMarked = false
    /// What makes the home with which each session of the page begins: the steps up to the last with `once`.
    var once: [Step] = []

    var isAtTerminal: Bool { isMarked || steps.contains { !$0.answers.isEmpty } }

    /// The sessions of a page: each heading of the second level begins one. The steps before the first of them begin each.
    static func sessions(of page: String, named name: String) throws -> [Transcript] {
        var whole = Transcript(page: name, title: name, steps: [])
        var sessions: [Transcript] = []
        var parser = Parser(page: name)
        for (index, line) in page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).enumerated() {
            if !parser.isInBlock, line.hasPrefix("## ") {
                sessions.append(
                    Transcript(page: name, title: String(line.dropFirst(3)), steps: whole.steps, isMarked: whole.isMarked))
            }
            if !parser.isInBlock, line == "<!-- at a terminal -->" {
                if sessions.isEmpty { whole.isMarked = true } else { sessions[sessions.count - 1].isMarked = true }
            }
            guard let step = try parser.read(line, at: index) else { continue }
            if sessions.isEmpty { whole.steps.append(step) } else { sessions[sessions.count - 1].steps.append(step) }
        }
        guard !parser.isInBlock else { throw Malformed(page: name, line: 0, reason: "a block has no end") }
        guard !sessions.isEmpty else { return [whole] }
        let once = whole.steps.prefix((whole.steps.lastIndex { $0.isOnce } ?? -1) + 1)
        for index in sessions.indices { sessions[index].once = Array(once) }
        return sessions
    }

    /// A whole page as one session.
    static func session(of page: String, named name: String) throws -> Transcript {
        let sessions = try sessions(of: page, named: name)
        var steps = sessions[0].steps
        // The sessions after the first repeat the steps before the first heading.
        for session in sessions.dropFirst() {
            steps += session.steps.filter { step in !sessions[0].steps.contains { $0.line == step.line } }
        }
        return Transcript(page: name, title: name, steps: steps, isMarked: sessions.contains { $0.isMarked })
    }

    struct Malformed: Error, CustomStringConvertible {
        let page: String
        let line: Int
        let reason: String

        var description: String { "\(page):\(line): \(reason)" }
    }
}

extension Transcript.Step {
    /// What the user types: the text that is shown before it, and the answer.
    var answers: [(prompt: String, answer: String?)] {
        var found: [(String, String?)] = []
        // The text before an answer that begins a line. Typed lines need none: the terminal keeps their order.
        var before = ""
        for line in output ?? [] {
            defer { before = line.contains { "«‹".contains($0) } ? "" : Self.lastShown(line[...]) }
            if line == Self.endOfInput {
                found.append((before, "\u{4}"))
                continue
            }
            var rest = Substring(line)
            while let start = rest.firstIndex(where: { "«‹".contains($0) }),
                let end = rest[start...].firstIndex(of: rest[start] == "«" ? "»" : "›")
            {
                let shown = start == line.startIndex ? before : Self.lastShown(rest[..<start])
                let answer = rest[rest.index(after: start)..<end]
                found.append((shown, answer == "…" ? nil : answer + "\n"))
                rest = rest[rest.index(after: end)...]
            }
        }
        return found
    }

    private static let endOfInput = "«^D»"

    /// The end of a line that a wildcard does not cover.
    private static func lastShown(_ line: Substring) -> String {
        String(line.split(separator: "…", omittingEmptySubsequences: false).last ?? "")
    }

    /// The output and the exit code, as the page has them.
    var lines: [String] { (output ?? []) + (status == 0 ? [] : ["[exit \(status)]"]) }

    /// Whether the command showed what the page says.
    func matches(_ shown: [String], _ status: Int32) -> Bool {
        guard status == self.status else { return false }
        guard let output else { return true }
        return Wildcard.matches(shown[...], output.filter { $0 != Self.endOfInput }[...], isAny: { $0 == "…" }, Self.matches)
    }

    /// The page's line that a shown line matches, with its placeholders and typed text.
    func pattern(of line: String) -> String? { output?.first { $0 != "…" && Self.matches(line, $0) } }

    private static func matches(_ line: String, _ expected: String) -> Bool {
        line == expected || Wildcard.matches(Array(line)[...], Array(asShown(expected))[...], isAny: { $0 == "…" }, ==)
    }

    /// The line as the terminal shows it.
    private static func asShown(_ line: String) -> String {
        guard line.utf8.contains(where: { $0 >= 0x80 }) else { return line }
        return line.replacing(/«[^»]*»/, with: "").filter { $0 != "‹" && $0 != "›" }
    }
}

/// Patterns in which one element matches any number of elements.
private enum Wildcard {
    static func matches<Element>(
        _ text: ArraySlice<Element>, _ pattern: ArraySlice<Element>, isAny: (Element) -> Bool,
        _ isSame: (Element, Element) -> Bool
    ) -> Bool {
        var (text, pattern) = (text, pattern)
        // Where the last "any" began, and how much of the text it has taken so far.
        var again: (text: ArraySlice<Element>, pattern: ArraySlice<Element>)?
        while !text.isEmpty || !pattern.isEmpty {
            if let wanted = pattern.first, isAny(wanted) {
                pattern = pattern.dropFirst()
                again = (text, pattern)
            } else if let wanted = pattern.first, let found = text.first, isSame(found, wanted) {
                (text, pattern) = (text.dropFirst(), pattern.dropFirst())
            } else if let last = again, !last.text.isEmpty {
                again = (last.text.dropFirst(), last.pattern)
                (text, pattern) = (last.text.dropFirst(), last.pattern)
            } else {
                return false
            }
        }
        return true
    }
}

/// Reads a page line by line.
private struct Parser {
    let page: String
    private var block: Block?
    private var step: Transcript.Step?

    private enum Block { case console, setup, other }

    init(page: String) { self.page = page }

    var isInBlock: Bool { block != nil }

    /// - Returns: a step that has ended with this line.
    mutating func read(_ line: String, at index: Int) throws -> Transcript.Step? {
        switch block {
        case nil:
            if line == "```console" {
                block = .console
            } else if line.hasPrefix("```") {
                block = .other
            } else if line == "<!-- setup" || line == "<!-- setup once" {
                block = .setup
                step = Transcript.Step(
                    line: index + 2, command: "", isOnce: line.hasSuffix(" once"), outputLines: index..<index)
            }
            return nil
        case .other:
            if line == "```" { block = nil }
            return nil
        case .setup:
            guard line != "-->" else { return end() }
            add(line)
            return nil
        case .console:
            guard line != "```" else { return end() }
            if line.hasPrefix("$ ") {
                defer {
                    step = Transcript.Step(
                        line: index + 1, command: String(line.dropFirst(2)), output: [], outputLines: index + 1..<index + 1)
                }
                return step
            }
            guard var current = step else {
                throw Transcript.Malformed(page: page, line: index + 1, reason: "there is output before the first command")
            }
            let isNew = current.output?.isEmpty ?? true
            if isNew, line == ">" || line.hasPrefix("> ") {
                add(String(line.dropFirst(2)))
                step?.outputLines = index + 1..<index + 1
                return nil
            }
            if line.hasPrefix("[exit "), line.hasSuffix("]"), let status = Int32(line.dropFirst(6).dropLast()) {
                current.status = status
            } else {
                current.output?.append(line)
            }
            current.outputLines = current.outputLines.lowerBound..<index + 1
            step = current
            return nil
        }
    }

    private mutating func add(_ line: String) {
        guard let current = step else { return }
        let command = current.command.isEmpty ? line : current.command + "\n" + line
        step = Transcript.Step(
            line: current.line, command: command, output: current.output, isOnce: current.isOnce,
            outputLines: current.outputLines)
    }

    private mutating func end() -> Transcript.Step? {
        defer { (block, step) = (nil, nil) }
        return step
    }
}
