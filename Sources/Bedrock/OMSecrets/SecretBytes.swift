// Secrets that cannot be printed, copied by accident, compared in variable time or left in memory.

internal import COMSystem
internal import CSodium

/// Secret bytes in locked memory, wiped when they go out of scope.
///
/// Move-only, without `description`, `Codable` or `==`. Read the bytes inside ``withBytes(_:)``, and do not copy them
/// out of the span.
@safe
public struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let block: SecretBlock

    /// The number of bytes. It can be 0.
    public var count: Int { unsafe block.count }

    /// `count` zero bytes, then `fill` writes them.
    public init<E: Error>(count: Int, fill: (inout MutableSpan<UInt8>) throws(E) -> Void) throws(E) {
        precondition(count >= 0, "a negative number of bytes")
        unsafe block = allocateSecret(count)
        unsafe om_wipe(block.base, count)
        var bytes = unsafe UnsafeMutableBufferPointer(
            start: block.base.assumingMemoryBound(to: UInt8.self), count: count
        ).mutableSpan
        try fill(&bytes)
    }

    /// A copy of `bytes`. The caller still has to wipe its own memory.
    public init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { $0.copy(bytes) }
    }

    /// A copy of bytes that are not secret, such as a constant or a file's own text.
    public init(copying bytes: [UInt8]) {
        self.init(copying: bytes.span)
    }

    /// `count` bytes from the system's generator.
    public static func random(_ count: Int) -> SecretBytes {
        SecretBytes(count: count) { bytes in
            unsafe bytes.withPointer { unsafe randombytes_buf($0, $1) }
        }
    }

    deinit { unsafe releaseSecret(block) }

    /// Lends the bytes to `body`.
    public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let bytes = unsafe UnsafeBufferPointer(
            start: UnsafePointer(block.base.assumingMemoryBound(to: UInt8.self)), count: block.count)
        return try body(unsafe bytes.span)
    }

    /// A second secret with the same bytes.
    public borrowing func duplicate() -> SecretBytes {
        withBytes { SecretBytes(copying: $0) }
    }

    /// Whether both hold the same bytes, in a time that depends on the lengths only.
    public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        withBytes { mine in other.withBytes { ConstantTime.areEqual(mine, $0) } }
    }
}

extension SecretBytes {
    /// For memory under construction or in reuse. A finished secret does not change.
    mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ range: Range<Int>, _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "outside the secret")
        var bytes = unsafe UnsafeMutableBufferPointer(
            start: (block.base + range.lowerBound).assumingMemoryBound(to: UInt8.self), count: range.count
        ).mutableSpan
        return try body(&bytes)
    }
}
