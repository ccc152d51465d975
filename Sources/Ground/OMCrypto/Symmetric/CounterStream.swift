// Counter mode (SP 800-38A section 6.5) over a cipher's bare blocks, for DES and Triple DES: OpenSSL has it for AES
// only.

internal import OMSecrets

/// The counter and the rest of the last keystream.
struct CounterStream: ~Copyable {
    /// The next counter block, one big-endian number.
    private var next: [UInt8]
    private var keystream = SecretScratch(count: Self.batch)
    private var used = Self.batch
    private static let batch = 4096

    init(startingAt iv: [UInt8]) { next = iv }

    /// XORs the keystream onto `count` bytes. False if the cipher fails.
    mutating func apply(
        _ context: borrowing CipherContext, _ input: UnsafePointer<UInt8>, _ count: Int,
        into target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        var done = 0
        while done < count {
            if used == Self.batch, !refill(context) { return false }
            let piece = min(count - done, Self.batch - used)
            let start = used
            keystream.withBytes(Self.batch) { stream in
                for index in 0..<piece { target[done + index] = input[done + index] ^ stream[start + index] }
            }
            done += piece
            used += piece
        }
        return true
    }

    private mutating func refill(_ context: borrowing CipherContext) -> Bool {
        var counters: [UInt8] = []
        counters.reserveCapacity(Self.batch)
        while counters.count < Self.batch {
            counters += next
            increment()
        }
        used = 0
        let written = keystream.withMutableBytes(0..<Self.batch) { target in
            target.withPointer { target, _ in context.update(counters, counters.count, into: target) }
        }
        return written == Self.batch
    }

    private mutating func increment() {
        for index in next.indices.reversed() {
            next[index] &+= 1
            if next[index] != 0 { return }
        }
    }
}
