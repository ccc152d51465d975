/// A value that is not secret.
enum JSONValue: Sendable {
    case text(String)
    case number(Int)
    case decimal(Double)
    case flag(Bool)
    case list([JSONValue])
    case null
}
