// The strict reader of DER (X.690 section 10), as keys use it.
//
// It refuses a length that could be shorter, an integer with a byte too many, and a byte after the end.
// Attack: two readers disagree about one file, so an attacker can swap a key under a signature or a fingerprint.

enum DERTag {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let bmpString: UInt8 = 0x1E
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }
    static func primitive(_ number: UInt8) -> UInt8 { 0x80 | number }
}

/// A position in DER. It holds no bytes, because a span cannot be stored: every call takes the same bytes again.
struct DERCursor {
    private(set) var position: Int
    let end: Int
    /// The error for every fault.
    let blame: CryptoError

    init(_ range: Range<Int>, blame: CryptoError) {
        (position, end, self.blame) = (range.lowerBound, range.upperBound, blame)
    }

    var isAtEnd: Bool { position == end }

    /// The next element's tag.
    func tag(_ bytes: Span<UInt8>) -> UInt8? { position < end ? bytes[position] : nil }

    /// Fails if bytes follow.
    func finish() throws(CryptoError) {
        guard isAtEnd else { throw blame }
    }

    /// The content of the next element, which must have this tag.
    mutating func element(_ tag: UInt8, _ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        guard self.tag(bytes) == tag else { throw blame }
        return try any(bytes).content
    }

    /// The next element, with any tag.
    mutating func any(_ bytes: Span<UInt8>) throws(CryptoError) -> (whole: Range<Int>, content: Range<Int>) {
        let start = position
        // No key has tags of more than one byte.
        guard end - start >= 2, bytes[start] & 0x1F != 0x1F else { throw blame }
        var (next, count) = (start + 2, Int(bytes[start + 1]))
        if count >= 0x80 {
            let digits = count & 0x7F
            guard (1...4).contains(digits), end - next >= digits else { throw blame }
            count = (next..<next + digits).reduce(0) { $0 << 8 | Int(bytes[$1]) }
            next += digits
            guard count >= 0x80, digits == 1 || count >> (8 * (digits - 1)) > 0 else { throw blame }
        }
        guard count <= end - next else { throw blame }
        position = next + count
        return (start..<position, next..<position)
    }

    /// Goes into the next element.
    mutating func enter(_ tag: UInt8, _ bytes: Span<UInt8>) throws(CryptoError) -> DERCursor {
        DERCursor(try element(tag, bytes), blame: blame)
    }

    /// Goes into the next element if it has this tag. Otherwise returns nil and stays at its position.
    mutating func enterIfPresent(_ tag: UInt8, _ bytes: Span<UInt8>) throws(CryptoError) -> DERCursor? {
        self.tag(bytes) == tag ? try enter(tag, bytes) : nil
    }

    /// The bytes of a number that is not negative, without its leading zero. The number 0 is one byte.
    mutating func unsigned(_ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        let content = try element(DERTag.integer, bytes)
        guard let first = content.first, bytes[first] < 0x80 else { throw blame }
        guard content.count > 1, bytes[first] == 0 else { return content }
        guard bytes[first + 1] >= 0x80 else { throw blame }
        return content.dropFirst()
    }

    /// A number of at most 31 bits.
    mutating func small(_ bytes: Span<UInt8>) throws(CryptoError) -> Int {
        let content = try unsigned(bytes)
        let value = content.prefix(5).reduce(0) { $0 << 8 | Int(bytes[$1]) }
        guard content.count <= 4, value <= Int32.max else { throw blame }
        return value
    }

    mutating func objectIdentifier(_ bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
        let content = try element(DERTag.objectIdentifier, bytes)
        guard (1...32).contains(content.count) else { throw blame }
        return content.map { bytes[$0] }
    }

    /// The bytes of a bit string of whole bytes.
    mutating func bits(_ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        let content = try element(DERTag.bitString, bytes)
        guard let unused = content.first, bytes[unused] == 0 else { throw blame }
        return content.dropFirst()
    }

    mutating func null(_ bytes: Span<UInt8>) throws(CryptoError) {
        guard try element(DERTag.null, bytes).isEmpty else { throw blame }
    }
}
