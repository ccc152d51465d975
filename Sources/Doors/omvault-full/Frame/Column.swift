/// A column of the rows that a command prints.
struct Column: Sendable, ExpressibleByStringLiteral {
    /// The title in a table.
    let title: String
    /// The name in a header for programs: that of the JSON member, if there is one.
    let name: String
    /// Whether its cells are times, so that the title of a table names their zone.
    private(set) var isOfTimes = false

    /// - Parameter name: Nil for the title in small letters, with `_` for blanks.
    init(_ title: String, name: String? = nil) {
        self.title = title
        self.name = name ?? title.lowercased().replacing(" ", with: "_")
    }

    init(stringLiteral title: String) { self.init(title) }

    static func time(_ title: String) -> Column {
        var column = Column(title)
        column.isOfTimes = true
        return column
    }
}
