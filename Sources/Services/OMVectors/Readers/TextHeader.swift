/// The start of a text file, which shows its kind before its records are read.
struct TextHeader: Sendable {
    let comments: [String]
    let fileName: String
    /// The first sections, up to the first field.
    let sections: [TextDocument.Content]
    /// The names of the first fields, up to sixteen.
    let fields: [String]

    init(_ document: TextDocument, fileName: String) {
        (comments, self.fileName) = (document.comments, fileName)
        sections = document.lines.prefix { if case .section = $0.content { true } else { false } }.map(\.content)
        fields = document.lines.prefix(64).compactMap { line in
            if case .field(let name, _) = line.content { name } else { nil }
        }.prefix(16).map { $0 }
    }

    /// Whether NIST's own tool wrote the file.
    var isCAVS: Bool { comments.contains { $0.hasPrefix("CAVS") } }

    /// The text between the quotes, of either kind, at the start of a comment: `SHA-256 ShortMsg`.
    var title: String? {
        comments.lazy.compactMap { comment in
            guard let quote = comment.first, quote == "\"" || quote == "'",
                let end = comment.dropFirst().firstIndex(of: quote)
            else { return nil }
            return String(comment[..<end].dropFirst())
        }.first
    }

    /// Whether the first fields have these names, in any case.
    func startsWith(_ names: [String]) -> Bool {
        fields.count >= names.count && zip(fields, names).allSatisfy { $0.lowercased() == $1.lowercased() }
    }
}
