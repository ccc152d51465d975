/// The part of a server's users that a login belongs to. It has up to 255 bytes of UTF-8 without control characters.
/// Domains are compared as bytes.
public struct IdentityDomain: Hashable, Sendable {
    public static let maximumCount = 255
    /// No domain.
    public static let none = IdentityDomain(utf8: [])

    public let utf8: [UInt8]

    /// - Parameter text: If empty, no domain.
    /// - Throws: ``AuthError/invalidDomain``.
    public init(_ text: String) throws(AuthError) {
        guard text.utf8.count <= Self.maximumCount, text.isPrintable else { throw .invalidDomain }
        self.init(utf8: Array(text.utf8))
    }

    private init(utf8: [UInt8]) { self.utf8 = utf8 }

    public var text: String { String(decoding: utf8, as: UTF8.self) }
}
