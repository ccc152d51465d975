// Strict reading and writing of our binary formats: big-endian numbers, counted bytes, no trailing bytes.

/// A position in bytes that are read from front to back. It holds no bytes itself, so it can read secrets too.
package struct ByteCursor: Sendable {
    package private(set) var offset = 0

    package init() {}

    /// The range of the next `count` bytes.
    package mutating func skip(_ count: Int, in bytes: Span<UInt8>) throws(MalformedBytes) -> Range<Int> {
        guard count >= 0, count <= bytes.count - offset else { throw MalformedBytes() }
        defer { offset += count }
        return offset..<offset + count
    }

    package mutating func take(_ count: Int, in bytes: Span<UInt8>) throws(MalformedBytes) -> [UInt8] {
        try unsafe bytes.extracting(skip(count, in: bytes)).withUnsafeBufferPointer { unsafe Array($0) }
    }

    // Inlined into the other rooms. Unspecialised generic code would walk through every conformance
    // in the program, at each start.
    @inlinable
    @inline(__always)
    package mutating func number<Number: FixedWidthInteger>(
        _: Number.Type = Number.self, in bytes: Span<UInt8>
    ) throws(MalformedBytes) -> Number {
        Number(truncatingIfNeeded: try bigEndian(Number.bitWidth / 8, in: bytes))
    }

    /// A number of `count` bytes, at most 8, in big-endian order. For callers that are generic themselves: this loop is not.
    package mutating func bigEndian(_ count: Int, in bytes: Span<UInt8>) throws(MalformedBytes) -> UInt64 {
        var number: UInt64 = 0
        for index in try skip(count, in: bytes) { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    /// Text of `count` bytes. Bytes that are not UTF-8 are refused, not repaired.
    package mutating func text(_ count: Int, in bytes: Span<UInt8>) throws(MalformedBytes) -> String {
        let range = try skip(count, in: bytes)
        do { return String(copying: try UTF8Span(validating: bytes.extracting(range))) } catch { throw MalformedBytes() }
    }

    /// Refuses trailing bytes. Call it last.
    package func end(in bytes: Span<UInt8>) throws(MalformedBytes) {
        guard offset == bytes.count else { throw MalformedBytes() }
    }
}

extension [UInt8] {
    /// The number in big-endian order.
    @inlinable
    package mutating func append<Number: FixedWidthInteger>(number: Number) {
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }
}
