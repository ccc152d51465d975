// "did you mean …": the nearest of the known words, if any is near.

enum Suggestion {
    /// The candidate that the fewest edits turn `word` into; nil when it would take more than a third of the word.
    static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
        let allowed = max(1, word.count / 3)
        let ranked = candidates.map { (edits: edits(from: Array(word), to: Array($0)), name: $0) }
        return ranked.filter { $0.edits <= allowed }.min { $0 < $1 }?.name
    }

    /// The candidate that `word` is a slip of: two edits away, or one less than the candidate has letters, so that not every word
    /// of two letters is a slip of `rm`.
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
