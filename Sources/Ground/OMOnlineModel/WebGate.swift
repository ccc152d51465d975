/// A gate in front of web pages that lets requests with a token of its own pass.
public struct WebGate: Hashable, Sendable {
    public let name: String
    /// The level of authentication that it wants, and the path that it guards. Empty if its realm has no colon.
    public let guarded: String

    /// - Parameter realm: `NAME:LEVEL PATH`, with or without blanks or a line break before the path.
    init(realm: String) {
        let parts = realm.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        name = String(parts[0])
        guarded = parts.count > 1 ? parts[1].filter { !$0.isWhitespace } : ""
    }
}
