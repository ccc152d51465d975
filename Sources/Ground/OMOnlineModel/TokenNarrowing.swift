/// What a refresh asks the server for, in place of what the refresh token allows.
public struct TokenNarrowing: Hashable, Sendable {
    /// The most bytes of a resource.
    package static let longestResource = 2048

    /// The scopes to ask for. Empty for those of the refresh token.
    public let scopes: ScopeSet
    /// The server that the token is for (RFC 8707). Nil for no certain one.
    public let resource: String?

    /// - Returns: nil if neither is given, or if the resource is no absolute address without a fragment, of printable ASCII.
    public init?(scopes: ScopeSet, resource: String?) {
        guard !scopes.isEmpty || resource != nil, resource.map(Self.isResource) ?? true else { return nil }
        (self.scopes, self.resource) = (scopes, resource)
    }

    /// Whether the text is an absolute address without a fragment.
    static func isResource(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.utf8.startIndex else { return false }
        return text.utf8.count <= longestResource && text.utf8.index(after: colon) != text.utf8.endIndex
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"#<>\\^`{|}".utf8.contains($0) }
    }
}
