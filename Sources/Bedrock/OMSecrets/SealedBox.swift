/// A nonce (24 bytes), the ciphertext and its tag (16 bytes): safe to store, useless elsewhere.
public struct SealedBox: Hashable, Sendable {
    public static let overhead = 24 + 16

    public let bytes: [UInt8]

    /// A box as it was stored. Whether it opens, only ``AEAD/open(_:using:context:)`` can tell.
    public init(stored bytes: [UInt8]) { self.bytes = bytes }
}
