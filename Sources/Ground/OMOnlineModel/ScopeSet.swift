// Sets of OAuth scopes: those that a token was given for, and those that a caller wants.

/// A set of scopes of OAuth 2.0 (RFC 6749, 3.3): at most 64 names of 1 to 256 printable bytes.
public struct ScopeSet: Hashable, Sendable {
    package static let maximum = 64
    package static let longest = 256

    /// The names in the order of their bytes, each once.
    public let names: [String]

    /// The empty set.
    public init() { names = [] }

    /// - Returns: nil if a name is no scope's, or if there are more than 64.
    public init?(_ names: some Sequence<String>) {
        let all = Set(names)
        guard all.count <= Self.maximum, all.allSatisfy(Self.isScope) else { return nil }
        self.names = Self.ordered(all)
    }

    /// The scopes that a server says it granted. A name that no scope can have is left out, and so are all behind 64. So
    /// the set covers less than the server granted, never more.
    package init(granted names: [String]) {
        self.names = Array(Self.ordered(Set(names.filter(Self.isScope))).prefix(Self.maximum))
    }

    public var isEmpty: Bool { names.isEmpty }

    /// Whether each scope of `others` is in this set.
    public func covers(_ others: ScopeSet) -> Bool { Set(names).isSuperset(of: others.names) }

    private static func ordered(_ names: Set<String>) -> [String] {
        names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func isScope(_ name: String) -> Bool {
        (1...longest).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
