// Spans in C's form: a pointer that is never NULL, and a count.

extension Span<UInt8> {
    @unsafe
    package func withPointer<R: ~Copyable, E: Error>(_ body: (UnsafePointer<UInt8>, Int) throws(E) -> R) throws(E) -> R {
        try unsafe withUnsafeBufferPointer { (buffer: UnsafeBufferPointer<UInt8>) throws(E) -> R in
            if let base = buffer.baseAddress { return try unsafe body(base, buffer.count) }
            return try unsafe withUnsafePointer(to: 0 as UInt8) { (nothing) throws(E) -> R in
                try unsafe body(nothing, 0)
            }
        }
    }
}

extension MutableSpan<UInt8> {
    @unsafe
    package mutating func withPointer<R: ~Copyable, E: Error>(
        _ body: (UnsafeMutablePointer<UInt8>, Int) throws(E) -> R
    ) throws(E) -> R {
        try unsafe withUnsafeMutableBufferPointer { (buffer: UnsafeMutableBufferPointer<UInt8>) throws(E) -> R in
            if let base = buffer.baseAddress { return try unsafe body(base, buffer.count) }
            var nothing: UInt8 = 0
            return try unsafe withUnsafeMutablePointer(to: &nothing) { (nothing) throws(E) -> R in
                try unsafe body(nothing, 0)
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Overwrites the first bytes with `bytes`, in one call.
    mutating func copy(_ bytes: Span<UInt8>) {
        precondition(bytes.count <= count, "more bytes than there is room for")
        unsafe withPointer { target, _ in
            unsafe bytes.withPointer { unsafe target.update(from: $0, count: $1) }
        }
    }
}

extension UnsafePointer<UInt8> {
    /// The same bytes, for C functions that take text.
    @unsafe
    var asText: UnsafePointer<CChar> { unsafe UnsafeRawPointer(self).assumingMemoryBound(to: CChar.self) }
}

extension [UInt8] {
    /// `count` bytes that `fill` writes.
    init(count: Int, fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        self.init(repeating: 0, count: count)
        var span = mutableSpan
        unsafe span.withPointer { base, _ in unsafe fill(base) }
    }

    package init(copying bytes: Span<UInt8>) {
        self = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { target, initialized in
            unsafe bytes.withPointer { source, count in
                if let base = target.baseAddress { unsafe base.initialize(from: source, count: count) }
            }
            initialized = bytes.count
        }
    }

    package mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withPointer { unsafe append(contentsOf: UnsafeBufferPointer(start: $0, count: $1)) }
    }
}
