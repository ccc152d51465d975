internal import ArgumentParser
internal import OMItems
internal import OMVault

/// How `find` compares its words with names, instead of looking for a part.
enum PatternKind: String, EnumerableFlag {
    case exact, fuzzy, regex

    static func help(for kind: PatternKind) -> ArgumentHelp? {
        switch kind {
        case .exact: "Find names that are exactly the word, with the same capital letters."
        case .fuzzy: "Find names that have the word's letters in their order. The best match is first."
        case .regex: "Find names that the regular expression matches."
        }
    }
}

/// Words that names and shown values are compared with, in one of three ways. It never sees a concealed value.
struct NamePattern {
    private enum Rule {
        case exact(String)
        case fuzzy([UInt8])
        case regex(BoundedRegex)
    }

    private let rules: [Rule]

    /// - Throws: `ValidationError` with the place of what is wrong in a regular expression.
    init(_ kind: PatternKind, _ words: [String]) throws {
        rules = try words.map { word in
            guard (1...ItemSearch.maximumWordCount).contains(word.utf8.count) else { throw FindCommand.noWord }
            switch kind {
            case .exact: return .exact(word)
            case .fuzzy: return .fuzzy(word.utf8.filter { $0 != UInt8(ascii: " ") }.map(Self.fold))
            case .regex:
                do throws(BoundedRegex.Problem) { return .regex(try BoundedRegex(word)) } catch {
                    throw ValidationError("the pattern is wrong at character \(error.position): \(error.words)")
                }
            }
        }
    }

    /// The items whose texts match each word. The best are first, and then they are in the order that they had.
    func matching(_ items: [Item], in scope: ItemSearch.Scope?) -> [Item] {
        let found = items.compactMap { item in cost(of: Self.texts(of: item, in: scope)).map { (item, $0) } }
        return found.enumerated().sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }.map(\.element.0)
    }

    /// How far the texts are from the words; 0 for a pattern that matches or does not. Nil if a word is not found.
    private func cost(of texts: [String]) -> Int? {
        var sum = 0
        for rule in rules {
            guard let least = texts.compactMap({ Self.cost(of: rule, in: $0) }).min() else { return nil }
            sum += least
        }
        return sum
    }

    private static func cost(of rule: Rule, in text: String) -> Int? {
        switch rule {
        // As bytes. Attack: Swift calls two names equal that only look the same, and one may be an attacker's.
        case .exact(let word): text.utf8.elementsEqual(word.utf8) ? 0 : nil
        case .regex(let regex): regex.matches(text) ? 0 : nil
        case .fuzzy(let word): gap(of: word, in: text)
        }
    }

    /// 1024 for each byte that is inside the shortest match but not in the word, and 1 for each byte of the text that is not
    /// in the word. One pass over the text.
    private static func gap(of word: [UInt8], in text: String) -> Int? {
        guard !word.isEmpty else { return nil }
        /// For each letter of the word: the latest begin of a match up to this letter.
        var starts = [Int?](repeating: nil, count: word.count)
        var shortest: Int?
        for (position, byte) in text.utf8.lazy.map(fold).enumerated() {
            for letter in word.indices.reversed() where word[letter] == byte {
                starts[letter] = letter == 0 ? position : starts[letter - 1]
                if letter == word.count - 1, let start = starts[letter] {
                    shortest = min(shortest ?? .max, position + 1 - start)
                }
            }
        }
        return shortest.map { ($0 - word.count) * 1024 + text.utf8.count - word.count }
    }

    private static func texts(of item: Item, in scope: ItemSearch.Scope?) -> [String] {
        guard let scope else { return [item.name.text] }
        return (scope.hasItemName ? [item.name.text] : [])
            + item.fields.filter { scope.fields.contains($0.name) }.compactMap(\.shownValue)
    }

    private static func fold(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
