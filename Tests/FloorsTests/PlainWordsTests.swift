// Counts of the words that make a reader parse a sentence twice, in pages, sources and tests.

import Foundation
import Testing

@Suite("Plain words") struct PlainWordsTests {
    /// The words that a search can find. Quotations and a few sentences need them.
    private static func count(in text: String) throws -> Int {
        let words = "whoever|anew|nobody|somebody|one that|the one of|of before|by now|is to be|are to be|comes to|stands"
        // `Regex` takes a minute for all the files.
        let expression = try NSRegularExpression(pattern: "\\b(\(words))\\b", options: .caseInsensitive)
        return expression.numberOfMatches(in: text, range: NSRange(text.startIndex..., in: text))
    }

    @Test("Sources, docs and README have at most 150 of these words, and the tests at most 30")
    func limit() throws {
        try check(["Sources", "docs", "README.md"], files: 600, limit: 150)
        try check(["Tests", "Benchmarks", ".ci"], files: 300, limit: 30)
    }

    /// - Parameter files: The least number of files below `names`.
    private func check(_ names: [String], files: Int, limit: Int) throws {
        var counts: [(path: String, count: Int)] = []
        for name in names {
            let root = repository.appending(path: name)
            let below = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
            for file in [root] + below where Self.isRead(file) {
                counts.append((file.path, try Self.count(in: String(contentsOf: file, encoding: .utf8))))
            }
        }
        #expect(counts.count >= files, "the files were not found")
        let most = counts.sorted { $0.count > $1.count }.prefix(10).map { "\($0.path): \($0.count)" }
        #expect(counts.reduce(0) { $0 + $1.count } <= limit, "\(most)")
    }

    /// `.ci/whole` writes the report, which quotes the names of tests. This file has the words themselves.
    private static func isRead(_ file: URL) -> Bool {
        let isScript = file.pathExtension.isEmpty && ["run", "make", "serve"].contains(file.lastPathComponent)
        let isGate = file.deletingLastPathComponent().lastPathComponent == ".ci" && !file.hasDirectoryPath
        let isText = ["swift", "c", "h", "md", "bash", "py"].contains(file.pathExtension)
        return (isText || isScript || isGate) && !["whole-report.md", "PlainWordsTests.swift"].contains(file.lastPathComponent)
    }

    @Test("the search finds the words in any case, as whole words")
    func search() throws {
        #expect(try Self.count(in: "Whoever has it, makes it anew. It is to be the one that stands. Nobody") == 6)
        #expect(try Self.count(in: "standstill, one thatch, becomes told, renewal") == 0)
    }
}
