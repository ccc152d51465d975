/// A value that is not secret.
package enum JSONValue: Sendable {
    case text(String)
    /// Seconds since 1970, as a text in UTC.
    case time(Int64)
    case number(Int)
    case decimal(Double)
    case flag(Bool)
    case list([JSONValue])
    case null
}
