// A line of a list of breached passwords: the hash in hexadecimal digits, and behind a colon how often it was seen.

internal import OMSecrets

/// A hash as numbers, for quick comparison. They are in the order of the hashes.
struct HashNumber: Comparable {
    private let (high, middle): (UInt64, UInt64)
    private let low: UInt32

    /// - Parameter byte: Gives a byte of the hash.
    init(count: Int, _ byte: (Int) -> UInt8) {
        func number(_ range: Range<Int>) -> UInt64 {
            range.reduce(0) { $0 << 8 | UInt64($1 < count ? byte($1) : 0) }
        }
        (high, middle, low) = (number(0..<8), number(8..<16), UInt32(number(16..<20)))
    }

    private init(_ high: UInt64, _ middle: UInt64, _ low: UInt32) { (self.high, self.middle, self.low) = (high, middle, low) }

    /// Nil if one of the characters is no hexadecimal digit.
    fileprivate init?(digits: Span<UInt8>) {
        var (high, middle, low): (UInt64, UInt64, UInt32) = (0, 0, 0)
        for index in digits.indices {
            let digit: UInt8
            switch digits[index] {
            case let byte where byte &- 0x30 < 10: digit = byte &- 0x30
            case let byte where (byte | 0x20) &- 0x61 < 6: digit = (byte | 0x20) &- 0x61 &+ 10
            default: return nil
            }
            switch index {
            case 0..<16: high = high << 4 | UInt64(digit)
            case 16..<32: middle = middle << 4 | UInt64(digit)
            default: low = low << 4 | UInt32(digit)
            }
        }
        self.init(high, middle, low)
    }

    /// The first two bytes.
    var start: Int { Int(high >> 48) }

    static let least = HashNumber(0, 0, 0)
    static let greatest = HashNumber(.max, .max, .max)

    static func < (one: HashNumber, other: HashNumber) -> Bool {
        (one.high, one.middle, one.low) < (other.high, other.middle, other.low)
    }
}

/// A line that was read and is well formed.
struct BreachedLine {
    let hash: HashNumber
    /// How often it was seen. Nil if the line does not say.
    let count: Int?

    /// The most bytes: a SHA-1, a colon, 18 digits, CR and LF.
    static let longest = 61

    /// - Parameter line: Without the newline.
    /// - Returns: Nil for a line of any other form.
    init?(_ line: Span<UInt8>, _ kind: BreachedFile.Hash) {
        guard let end = Self.digitCount(line), end == kind.digitCount,
            let hash = HashNumber(digits: line.extracting(0..<end))
        else { return nil }
        self.hash = hash
        let rest = line.count - (line[line.count - 1] == UInt8(ascii: "\r") ? 1 : 0)
        guard rest > end else {
            count = nil
            return
        }
        guard (2...19).contains(rest - end) else { return nil }
        var number = 0
        for index in end + 1..<rest {
            guard line[index] &- 0x30 < 10 else { return nil }
            number = number * 10 + Int(line[index] - 0x30)
        }
        count = number
    }

    /// The number of bytes before the colon, or before the end of the line. Nil for a line that is too long.
    static func digitCount(_ line: Span<UInt8>) -> Int? {
        guard line.count <= longest else { return nil }
        for index in line.indices where line[index] == UInt8(ascii: ":") || line[index] == UInt8(ascii: "\r") { return index }
        return line.count
    }
}
