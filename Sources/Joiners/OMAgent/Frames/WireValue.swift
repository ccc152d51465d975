// Values as bytes in the agent's protocol and the online helper's. Writing goes into locked memory. Reading is strict: what
// the pages do not allow is refused.

internal import OMRecords
internal import OMSecrets

/// A value with one form in bytes.
protocol WireValue: ~Copyable {
    borrowing func write(to body: inout SecretBuffer)
    /// - Throws: for bytes that the page does not allow.
    init(from wire: inout WireReader) throws(MalformedBytes)
}

/// Bytes that are read from front to back.
struct WireReader: ~Copyable, ~Escapable {
    private let bytes: Span<UInt8>
    private var cursor = ByteCursor()

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { cursor.offset == bytes.count }

    @_lifetime(self: copy self)
    mutating func read<Value: WireValue & ~Copyable>(_: Value.Type = Value.self) throws(MalformedBytes) -> Value {
        try Value(from: &self)
    }

    @_lifetime(self: copy self)
    mutating func number<Number: FixedWidthInteger>() throws(MalformedBytes) -> Number { try cursor.number(in: bytes) }

    @_lifetime(self: copy self)
    mutating func bytes(_ count: Int) throws(MalformedBytes) -> [UInt8] { try cursor.take(count, in: bytes) }

    /// The next `count` bytes, lent.
    @_lifetime(self: copy self)
    mutating func lent<R: ~Copyable>(
        _ count: Int, _ body: (Span<UInt8>) throws(MalformedBytes) -> R
    ) throws(MalformedBytes) -> R {
        try body(bytes.extracting(try cursor.skip(count, in: bytes)))
    }

    @_lifetime(self: copy self)
    mutating func text(_ count: Int) throws(MalformedBytes) -> String { try cursor.text(count, in: bytes) }

    @_lifetime(self: copy self)
    mutating func secret(upTo maximum: Int) throws(MalformedBytes) -> SecretBytes {
        let secret: SecretBytes = try read()
        guard secret.count <= maximum else { throw MalformedBytes() }
        return secret
    }

    /// A list behind a count of 4 bytes.
    @_lifetime(self: copy self)
    mutating func longList<Element: WireValue>(upTo maximum: Int = .max) throws(MalformedBytes) -> [Element] {
        try list(Int(try read(UInt32.self)), maximum)
    }

    /// A list behind a count of 2 bytes.
    @_lifetime(self: copy self)
    mutating func shortList<Element: WireValue>(upTo maximum: Int = .max) throws(MalformedBytes) -> [Element] {
        try list(Int(try read(UInt16.self)), maximum)
    }

    @_lifetime(self: copy self)
    private mutating func list<Element: WireValue>(_ count: Int, _ maximum: Int) throws(MalformedBytes) -> [Element] {
        guard count <= maximum else { throw MalformedBytes() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read()) }
        return elements
    }

    /// To be called last: trailing bytes are refused.
    func end() throws(MalformedBytes) { try cursor.end(in: bytes) }
}

extension SecretBuffer {
    mutating func write<Value: WireValue & ~Copyable>(_ value: borrowing Value) { value.write(to: &self) }

    /// Writes values one behind the other.
    mutating func write<First: WireValue, Second: WireValue, each Other: WireValue>(
        _ first: First, _ second: Second, _ other: repeat each Other
    ) {
        first.write(to: &self)
        second.write(to: &self)
        repeat (each other).write(to: &self)
    }

    /// The same behind the number that tells a case of an enum from the others.
    mutating func write<each Value: WireValue>(tag: UInt8, _ value: repeat each Value) {
        append(tag)
        repeat (each value).write(to: &self)
    }

    mutating func write(longList elements: [some WireValue]) { write(LongList(elements)) }

    /// A list behind a count of 2 bytes.
    mutating func write(shortList elements: [some WireValue]) {
        write(UInt16(elements.count))
        for element in elements { element.write(to: &self) }
    }
}

/// count (4) ‖ elements
struct LongList<Element: WireValue>: WireValue {
    let elements: [Element]

    init(_ elements: [Element]) { self.elements = elements }

    func write(to body: inout SecretBuffer) {
        body.write(UInt32(elements.count))
        for element in elements { element.write(to: &body) }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) { elements = try wire.longList() }
}

// MARK: - Numbers, texts, secrets

extension WireValue where Self: FixedWidthInteger {
    func write(to body: inout SecretBuffer) {
        let width = bitWidth / 8
        body.append(upTo: width) { free in
            for index in 0..<width { free[index] = UInt8(truncatingIfNeeded: self >> (8 * (width - 1 - index))) }
            return width
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) { self = try wire.number() }
}

extension UInt8: WireValue {}
extension UInt16: WireValue {}
extension UInt32: WireValue {}
extension UInt64: WireValue {}
extension Int32: WireValue {}
extension Int64: WireValue {}

/// 0 or 1
extension Bool: WireValue {
    func write(to body: inout SecretBuffer) { body.append(self ? 1 : 0) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 0: self = false
        case 1: self = true
        default: throw MalformedBytes()
        }
    }
}

/// 0, or 1 ‖ value
extension Optional: WireValue where Wrapped: WireValue & ~Copyable {
    borrowing func write(to body: inout SecretBuffer) {
        switch self {
        case .none: body.append(0)
        case .some(let value):
            body.append(1)
            value.write(to: &body)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        self = try wire.read(Bool.self) ? .some(try wire.read()) : .none
    }
}

/// count (2) ‖ UTF-8
extension String: WireValue {
    func write(to body: inout SecretBuffer) {
        body.write(UInt16(utf8.count))
        body.append(utf8Span.span)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) { self = try wire.text(Int(try wire.read(UInt16.self))) }
}

/// count (4) ‖ bytes
extension SecretBytes: WireValue {
    borrowing func write(to body: inout SecretBuffer) {
        body.write(UInt32(count))
        body.append(self)
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        let count = Int(try wire.read(UInt32.self))
        self = try wire.lent(count) { bytes in SecretBytes(copying: bytes) }
    }
}

/// An id, or the number of a question: 16 bytes.
struct WireID: WireValue {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func write(to body: inout SecretBuffer) { body.append(bytes.span) }

    init(from wire: inout WireReader) throws(MalformedBytes) { bytes = try wire.bytes(16) }
}

extension WireValue where Self: RawRepresentable, RawValue: WireValue {
    func write(to body: inout SecretBuffer) { rawValue.write(to: &body) }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        guard let value = Self(rawValue: try wire.read()) else { throw MalformedBytes() }
        self = value
    }
}
