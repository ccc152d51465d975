// Tests that compare docs/internals/glossary.md with the types in the sources that other rooms or applications can name.

import Foundation
import Testing

@Suite("The glossary") struct GlossaryTests {
    @Test("the name of a public or package type has only words of the glossary")
    func sharedTypes() throws {
        let glossary = try Glossary.ofRepository(), types = try TypeDeclaration.inSources()
        for type in types where type.isShared {
            #expect(glossary.words(of: type.name) != nil, "\(type.path): \(type.name)")
        }
        #expect(types.count { $0.isShared } > 300, "the sources were not found")
    }

    @Test("the glossary repeats no word, and names only types and capitalised words that exist")
    func page() throws {
        let glossary = try Glossary.ofRepository(), types = try TypeDeclaration.inSources()
        #expect(glossary.doubled.isEmpty)
        let names = Set(types.map(\.name))
        #expect(glossary.types.subtracting(names).isEmpty)
        let used = Set(types.filter(\.isShared).flatMap { glossary.words(of: $0.name) ?? [] })
        let needed = glossary.spelled.filter { $0.first?.isUppercase == true }
        #expect(needed.subtracting(used).isEmpty)
        #expect(needed.count > 150, "the glossary was not read")
    }

    @Test(
        "a name is cut into words, including acronyms and plurals",
        arguments: [
            ("HTTPDate", ["HTTP", "Date"]), ("SecretBytes", ["Secret", "Byte"]), ("Policies", ["Policy"]),
            ("PKCS12Date", ["PKCS12", "Date"]), ("SecretsDate", ["Secret", "Date"]), ("Shelf", nil), ("SecretShelf", nil),
            ("Dated", nil), ("HTTPdate", nil),
        ] as [(String, [String]?)])
    func cutting(name: String, words: [String]?) {
        let glossary = Glossary(
            """
            | word | meaning | types |
            |---|---|---|
            | secret; Policy, Byte | … | |

            ## Field terms and plain words

            All: HTTP, Date,
            PKCS12.
            """)
        #expect(glossary.words(of: name) == words)
    }
}

/// The words of docs/internals/glossary.md.
private struct Glossary {
    /// The words as the page spells them.
    private(set) var spelled: Set<String> = []
    private(set) var doubled: [String] = []
    /// The types that the page's tables name.
    private(set) var types: Set<String> = []

    static func ofRepository() throws -> Glossary {
        Glossary(try String(contentsOf: repository.appending(path: "docs/internals/glossary.md"), encoding: .utf8))
    }

    init(_ text: String) {
        let parts = text.split(separator: "## Field terms and plain words", maxSplits: 1)
        for line in parts[0].split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| word") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            add(cells[1])
            for name in cells[3].matches(of: /`([\w.]+)[^`]*`/) {
                types.formUnion(name.1.split(separator: ".").map(String.init))
            }
        }
        for list in (parts.last ?? "").split(separator: "\n\n") { add(list.drop { $0 != ":" }.dropFirst()) }
    }

    private mutating func add(_ words: Substring) {
        for part in words.split(whereSeparator: { ",;.\n".contains($0) }) {
            let word = part.trimmingCharacters(in: .whitespaces)
            guard !word.isEmpty else { continue }
            let others = spelled.map { $0.lowercased() }
            if others.contains(word.lowercased()) { doubled.append(word) }
            spelled.insert(word)
        }
    }

    /// The words of a type's name, in singular and as the page spells them. Nil if the page lacks a word.
    func words(of name: some StringProtocol) -> [String]? {
        guard !name.isEmpty else { return [] }
        // The longest word first: OAuth is one word, and no O before Auth.
        for end in name.indices.reversed() {
            let rest = name[name.index(after: end)...]
            guard rest.first.map({ $0.isUppercase || $0.isNumber }) ?? true, let word = word(String(name[...end])) else {
                continue
            }
            if let others = words(of: rest) { return [word] + others }
        }
        return nil
    }

    private func word(_ text: String) -> String? {
        let singular =
            [text]
            + [("s", ""), ("es", ""), ("ies", "y")].compactMap { end, other in
                text.hasSuffix(end) ? text.dropLast(end.count) + other : nil
            }
        return singular.lazy.compactMap { one in
            spelled.contains(one) ? one : spelled.contains(one.prefix(1).lowercased() + one.dropFirst()) ? one : nil
        }.first
    }
}
