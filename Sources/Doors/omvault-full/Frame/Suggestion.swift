// Suggestions for "did you mean …": the known word that is nearest to a mistyped one.

enum Suggestion {
    /// The candidate with the fewest edits from `word`. Nil if that takes more edits than a third of the word's length.
    static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
        let allowed = max(1, word.count / 3)
        let ranked = candidates.map { (edits: edits(from: Array(word), to: Array($0)), name: $0) }
        return ranked.filter { $0.edits <= allowed }.min { $0 < $1 }?.name
    }

    /// The candidate that `word` is probably a typo of: at most two edits away, and fewer than the candidate has letters.
    /// Otherwise every word of two letters would be a typo of `rm`.
    static func likelyTypo(_ word: String, of candidates: some Sequence<String>) -> String? {
        let ranked = candidates.map { (edits: edits(from: Array(word), to: Array($0)), name: $0) }
        return ranked.filter { (1...2).contains($0.edits) && $0.edits < $0.name.count }.min { $0 < $1 }?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
    private static func edits(from one: [Character], to other: [Character]) -> Int {
        var rows = [Array(0...other.count)]
        for i in 0..<one.count {
            var row = [i + 1]
            for j in 0..<other.count {
                var cost = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (one[i] == other[j] ? 0 : 1))
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    cost = min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
