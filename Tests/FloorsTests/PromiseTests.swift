// Tests that compare the promises of docs/internals/threat-model.md with the tests and the mutants that they name.

import Foundation
import Testing

@Suite("The promises and their tests") struct PromiseTests {
    private struct Row {
        let promise: String
        var tests: [(suite: String, title: String)] = []
        var mutants: [String] = []
        /// Sentences in the place of a test.
        var notes: [String] = []
    }

    @Test("every promise names a test, and every named test exists with this suite and title")
    func tests() async throws {
        let titles = try Self.titles()
        #expect(titles.count > 60, "the suites were not found")
        let rows = try Self.rows()
        #expect(rows.count > 40, "the promises were not found")
        #expect(Self.faults(rows, titles: titles) == [])
    }

    @Test("each acceptance test and finding of sync is on its page once, with an existing test or a sentence")
    func acceptance() throws {
        let findings = (1...6).map { "C\($0)" } + (1...8).map { "H\($0)" } + (1...12).map { "M\($0)" }
        try Self.check("sync-acceptance.md", "Acceptance tests", (1...25).map { "\($0)" })
        try Self.check("sync-acceptance.md", "Findings of the review", findings)
    }

    @Test("every test that the acceptance of tokens names exists, and each number is there once")
    func tokenAcceptance() throws {
        let parts = [("A", 22), ("B", 11), ("C", 9), ("D", 10), ("E", 4)]
        let numbers = parts.flatMap { part, count in (1...count).map { "\(part)\($0)" } }
        try Self.check("token-acceptance.md", "Acceptance tests", numbers)
    }

    @Test("each attack and bad input of tokens is on its page once, and every test and mutant that it names exists")
    func tokenAttacks() throws {
        let parts = [("A5", 10), ("A6", 10), ("B4", 7), ("C1", 7), ("D1", 9)]
        let numbers = parts.flatMap { part, count in (1...count).map { "\(part).\($0)" } }
        let rows = try Self.check("token-acceptance.md", "Attacks and bad input", numbers)
        #expect(Set(rows.flatMap(\.mutants)).subtracting(try Self.mutantNames()).sorted() == [])
        let functions = try Self.functions()
        #expect(functions.count > 1_000, "the functions were not found")
        for row in rows {
            for mutant in row.mutants {
                let failing = try Self.field("test", of: mutant).split(separator: "|")
                #expect(failing.contains { Self.names($0, row, functions) }, "\(row.promise): \(mutant)")
            }
        }
    }

    @Test("each rule of the command line and each point of the trial is on its page once, and a transcript has each quoted line")
    func shellAcceptance() throws {
        try Self.check("shell-acceptance.md", "Rules of the command line", (1...18).map { "R\($0)" })
        try Self.check("shell-acceptance.md", "Points of the trial", (15...39).map { "A\($0)" })
        try Self.check("shell-acceptance.md", "Polish", (1...18).map { "P\($0)" })
        let page = try String(contentsOf: repository.appending(path: "docs/internals/shell-acceptance.md"), encoding: .utf8)
        let quoted = page.split(separator: "\n").filter { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }
        #expect(quoted.count > 5, "the quoted lines were not found")
        let shown = try Self.transcripts.map { try String(contentsOf: $0, encoding: .utf8) }
        for line in quoted { #expect(shown.contains { $0.contains("\(line)\n") }, "no transcript shows: \(line)") }
    }

    /// The rows of a section of a page in docs/internals. Each number is there once and in order, with an existing test or a
    /// sentence.
    @discardableResult
    private static func check(_ page: String, _ heading: String, _ numbers: [String]) throws -> [Row] {
        let text = try String(contentsOf: repository.appending(path: "docs/internals/\(page)"), encoding: .utf8)
        let rows = try rows(of: text, in: "## \(heading)\n", allowsNotes: true)
        let named = rows.compactMap { $0.promise.wholeMatch(of: /([A-Z]?[0-9]+(?:\.[0-9]+)?)\. .*/).map { String($0.1) } }
        #expect(named == numbers, "\(page), \(heading)")
        #expect(faults(rows, titles: try titles()) == [], "\(page), \(heading)")
        return rows
    }

    /// Whether a row names the test that fails for a mutant. A mutant may name a whole suite.
    private static func names(_ filter: Substring, _ row: Row, _ functions: [String: String]) -> Bool {
        let name = filter.split(separator: ".").last ?? filter, suite = name.prefix { $0 != "/" }
        guard name != suite else { return row.tests.contains { $0.suite == suite } }
        return row.tests.contains { $0.suite == suite && functions[String(name)] == $0.title }
    }

    @Test("every suite and transcript that the list of adversarial tests names exists")
    func adversarialTests() throws {
        let page = try String(contentsOf: repository.appending(path: "docs/reference/login.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## The adversarial tests\n").last)
        let suites = Set(section.matches(of: /`(\w+Tests)`/).map { String($0.1) })
        #expect(suites.count > 20, "the list was not found")
        #expect(suites.subtracting(try Self.titles().keys).sorted() == [])
        let folder = repository.appending(path: "Tests/Transcripts")
        let pages = Set(section.matches(of: /`([a-z-]+\.md)`/).map { String($0.1) })
        #expect(pages.count > 4, "the pages were not found")
        #expect(pages.filter { !FileManager.default.fileExists(atPath: folder.appending(path: $0).path) }.sorted() == [])
    }

    @Test("every mutant is under one promise, beside a suite that must fail for it, and its source exists")
    func mutants() async throws {
        let (rows, names) = (try Self.rows(), try Self.mutantNames())
        #expect(names.count > 40, "the mutants were not found")
        #expect(Self.faults(rows, mutants: names) == [])
        for row in rows {
            for mutant in row.mutants where names.contains(mutant) {
                let filters = try Self.field("test", of: mutant).split(separator: "|")
                    .map { $0.split(separator: "/")[0].split(separator: ".").last.map(String.init) ?? "" }
                #expect(!Set(filters).isDisjoint(with: row.tests.map(\.suite)), "\(mutant): \(filters)")
                #expect(try Self.field("change", of: mutant).hasPrefix("s/"), "\(mutant)")
                let source = repository.appending(path: try Self.field("file", of: mutant)).path
                #expect(FileManager.default.fileExists(atPath: source), "\(mutant): \(source)")
            }
        }
    }

    @Test("the check finds a promise without a test, an unknown title, an unknown mutant and a mutant without a promise")
    func selfCheck() throws {
        let page = """
            # Attackers
            - `Suite`: "outside of the section"
            ## Which test holds which promise

            Each promise is in **bold**.

            ### Vault

            **A promise over
            two lines.**

            - `Suite`: "a title that wraps
              over lines"
            - `Other`: "gone"
            - mutant: `first`, `second`,
              `lost`

            **No test.**

            - mutant: `first`
            ## Known gaps
            **Not a promise.**
            """
        let rows = try Self.rows(of: page)
        #expect(rows.map(\.promise) == ["A promise over two lines.", "No test."])
        let titles: [String: Set<String>] = ["Suite": ["a title that wraps over lines"], "Other": ["there"]]
        #expect(Self.faults(rows, titles: titles) == ["Other has no test \"gone\"", "no test: No test."])
        #expect(
            Self.faults(rows, mutants: ["first", "second", "third"])
                == ["first is under 2 promises", "third is under 0 promises", "unknown mutant lost"])
        #expect(throws: (any Error).self) { try Self.rows(of: page + "\n## Which test holds which promise\n\n- no promise") }
        let noted = page.replacing("**No test.**", with: "**No test.** A word.\n\n- not built yet: it.")
        #expect(throws: (any Error).self) { try Self.rows(of: noted) }
        let heading = "## Which test holds which promise\n"
        #expect(
            try Self.faults(Self.rows(of: noted, in: heading, allowsNotes: true), titles: titles) == [
                "Other has no test \"gone\""
            ])
        let unread = page.replacing("- `Other`: \"gone\"", with: "- Other: \"gone\"")
        #expect(throws: (any Error).self) { try Self.rows(of: unread) }
    }

    // MARK: - Comparing

    private static func faults(_ rows: [Row], titles: [String: Set<String>]) -> [String] {
        rows.flatMap { row in
            (row.tests.isEmpty && row.notes.isEmpty ? ["no test: \(row.promise)"] : [])
                + row.tests.filter { !titles[$0.suite, default: []].contains($0.title) }
                .map { "\($0.suite) has no test \"\($0.title)\"" }
        }
    }

    private static func faults(_ rows: [Row], mutants names: [String]) -> [String] {
        let named = rows.flatMap(\.mutants)
        let counts = names.sorted().map { name in (name, named.count { $0 == name }) }
        return counts.filter { $0.1 != 1 }.map { "\($0.0) is under \($0.1) promises" }
            + Set(named).subtracting(names).sorted().map { "unknown mutant \($0)" }
    }

    // MARK: - Reading

    private static var mutantFolder: URL { repository.appending(path: "Tests/Mutations") }

    private static func mutantNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: mutantFolder.path).filter { $0.hasSuffix(".mutant") }
            .map { String($0.dropLast(".mutant".count)) }
    }

    private static func field(_ name: String, of mutant: String) throws -> String {
        let text = try String(contentsOf: mutantFolder.appending(path: mutant + ".mutant"), encoding: .utf8)
        return text.split(separator: "\n").first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) } ?? ""
    }

    private struct Malformed: Error {
        let line: String
    }

    private static func rows() throws -> [Row] {
        try rows(of: String(contentsOf: repository.appending(path: "docs/internals/threat-model.md"), encoding: .utf8))
    }

    /// The promises of the section: a bold paragraph each, then a list of tests and mutants. Both may wrap over lines.
    ///
    /// - Parameter allowsNotes: Whether an item of a list may say why there is no test.
    private static func rows(
        of page: String, in heading: String = "## Which test holds which promise\n", allowsNotes: Bool = false
    ) throws -> [Row] {
        let section = try #require(page.components(separatedBy: heading).last)
        var rows: [Row] = []
        for paragraph in paragraphs(section.components(separatedBy: "\n").prefix { !$0.hasPrefix("## ") }) {
            if let promise = paragraph.wholeMatch(of: allowsNotes ? /\*\*([^*]+)\*\*.*/ : /\*\*(.+)\*\*/) {
                rows.append(Row(promise: String(promise.1)))
            } else if paragraph.hasPrefix("- ") {
                guard !rows.isEmpty else { throw Malformed(line: paragraph) }
                if let test = paragraph.wholeMatch(of: /- `(\w+)`: "([^"]+)"/) {
                    rows[rows.count - 1].tests.append((String(test.1), String(test.2)))
                } else if let list = paragraph.wholeMatch(of: /- mutant: (`[^`]+`(?:, `[^`]+`)*)/) {
                    rows[rows.count - 1].mutants += list.1.matches(of: /`([^`]+)`/).map { String($0.1) }
                } else if allowsNotes, let note = paragraph.wholeMatch(of: /- (?:not built yet|no longer applies|why not): (.+)/)
                {
                    rows[rows.count - 1].notes.append(String(note.1))
                } else {
                    throw Malformed(line: paragraph)
                }
            }
        }
        return rows
    }

    /// The paragraphs and the items of lists, each joined to one line.
    private static func paragraphs(_ lines: some Sequence<String>) -> [String] {
        var paragraphs: [String] = [], isOpen = false
        for line in lines {
            let text = line.trimmingCharacters(in: .whitespaces)
            if !isOpen || text.isEmpty || line.hasPrefix("- ") {
                if !text.isEmpty { paragraphs.append(text) }
                isOpen = !text.isEmpty
            } else {
                paragraphs[paragraphs.count - 1] += " " + text
            }
        }
        return paragraphs
    }

    private static var files: [URL] {
        let folder = repository.appending(path: "Tests")
        return FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
    }

    private static var transcripts: [URL] {
        files.filter { $0.path.contains("/Tests/Transcripts/") && $0.pathExtension == "md" }
    }

    /// The title of each test, by its suite and function: `Suite/function`.
    private static func functions() throws -> [String: String] {
        let words =
            /^(?:@Suite.* )?(?:final )?(?:struct|class|enum|extension) (\w+)|@Test\(\s*"((?:[^"\\\n]|\\.)*)"|func (\w+)/
            .anchorsMatchLineEndings()
        var found: [String: String] = [:]
        for file in files where file.pathExtension == "swift" {
            var (suite, title) = ("", String?.none)
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: words) {
                if let name = match.1 { suite = String(name) }
                if let name = match.2 { title = String(name) }
                // A function with other arguments can have the same name.
                if let name = match.3, let named = title.take() { found["\(suite)/\(name)", default: named] = named }
            }
        }
        return found
    }

    /// The titles of each suite, as the sources of the tests spell them. The transcripts' titles are those of `TranscriptTests`.
    private static func titles() throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for (function, title) in try functions() { found[String(function.prefix { $0 != "/" }), default: []].insert(title) }
        for page in transcripts {
            let titles = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("## ") }
            found["TranscriptTests", default: []].formUnion(titles.map { String($0.dropFirst(3)) })
        }
        return found
    }
}
