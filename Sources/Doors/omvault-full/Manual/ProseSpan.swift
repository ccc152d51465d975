/// A part of the prose of a help text: plain words, or what a user types.
enum ProseSpan: Equatable {
    case plain(String)
    case typed(String)

    /// What a user types is everything in single quotes, an option, or a word with a character that would be markup in Markdown.
    /// The quotes are left out.
    static func spans(of prose: String) -> [ProseSpan] {
        var spans: [ProseSpan] = []
        var end = prose.startIndex
        for match in prose.matches(of: /'([^'\s][^']*)'|[^\s()]+/) {
            var found = match.0
            if match.1 == nil { while let last = found.last, ",;:.".contains(last) { found.removeLast() } }
            guard match.1 != nil || isTyped(found) else { continue }
            if end < match.range.lowerBound { spans.append(.plain(String(prose[end..<match.range.lowerBound]))) }
            spans.append(.typed(String(match.1 ?? found)))
            end = found.endIndex
        }
        return end < prose.endIndex ? spans + [.plain(String(prose[end...]))] : spans
    }

    private static func isTyped(_ word: Substring) -> Bool {
        word == "-" || isOption(word) || word.utf8.contains { marks.contains($0) }
    }

    private static let marks = Set("$<>|*_{}[]`\\".utf8)

    /// `-q`, `--vault`, `--new-password-…`
    private static func isOption(_ word: Substring) -> Bool {
        let name = word.drop { $0 == "-" }
        let letters = name.hasSuffix("…") ? name.dropLast() : name
        let isPlain = letters.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        return (1...2).contains(word.count - name.count) && letters.first?.isLetter == true && isPlain
    }
}
