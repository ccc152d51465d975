// Secrets of unknown length: read from a descriptor, typed at a terminal, encoded field by field.

internal import COMSystem

/// A secret under construction. It grows inside locked memory and wipes the memory that it leaves.
public struct SecretBuffer: ~Copyable, Sendable {
    private var storage: SecretBytes
    private var used = 0

    public init(capacity: Int = 256) {
        storage = SecretBytes(count: max(capacity, 64)) { _ in }
    }

    public var count: Int { used }

    public mutating func append(_ byte: UInt8) {
        reserve(1)
        storage.withMutableBytes(used..<used + 1) { $0[0] = byte }
        used += 1
    }

    public mutating func append(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        storage.withMutableBytes(used..<used + bytes.count) { $0.copy(bytes) }
        used += bytes.count
    }

    public mutating func append(_ secret: borrowing SecretBytes) {
        reserve(secret.count)
        secret.withBytes { append($0) }
    }

    /// Lends `count` free bytes to `body`, which returns how many it wrote from the start.
    public mutating func append<E: Error>(
        upTo count: Int, _ body: (inout MutableSpan<UInt8>) throws(E) -> Int
    ) throws(E) {
        reserve(count)
        let written = try storage.withMutableBytes(used..<used + count, body)
        precondition((0...count).contains(written), "more bytes written than were free")
        used += written
    }

    /// Removes the last byte, as a terminal's erase key does.
    public mutating func removeLast() {
        guard used > 0 else { return }
        used -= 1
        storage.withMutableBytes(used..<used + 1) { $0[0] = 0 }
    }

    /// Wipes all appended bytes and starts again in the same memory.
    public mutating func removeAll() {
        storage.withMutableBytes(0..<used) { bytes in
            unsafe bytes.withPointer { unsafe om_wipe($0, $1) }
        }
        used = 0
    }

    public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try storage.withBytes { (all: Span<UInt8>) throws(E) -> R in try body(all.extracting(0..<used)) }
    }

    /// The secret, exactly as long as the appended bytes.
    public consuming func finish() -> SecretBytes {
        if used == storage.count { return storage }
        return withBytes { SecretBytes(copying: $0) }
    }

    private mutating func reserve(_ more: Int) {
        guard used + more > storage.count else { return }
        let grown = SecretBytes(count: max(storage.count * 2, used + more)) { target in
            storage.withBytes { target.copy($0.extracting(0..<used)) }
        }
        storage = grown
    }
}
