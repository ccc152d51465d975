/// The drawing of names as a tree, by their slashes.
enum NameTree {
    /// - Parameter names: sorted, so that all names under a prefix are beside each other.
    /// - Returns: One line for each name and for each prefix. A prefix ends with a slash. The lines are not escaped.
    static func lines(_ names: [String]) -> [String] {
        lines(names.map { $0.split(separator: "/", omittingEmptySubsequences: false)[...] }[...], indent: nil)
    }

    /// - Parameter indent: Nil for the names at the left edge, which have no branch before them.
    private static func lines(_ paths: ArraySlice<ArraySlice<Substring>>, indent: String?) -> [String] {
        var (lines, rest) = ([String](), paths)
        while let path = rest.first, let head = path.first {
            let isPrefix = path.count > 1
            let count =
                isPrefix
                ? rest.prefix { $0.count > 1 && $0.first?.utf8.elementsEqual(head.utf8) == true }.count : 1
            let group = rest.prefix(count)
            rest = rest.dropFirst(count)
            lines.append((indent.map { $0 + (rest.isEmpty ? "└── " : "├── ") } ?? "") + head + (isPrefix ? "/" : ""))
            guard isPrefix else { continue }
            let below = indent.map { $0 + (rest.isEmpty ? "    " : "│   ") } ?? ""
            lines += Self.lines(group.map { $0.dropFirst() }[...], indent: below)
        }
        return lines
    }
}
