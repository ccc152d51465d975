package import OMRecords
package import OMSecrets
package import OMSystem

/// Bytes that are read from front to back.
package struct WireReader: ~Copyable, ~Escapable {
    private let bytes: Span<UInt8>
    private let descriptors: ReceivedDescriptors?
    private var cursor = ByteCursor()

    /// - Parameter descriptors: Those that came with the bytes.
    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>, _ descriptors: ReceivedDescriptors? = nil) {
        (self.bytes, self.descriptors) = (bytes, descriptors)
    }

    package var isAtEnd: Bool { cursor.offset == bytes.count }

    @_lifetime(self: copy self)
    package mutating func read<Value: WireValue & ~Copyable>(_: Value.Type = Value.self) throws(MalformedBytes) -> Value {
        try Value(from: &self)
    }

    @_lifetime(self: copy self)
    package mutating func bigEndian(_ count: Int) throws(MalformedBytes) -> UInt64 { try cursor.bigEndian(count, in: bytes) }

    @_lifetime(self: copy self)
    package mutating func bytes(_ count: Int) throws(MalformedBytes) -> [UInt8] { try cursor.take(count, in: bytes) }

    /// Lends the next `count` bytes to `body`.
    @_lifetime(self: copy self)
    package mutating func lent<R: ~Copyable>(
        _ count: Int, _ body: (Span<UInt8>) throws(MalformedBytes) -> R
    ) throws(MalformedBytes) -> R {
        try body(bytes.extracting(try cursor.skip(count, in: bytes)))
    }

    @_lifetime(self: copy self)
    package mutating func text(_ count: Int) throws(MalformedBytes) -> String { try cursor.text(count, in: bytes) }

    @_lifetime(self: copy self)
    package mutating func secret(upTo maximum: Int) throws(MalformedBytes) -> SecretBytes {
        let secret: SecretBytes = try read()
        guard secret.count <= maximum else { throw MalformedBytes() }
        return secret
    }

    /// The next file that came with the bytes.
    package func file() throws(MalformedBytes) -> UnnamedFile {
        guard let file = descriptors?.next() else { throw MalformedBytes() }
        return file
    }

    /// A list after a count of 4 bytes.
    @_lifetime(self: copy self)
    package mutating func longList<Element: WireValue>(upTo maximum: Int = .max) throws(MalformedBytes) -> [Element] {
        try list(Int(try read(UInt32.self)), maximum)
    }

    /// A list after a count of 2 bytes.
    @_lifetime(self: copy self)
    package mutating func shortList<Element: WireValue>(upTo maximum: Int = .max) throws(MalformedBytes) -> [Element] {
        try list(Int(try read(UInt16.self)), maximum)
    }

    @_lifetime(self: copy self)
    private mutating func list<Element: WireValue>(_ count: Int, _ maximum: Int) throws(MalformedBytes) -> [Element] {
        guard count <= maximum else { throw MalformedBytes() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read()) }
        return elements
    }

    /// Refuses trailing bytes. Call it last.
    package func end() throws(MalformedBytes) { try cursor.end(in: bytes) }
}
