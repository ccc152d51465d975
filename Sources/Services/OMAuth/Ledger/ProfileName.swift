/// 1 to 64 of `A-Z a-z 0-9 . _ -`, not starting with a dot. Safe as a file's name.
public struct ProfileName: Hashable, Sendable {
    public static let maximumCount = 64

    public let text: String

    /// - Throws: ``AuthError/invalidProfileName``.
    public init(_ text: String) throws(AuthError) {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard (1...Self.maximumCount).contains(text.utf8.count), isPlain, text.utf8.first != UInt8(ascii: ".") else {
            throw .invalidProfileName
        }
        self.text = text
    }
}
