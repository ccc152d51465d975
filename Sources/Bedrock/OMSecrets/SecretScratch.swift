// Working memory for a stream. A mapping for every piece would cost more than the cipher that fills it.

/// Locked memory of a fixed size, which its owner uses again and again. It is wiped when it goes out of scope.
public struct SecretScratch: ~Copyable, Sendable {
    private var storage: SecretBytes

    /// `count` zero bytes.
    public init(count: Int) {
        storage = SecretBytes(count: count) { _ in }
    }

    public var count: Int { storage.count }

    /// Lends the first `used` bytes to `body`.
    public borrowing func withBytes<R: ~Copyable, E: Error>(
        _ used: Int, _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try storage.withBytes { (all: Span<UInt8>) throws(E) -> R in try body(all.extracting(0..<used)) }
    }

    /// Lends the bytes of `range` to `body`, which may change them.
    public mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ range: Range<Int>, _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try storage.withMutableBytes(range, body)
    }
}
