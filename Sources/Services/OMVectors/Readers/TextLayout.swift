/// The form of the records of one text kind.
struct TextLayout: Sendable {
    /// The algorithm's name in reports.
    let name: String
    /// Whether a file with this head is of this kind.
    let matches: @Sendable (TextHeader) -> Bool
    /// Fields that are valid for all following records, such as `n` and `e` in RSA files.
    var lasting: Set<String> = []
    /// The fields of a record in order. Each line is one shape, and the first that fits counts. `FAIL` is a word alone on its
    /// line; `secret?` may be missing; `PT|FAIL` is either of the two. Case makes no difference, and `_` is a space.
    let shapes: [String]
}
