// Values as bytes in the agent's protocol and the online helper's. Writing goes into locked memory. Reading is strict:
// it refuses bytes that the protocols' pages do not allow.

package import OMRecords
package import OMSecrets

/// A value with one form in bytes.
package protocol WireValue: ~Copyable {
    borrowing func write(to body: inout SecretBuffer)
    /// - Throws: For bytes that the protocol's page does not allow.
    init(from wire: inout WireReader) throws(MalformedBytes)
}

extension SecretBuffer {
    package mutating func write<Value: WireValue & ~Copyable>(_ value: borrowing Value) { value.write(to: &self) }

    /// Writes values one after the other.
    package mutating func write<First: WireValue, Second: WireValue, each Other: WireValue>(
        _ first: First, _ second: Second, _ other: repeat each Other
    ) {
        first.write(to: &self)
        second.write(to: &self)
        repeat (each other).write(to: &self)
    }

    /// The same after a tag, which is the number of an enum's case.
    package mutating func write<each Value: WireValue>(tag: UInt8, _ value: repeat each Value) {
        append(tag)
        repeat (each value).write(to: &self)
    }

    package mutating func write(longList elements: [some WireValue]) { write(LongList(elements)) }

    /// A list after a count of 2 bytes.
    package mutating func write(shortList elements: [some WireValue]) {
        write(UInt16(elements.count))
        for element in elements { element.write(to: &self) }
    }
}

/// count (4) ‖ elements
package struct LongList<Element: WireValue>: WireValue {
    package let elements: [Element]

    package init(_ elements: [Element]) { self.elements = elements }

    package func write(to body: inout SecretBuffer) {
        body.write(UInt32(elements.count))
        for element in elements { element.write(to: &body) }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) { elements = try wire.longList() }
}

// MARK: - Numbers, texts, secrets

extension WireValue where Self: FixedWidthInteger {
    // The loops over the bytes are outside: in this generic code each step would be some calls.
    package func write(to body: inout SecretBuffer) {
        body.write(bigEndian: UInt64(truncatingIfNeeded: self), count: Self.bitWidth / 8)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self = Self(truncatingIfNeeded: try wire.bigEndian(Self.bitWidth / 8))
    }
}

extension SecretBuffer {
    /// The lowest `count` bytes of a number, at most 8, in big-endian order.
    fileprivate mutating func write(bigEndian number: UInt64, count: Int) {
        append(upTo: count) { free in
            for index in 0..<count { free[index] = UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - index))) }
            return count
        }
    }
}

extension UInt8: WireValue {}
extension UInt16: WireValue {}
extension UInt32: WireValue {}
extension UInt64: WireValue {}
extension Int32: WireValue {}
extension Int64: WireValue {}

/// 0 or 1
extension Bool: WireValue {
    package func write(to body: inout SecretBuffer) { body.append(self ? 1 : 0) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0: self = false
        case 1: self = true
        default: throw MalformedBytes()
        }
    }
}

/// 0, or 1 ‖ value
extension Optional: WireValue where Wrapped: WireValue & ~Copyable {
    package borrowing func write(to body: inout SecretBuffer) {
        switch self {
        case .none: body.append(0)
        case .some(let value):
            body.append(1)
            value.write(to: &body)
        }
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        self = try wire.read(Bool.self) ? .some(try wire.read()) : .none
    }
}

/// count (2) ‖ UTF-8
extension String: WireValue {
    package func write(to body: inout SecretBuffer) {
        body.write(UInt16(utf8.count))
        body.append(utf8Span.span)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) { self = try wire.text(Int(try wire.read(UInt16.self))) }
}

/// count (4) ‖ bytes
extension SecretBytes: WireValue {
    package borrowing func write(to body: inout SecretBuffer) {
        body.write(UInt32(count))
        body.append(self)
    }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        let count = Int(try wire.read(UInt32.self))
        self = try wire.lent(count) { bytes in SecretBytes(copying: bytes) }
    }
}

extension WireValue where Self: RawRepresentable, RawValue: WireValue {
    package func write(to body: inout SecretBuffer) { rawValue.write(to: &body) }

    package init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let value = Self(rawValue: try wire.read()) else { throw MalformedBytes() }
        self = value
    }
}
