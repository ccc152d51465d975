// BLAKE2b (RFC 7693) with any output length, piece by piece. OpenSSL 3.0 has it with 64 bytes only.

internal import CSodium

/// An unkeyed BLAKE2b computation, in memory that `deinit` wipes. It is a class, so that it can replace a handle of OpenSSL.
@safe
package final class BLAKE2b {
    private let state: OpaquePointer
    private let memory: UnsafeMutableRawPointer
    private let count: Int

    /// - Parameter count: 1 to 64 bytes.
    package init(count: Int) {
        precondition((1...64).contains(count), "BLAKE2b gives 1 to 64 bytes")
        let size = crypto_generichash_statebytes()
        unsafe memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        unsafe state = OpaquePointer(memory)
        self.count = count
        restart()
    }

    deinit {
        unsafe sodium_memzero(memory, crypto_generichash_statebytes())
        unsafe memory.deallocate()
    }

    package func update(_ bytes: Span<UInt8>) {
        _ = unsafe bytes.withPointer { unsafe crypto_generichash_update(state, $0, UInt64($1)) }
    }

    /// The digest of all bytes since the start or since the last `finish`.
    package func finish(into target: inout MutableSpan<UInt8>) {
        precondition(target.count == count, "a target of another length")
        _ = unsafe target.withPointer { unsafe crypto_generichash_final(state, $0, $1) }
        restart()
    }

    /// The same as an array.
    package func digest() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        finish(into: &span)
        return bytes
    }

    private func restart() {
        _ = unsafe crypto_generichash_init(state, nil, 0, count)
    }
}
