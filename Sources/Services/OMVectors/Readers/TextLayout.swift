/// What the records of one text kind look like.
struct TextLayout: Sendable {
    /// What reports call the algorithm.
    let name: String
    /// Whether a file with this head is of this kind.
    let matches: @Sendable (TextHeader) -> Bool
    /// Fields that set something for all that follow, as `n` and `e` do in RSA files.
    var lasting: Set<String> = []
    /// The fields of a record in order, one line a shape; the first that fits is taken. `FAIL` is a word alone on its
    /// line; `secret?` may be missing; in `PT|FAIL` either stands there. Case makes no difference; `_` is a space.
    let shapes: [String]
}
