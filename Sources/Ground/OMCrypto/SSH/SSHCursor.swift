// The reader of SSH's binary encoding (RFC 4251 section 5).

/// A position in SSH's binary encoding. A length of four bytes comes before each string.
struct SSHCursor {
    private var position: Int
    private let end: Int
    let blame: CryptoError

    init(_ range: Range<Int>, blame: CryptoError) {
        (position, end, self.blame) = (range.lowerBound, range.upperBound, blame)
    }

    mutating func byte(_ bytes: Span<UInt8>) throws(CryptoError) -> UInt8 {
        guard position < end else { throw blame }
        defer { position += 1 }
        return bytes[position]
    }

    /// 0 or 1.
    mutating func flag(_ bytes: Span<UInt8>) throws(CryptoError) -> Bool {
        let byte = try byte(bytes)
        guard byte < 2 else { throw blame }
        return byte == 1
    }

    mutating func number(_ bytes: Span<UInt8>) throws(CryptoError) -> Int {
        guard end - position >= 4 else { throw blame }
        defer { position += 4 }
        return (position..<position + 4).reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }

    mutating func string(_ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        let count = try number(bytes)
        guard count <= end - position else { throw blame }
        defer { position += count }
        return position..<position + count
    }

    mutating func text(_ bytes: Span<UInt8>) throws(CryptoError) -> String {
        let range = try string(bytes)
        guard range.count <= 64 else { throw blame }
        return bytes.text(range)
    }

    /// A number above 0 in the fewest bytes, with a zero before a high bit (RFC 4251 section 5).
    mutating func mpint(_ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        let range = try string(bytes)
        guard let first = range.first, bytes[first] < 0x80 else { throw blame }
        guard bytes[first] == 0 else { return range }
        guard range.count > 1, bytes[first + 1] >= 0x80 else { throw blame }
        return range.dropFirst()
    }

    var rest: Range<Int> { position..<end }

    func finish() throws(CryptoError) {
        guard position == end else { throw blame }
    }
}
