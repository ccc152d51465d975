// Tests of the pages: their links, the mentions of them in sources and tests, and the length of their lines.

import Foundation
import Testing

@Suite("Pages") struct PagesTests {
    /// Pages that scripts write.
    private static let written: Set = ["docs/internals/whole-report.md", "docs/internals/soak.md"]

    @Test("every link of a page leads to a file, and its fragment to a heading there")
    func links() throws {
        let pages = try Pages.ofRepository()
        let links = pages.texts.keys.sorted().flatMap(pages.links)
        #expect(links.count > 150, "the links were not found")
        let wrong = links.filter { !pages.isRight($0) }.map { "\($0.page): \($0.target)" }
        #expect(wrong.isEmpty)
    }

    @Test("every page that sources, tests, scripts or pages name is there, and so is every heading")
    func mentions() throws {
        let pages = try Pages.ofRepository()
        // This file's examples name pages that are not there.
        let mentions = try Self.texts().filter { !$0.path.hasSuffix("/PagesTests.swift") }.flatMap { path, text in
            Pages.mentions(in: text).map { (path: path, mention: $0) }
        }
        #expect(mentions.count > 200, "the mentions were not found")
        let wrong = mentions.filter { !pages.has($0.mention) }.map { "\($0.path): \($0.mention)" }
        #expect(wrong.isEmpty)
    }

    @Test("no line of a page has more than 120 characters, except in the pages that scripts write")
    func lines() throws {
        for (page, text) in try Pages.ofRepository().texts where !Self.written.contains(page) {
            let long = Pages.longLines(of: text)
            #expect(long.isEmpty, "\(page): lines \(long)")
        }
    }

    @Test("the checks find a link to no file, a fragment and a mention of no heading, a page that is not there, a long line")
    func selfCheck() {
        let pages = Pages(
            texts: [
                "README.md": """
                # Top
                [a](docs/deep/page.md#the-keys-one), [b](#top), [c](docs/deep/page.md#locks), [d](docs/other.md)
                """,
                "docs/deep/page.md": """
                ## The `keys`: [one](../../README.md)
                ```
                # No heading, and [no](link.md)
                ```
                **A held lock.** [e](../../README.md), [f](https://example.org/x.md), [g](../../README.md#the-keys-one)
                """,
            ], isFile: { ["README.md", "docs/deep/page.md"].contains($0) })
        let wrong = ["README.md", "docs/deep/page.md"].flatMap(pages.links).filter { !pages.isRight($0) }
        #expect(wrong.map(\.target) == ["docs/deep/page.md#locks", "docs/other.md", "../../README.md#the-keys-one"])
        let gone = "gone"
        let mentions = Pages.mentions(
            in: """
                /// page.md, "The keys: one", "A held
                /// lock" and "Locks", and `README.md`, "Top". "Else"
                # docs/deep/page.md, docs/\(gone).md; [page.md](deep/page.md), "Top"
                """)
        #expect(
            mentions.filter { !pages.has($0) } == [
                Pages.Mention(page: "docs/\(gone).md"), Pages.Mention(page: "page.md", heading: "Locks"),
                Pages.Mention(page: "page.md", heading: "Top"),
            ])
        #expect(mentions.count == 7)
        let line = String(repeating: "ä", count: 120)
        #expect(Pages.longLines(of: "\(line)\n\(line)ä\n") == [2])
    }

    /// The texts that name pages: those of sources, tests and scripts, and the pages themselves.
    private static func texts() throws -> [(path: String, text: String)] {
        var texts: [(path: String, text: String)] = []
        for name in ["Sources", "Tests", "Benchmarks", ".ci", "docs", "Package.swift", "README.md"] {
            let root = repository.appending(path: name)
            let below = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
            for file in [root] + below where try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
                // Vectors and archives are no text.
                guard let text = String(data: try Data(contentsOf: file), encoding: .utf8), text.contains(".md") else { continue }
                texts.append((String(file.path.dropFirst(repository.path.count + 1)), text))
            }
        }
        return texts
    }
}

/// Pages by their paths from the repository's root on.
private struct Pages {
    struct Link {
        let page: String
        /// As the page has it.
        let target: String
    }

    struct Mention: Equatable {
        /// A path that begins with `docs/`, or only a name before a heading.
        let page: String
        var heading: String?
    }

    let texts: [String: String]
    let isFile: (String) -> Bool
    /// The headings of each page without their markup.
    private let headings: [String: [String]]
    /// The bold words at the beginning of a paragraph or of an entry of a list, of each page.
    private let runIns: [String: [String]]

    init(texts: [String: String], isFile: @escaping (String) -> Bool) {
        (self.texts, self.isFile) = (texts, isFile)
        (headings, runIns) = (texts.mapValues(Self.headings), texts.mapValues(Self.runIns))
    }

    static func ofRepository() throws -> Pages {
        let folder = repository.appending(path: "docs")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        let pages = files.filter { $0.pathExtension == "md" } + [repository.appending(path: "README.md")]
        let texts = try pages.map {
            (String($0.path.dropFirst(repository.path.count + 1)), try String(contentsOf: $0, encoding: .utf8))
        }
        return Pages(texts: Dictionary(uniqueKeysWithValues: texts)) { path in
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(
                atPath: repository.appending(path: path).path, isDirectory: &isFolder)
            return isThere && !isFolder.boolValue
        }
    }

    // MARK: - Links

    /// The links of a page to other pages and files, and to its own headings.
    func links(of page: String) -> [Link] {
        Self.lines(texts[page] ?? "").joined(separator: "\n").matches(of: /\]\(([^)\s]+)\)/)
            .filter { !$0.1.contains(":") }.map { Link(page: page, target: String($0.1)) }
    }

    func isRight(_ link: Link) -> Bool {
        let parts = link.target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let folder = URL(filePath: "/" + link.page).deletingLastPathComponent()
        let path = parts[0].isEmpty ? link.page : String(folder.appending(path: parts[0]).standardized.path.dropFirst())
        guard isFile(path), parts.count == 2 else { return isFile(path) }
        return headings[path, default: []].contains { Self.anchor(of: $0) == parts[1] }
    }

    /// The fragment that leads to a heading.
    private static func anchor(of heading: String) -> String {
        String(
            heading.lowercased().compactMap { character in
                character == " " ? "-" : character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
            })
    }

    // MARK: - Mentions

    /// The pages that a text names by their paths, and the headings that it names in quotes behind a page's name.
    static func mentions(in text: String) -> [Mention] {
        // A comment may break anywhere between two words.
        let text = text.replacing(/\n[ \t]*(?:\/\/\/?|#)?[ \t]*/, with: " ")
        let paths = text.matches(of: /docs\/[\w\/.\-]+\.md/).map { Mention(page: String($0.0)) }
        let headings = text.matches(of: /([\w\-]+\.md)(?:`|\]\([^)]*\))?((?:,? (?:and |or )?"[^"]{1,80}")+)/).filter {
            $0.2.hasPrefix(", ")
        }
        return paths
            + headings.flatMap { list in
                list.2.matches(of: /"([^"]*)"/).map { Mention(page: String(list.1), heading: String($0.1)) }
            }
    }

    func has(_ mention: Mention) -> Bool {
        guard let heading = mention.heading else { return texts[mention.page] != nil }
        return texts.keys.contains { page in
            page.split(separator: "/").last.map(String.init) == mention.page
                && (headings[page, default: []] + runIns[page, default: []]).contains(heading)
        }
    }

    // MARK: - Reading

    static func longLines(of text: String) -> [Int] {
        let lines: [Substring] = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.filter { lines[$0].count > 120 }.map { $0 + 1 }
    }

    private static func headings(of text: String) -> [String] {
        lines(text).filter { $0.hasPrefix("#") }.compactMap { line in
            guard let heading = line.wholeMatch(of: /#+ +(.*)/)?.1 else { return nil }
            return String(heading).replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.1) }.replacing("`", with: "")
        }
    }

    private static func runIns(of text: String) -> [String] {
        lines(text).filter { $0.hasPrefix("**") || $0.hasPrefix("- **") }.compactMap { line in
            line.firstMatch(of: /^(?:- )?\*\*([^*]+?)[.:,]?\*\*/).map { String($0.1) }
        }
    }

    /// The lines outside blocks of code.
    private static func lines(_ text: String) -> [Substring] {
        var isCode = false
        let lines: [Substring] = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.filter { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return !isCode && !line.hasPrefix("```")
        }
    }
}
