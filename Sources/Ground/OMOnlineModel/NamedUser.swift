/// The user whom a server names after a login at its own pages.
public struct NamedUser: Hashable, Sendable {
    /// The name to show and to keep the session under. Not unique over several servers.
    public let name: String
    /// `sub`: with the issuer it is the identity.
    public let subject: String

    /// The most bytes of either text.
    public static let longest = 512

    public init(_ name: String, subject: String) { (self.name, self.subject) = (name, subject) }
}
