/// 1 to 255 bytes of UTF-8 without control characters. Names are compared as bytes: no case folding, no normalisation.
public struct UserName: Hashable, Sendable {
    public static let maximumCount = 255

    public let utf8: [UInt8]

    /// - Throws: ``AuthError/invalidUserName``.
    public init(_ text: String) throws(AuthError) {
        guard (1...Self.maximumCount).contains(text.utf8.count), text.isPrintable else { throw .invalidUserName }
        utf8 = Array(text.utf8)
    }

    public var text: String { String(decoding: utf8, as: UTF8.self) }
}
