// Tests that compare the table of docs/internals/threat-model.md with the tests and the mutants that it names.

import Foundation
import Testing

@Suite("The promises and their tests") struct PromiseTests {
    private struct Row {
        let promise: String
        let tests: [(suite: String, title: String)]
        let mutants: [String]
    }

    @Test("every test that the threat model's table names is in the sources, under its suite and its whole title")
    func tests() async throws {
        let titles = try Self.titles()
        #expect(titles.count > 60, "the suites were not found")
        let rows = try Self.rows()
        #expect(rows.count > 40, "the table was not found")
        for row in rows {
            #expect(!row.tests.isEmpty, "no test: \(row.promise)")
            for (suite, title) in row.tests {
                #expect(titles[suite, default: []].contains(title), "\(suite) has no test \"\(title)\"")
            }
        }
    }

    @Test("every mutant is in the threat model's table once, beside a suite that must fail for it, and its source exists")
    func mutants() async throws {
        let rows = try Self.rows()
        let folder = repository.appending(path: "Tests/Mutations")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".mutant") }
        #expect(rows.flatMap(\.mutants).sorted() == files.map { String($0.dropLast(".mutant".count)) }.sorted())
        for row in rows {
            for mutant in row.mutants {
                let text = try String(contentsOf: folder.appending(path: mutant + ".mutant"), encoding: .utf8)
                func field(_ name: String) -> String {
                    text.split(separator: "\n").first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
                        ?? ""
                }
                let filters = field("test").split(separator: "|")
                    .map { $0.split(separator: "/")[0].split(separator: ".").last.map(String.init) ?? "" }
                #expect(!Set(filters).isDisjoint(with: row.tests.map(\.suite)), "\(mutant): \(filters)")
                #expect(field("change").hasPrefix("s/"), "\(mutant)")
                let source = repository.appending(path: field("file")).path
                #expect(FileManager.default.fileExists(atPath: source), "\(mutant): \(source)")
            }
        }
    }

    // MARK: - Reading

    private static func rows() throws -> [Row] {
        let page = try String(contentsOf: repository.appending(path: "docs/internals/threat-model.md"), encoding: .utf8)
        let section = try #require(page.split(separator: "## Which test holds which promise\n").last)
        return section.split(separator: "\n").prefix { !$0.hasPrefix("## ") }.compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("|"), cells.count == 3, cells[0] != "promise", !cells[0].hasPrefix("---") else { return nil }
            // A suite's name comes once, before its titles.
            var (suite, tests) = ("", [(suite: String, title: String)]())
            for match in cells[1].matches(of: /`(\w+)` |"([^"]+)"/) {
                if let name = match.1 { suite = String(name) }
                if let title = match.2 { tests.append((suite, String(title))) }
            }
            return Row(promise: cells[0], tests: tests, mutants: cells[2].matches(of: /`([^`]+)`/).map { String($0.1) })
        }
    }

    /// The titles of each suite, as the sources of the tests spell them. The transcripts' titles are those of `TranscriptTests`.
    private static func titles() throws -> [String: Set<String>] {
        let folder = repository.appending(path: "Tests")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        let words = /^(?:@Suite.* )?(?:final )?(?:struct|class|enum|extension) (\w+)|@Test\(\s*"((?:[^"\\\n]|\\.)*)"/
            .anchorsMatchLineEndings()
        var found: [String: Set<String>] = [:]
        for file in files where file.pathExtension == "swift" {
            var suite = ""
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: words) {
                if let name = match.1 { suite = String(name) }
                if let title = match.2 { found[suite, default: []].insert(String(title)) }
            }
        }
        for page in files where page.path.contains("/Tests/Transcripts/") && page.pathExtension == "md" {
            let titles = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("## ") }
            found["TranscriptTests", default: []].formUnion(titles.map { String($0.dropFirst(3)) })
        }
        return found
    }
}
