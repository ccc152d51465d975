// A secret that cannot be printed, copied by accident, compared in variable time or left behind.

internal import COMSystem
internal import CSodium

/// Secret bytes in locked memory, wiped when they go out of scope.
///
/// Move-only: there is no `description`, no `Codable`, no `==`. Read them inside ``withBytes(_:)`` and do not carry the
/// span's bytes out.
@safe
public struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let block: SecretBlock

    /// The number of bytes; it may be 0.
    public var count: Int { unsafe block.count }

    /// `count` bytes, zeroed, then written by `fill`.
    public init<E: Error>(count: Int, fill: (inout MutableSpan<UInt8>) throws(E) -> Void) throws(E) {
        precondition(count >= 0, "a negative number of bytes")
        unsafe block = allocateSecret(count)
        unsafe om_wipe(block.base, count)
        var bytes = unsafe UnsafeMutableBufferPointer(
            start: block.base.assumingMemoryBound(to: UInt8.self), count: count
        ).mutableSpan
        try fill(&bytes)
    }

    /// A copy of `bytes`, whose own memory stays the caller's to wipe.
    public init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { $0.copy(bytes) }
    }

    /// A copy of bytes that are not secret themselves, such as a constant or a file's own text.
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
    /// For ``SecretBuffer`` alone: a finished secret does not change.
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
