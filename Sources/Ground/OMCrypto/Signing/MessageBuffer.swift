// A buffer for a message that is needed as a whole. The message is not a key, and can be as long as a user's file. Locked
// memory is too scarce for it, and a size that a user picks must not end the process.

internal import Glibc
internal import OMSecrets

/// Bytes in ordinary memory, wiped when they are released.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct MessageBuffer: ~Copyable {
    static let largest = 1 << 30
    private var storage: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    /// - Throws: ``CryptoError/inputTooLong`` past ``largest``; ``CryptoError/outOfMemory``.
    mutating func append(_ piece: Span<UInt8>) throws(CryptoError) {
        guard !piece.isEmpty else { return }
        guard piece.count <= Self.largest - count else { throw .inputTooLong }
        if count + piece.count > capacity { try grow(to: count + piece.count) }
        guard let storage else { return }
        unsafe piece.withPointer { bytes, length in (storage + count).copyMemory(from: bytes, byteCount: length) }
        count += piece.count
    }

    borrowing func withBytes<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let bytes = UnsafeRawBufferPointer(start: storage, count: storage == nil ? 0 : count)
        return try body(bytes.bindMemory(to: UInt8.self).span)
    }

    mutating func removeAll() {
        if let storage { explicit_bzero(storage, count) }
        count = 0
    }

    deinit {
        guard let storage else { return }
        explicit_bzero(storage, count)
        free(storage)
    }

    /// Copies the message to a block of twice the size. `realloc` could free the old block without wiping it.
    private mutating func grow(to needed: Int) throws(CryptoError) {
        let wanted = max(needed, capacity * 2, 64 << 10)
        guard let grown = malloc(wanted) else { throw .outOfMemory }
        if let storage {
            grown.copyMemory(from: storage, byteCount: count)
            explicit_bzero(storage, count)
            free(storage)
        }
        (storage, capacity) = (grown, wanted)
    }
}
