/// A nonce (24 bytes), the ciphertext and its tag (16 bytes). A box is safe to store, and opens only in its own context.
public struct SealedBox: Hashable, Sendable {
    public static let overhead = 24 + 16

    public let bytes: [UInt8]

    /// A box as it was stored. Only ``AEAD/open(_:using:context:)`` can find out whether it opens.
    public init(stored bytes: [UInt8]) { self.bytes = bytes }
}
