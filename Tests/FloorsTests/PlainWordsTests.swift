// How often the pages and sources use words that make a reader parse a sentence twice.

import Foundation
import Testing

@Suite("Plain words") struct PlainWordsTests {
    /// The words that a search can find. A few sentences need one of them.
    private static func count(in text: String) -> Int {
        let words = /\b(whoever|anew|nobody|somebody|one that|the one of|of before|by now|is to be|are to be|comes to|stands)\b/
            .ignoresCase()
        return text.matches(of: words).count
    }

    @Test("Sources, docs and README have at most 150 of them")
    func limit() throws {
        var counts: [(path: String, count: Int)] = []
        for name in ["Sources", "docs", "README.md"] {
            let root = repository.appending(path: name)
            let below = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
            // `.ci/whole` writes the report. It quotes the names of tests.
            for file in [root] + below
            where ["swift", "c", "h", "md"].contains(file.pathExtension) && file.lastPathComponent != "whole-report.md" {
                counts.append((file.path, Self.count(in: try String(contentsOf: file, encoding: .utf8))))
            }
        }
        #expect(counts.count > 600, "the files were not found")
        let most = counts.sorted { $0.count > $1.count }.prefix(10).map { "\($0.path): \($0.count)" }
        #expect(counts.reduce(0) { $0 + $1.count } <= 150, "\(most)")
    }

    @Test("the search finds them in any case, as whole words")
    func search() {
        #expect(Self.count(in: "Whoever has it, makes it anew. It is to be the one that stands. Nobody") == 6)
        #expect(Self.count(in: "standstill, one thatch, becomes told, renewal") == 0)
    }
}
