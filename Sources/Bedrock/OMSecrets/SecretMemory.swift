// The memory of all secrets: locked, left out of core dumps, and zeroed in forked children.
//
// All secrets share one region. A mapping for each secret would cost 23 µs and four kernel mappings. Past the lock
// limit of 8 MiB it would not be locked at all, without an error. Blocks are granules of 64 bytes, first fit. A secret
// larger than half a chunk gets its own mapping. The first chunk is small: locking memory fills it with pages at once,
// and most commands keep few secrets.

internal import COMSystem
internal import CSodium
internal import Synchronization

func allocateSecret(_ count: Int) -> SecretBlock {
    unsafe SecretBlock(base: arena.withLock { unsafe Address($0.allocate(count)) }.pointer, count: count)
}

func releaseSecret(_ block: SecretBlock) {
    unsafe om_wipe(block.base, block.count)
    let address = unsafe Address(block.base)
    let count = unsafe block.count
    arena.withLock { $0.release(address, count) }
}

private let arena = Mutex(Arena())

/// A pointer that can cross the lock. The holder of the block owns the bytes behind it.
@safe
private struct Address: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
    init(_ pointer: UnsafeMutableRawPointer) { unsafe self.pointer = pointer }
}

private struct Arena: ~Copyable {
    static let granule = 64
    static let firstChunkSize = 32 << 10
    static let chunkSize = 256 << 10
    static let largest = chunkSize / 2

    var chunks: [Chunk] = []
    var hides = false
    private(set) var protection = SecretMemory.Protection.hidden

    init() {
        // Every secret is allocated through this arena, so here libsodium picks the code for this processor.
        guard sodium_init() >= 0 else { fatalError("libsodium cannot start") }
    }

    mutating func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        guard count <= Arena.largest else { return unsafe map(Arena.pages(count)) }
        let granules = Arena.granules(count)
        for index in chunks.indices {
            if let base = unsafe chunks[index].take(granules) { return unsafe base }
        }
        let size = chunks.isEmpty && count <= Arena.firstChunkSize / 2 ? Arena.firstChunkSize : Arena.chunkSize
        unsafe chunks.append(Chunk(base: map(size), size: size))
        guard let base = unsafe chunks[chunks.count - 1].take(granules) else { fatalError("a new chunk is empty") }
        return unsafe base
    }

    mutating func release(_ address: Address, _ count: Int) {
        guard count <= Arena.largest else {
            return unsafe om_secret_unmap(address.pointer, Arena.pages(count))
        }
        for index in chunks.indices {
            if unsafe chunks[index].give(back: address.pointer, Arena.granules(count)) { return }
        }
        fatalError("a secret from outside the arena")
    }

    private mutating func map(_ size: Int) -> UnsafeMutableRawPointer {
        var got = OM_MEMORY_PLAIN
        guard let base = unsafe om_secret_map(size, hides, &got) else { fatalError("out of memory for secrets") }
        protection = min(protection, SecretMemory.Protection(rawValue: UInt8(got.rawValue)) ?? .none)
        return unsafe base
    }

    private static func granules(_ count: Int) -> Int { max(1, (count + granule - 1) / granule) }
    private static func pages(_ count: Int) -> Int { (count + 65_535) & ~65_535 }
}

@safe
private struct Chunk {
    let base: UnsafeMutableRawPointer
    let size: Int
    /// One bit for each granule, set while the granule is taken.
    var taken: [UInt64]
    /// All granules before this one are taken. Without it, thousands of secrets would make each new one look at all of them.
    private var lowest = 0

    init(base: UnsafeMutableRawPointer, size: Int) {
        unsafe self.base = base
        self.size = size
        taken = [UInt64](repeating: 0, count: size / Arena.granule / 64)
    }

    mutating func take(_ granules: Int) -> UnsafeMutableRawPointer? {
        lowest = first(isTaken: false, from: lowest) ?? taken.count * 64
        var free = lowest
        while free + granules <= taken.count * 64 {
            guard let next = first(isTaken: true, from: free), next < free + granules else {
                mark(free..<free + granules, taken: true)
                return unsafe base + free * Arena.granule
            }
            guard let after = first(isTaken: false, from: next) else { return nil }
            free = after
        }
        return nil
    }

    mutating func give(back address: UnsafeMutableRawPointer, _ granules: Int) -> Bool {
        let offset = unsafe address - base
        guard offset >= 0, offset < size else { return false }
        let first = offset / Arena.granule
        mark(first..<first + granules, taken: false)
        lowest = min(lowest, first)
        return true
    }

    /// The first granule from `start` on that is taken, or that is free. A word of 64 granules is looked at once.
    private func first(isTaken: Bool, from start: Int) -> Int? {
        var index = start
        while index < taken.count * 64 {
            let word = isTaken ? taken[index / 64] : ~taken[index / 64]
            let rest = word >> UInt64(index % 64)
            if rest != 0 { return index + rest.trailingZeroBitCount }
            index = (index / 64 + 1) * 64
        }
        return nil
    }

    private mutating func mark(_ range: Range<Int>, taken mark: Bool) {
        var index = range.lowerBound
        while index < range.upperBound {
            let count = min(64 - index % 64, range.upperBound - index)
            let bits = (UInt64.max >> UInt64(64 - count)) << UInt64(index % 64)
            if mark { taken[index / 64] |= bits } else { taken[index / 64] &= ~bits }
            index += count
        }
    }
}

/// Facts about the memory that holds this process's secrets.
public enum SecretMemory {
    /// How well the memory of the secrets is protected.
    public enum Protection: UInt8, Comparable, Sendable {
        /// The system refused to lock some of the memory. It could be written to swap.
        case none = 0
        /// The memory is never written to swap.
        case locked = 1
        /// The memory is locked, and not even root can read it from outside the process (memfd_secret).
        case hidden = 2

        public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// The lowest protection that any secret's memory has got so far.
    public static var protection: Protection { arena.withLock { $0.protection } }

    /// False after the system refused to lock memory for a secret. That memory could be written to swap.
    public static var isLocked: Bool { protection != .none }

    /// Asks for hidden memory from here on, if the system has it. This is for a process that keeps keys for long. Call
    /// it before the first secret: memory that is already mapped stays as it is.
    public static func hide() { arena.withLock { $0.hides = true } }
}
