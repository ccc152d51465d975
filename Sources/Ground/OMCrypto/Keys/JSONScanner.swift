// JSON as text in place: nothing is copied or decoded, so that what is secret in it stays where it is.

internal import OMSecrets

/// Checks JSON (RFC 8259) and tells where values are.
struct JSONScanner {
    private var position: Int
    private let end: Int
    private let blame: CryptoError

    init(_ range: Range<Int>, blame: CryptoError) {
        (position, end, self.blame) = (range.lowerBound, range.upperBound, blame)
    }

    mutating func finish(_ bytes: Span<UInt8>) throws(CryptoError) {
        skipSpace(bytes)
        guard position == end else { throw blame }
    }

    /// - Parameter take: false refuses a member, such as one that was there before.
    mutating func object(
        _ bytes: Span<UInt8>, depth: Int, _ take: (String, Range<Int>) -> Bool
    ) throws(CryptoError) {
        guard depth > 0, takes("{", bytes) else { throw blame }
        if takes("}", bytes) { return }
        repeat {
            skipSpace(bytes)
            let name = try string(bytes)
            // No member of a key needs an escape, and two spellings of one name are two readings of one file.
            guard !name.contains(where: { bytes[$0] == UInt8(ascii: "\\") }), takes(":", bytes) else { throw blame }
            let value = try value(bytes, depth: depth - 1)
            guard take(bytes.text(name), value) else { throw blame }
        } while takes(",", bytes)
        guard takes("}", bytes) else { throw blame }
    }

    /// What stands between the quotes of each string of a list that holds nothing else.
    mutating func strings(_ bytes: Span<UInt8>) throws(CryptoError) -> [Range<Int>] {
        guard takes("[", bytes) else { throw blame }
        var found: [Range<Int>] = []
        if takes("]", bytes) { return found }
        repeat {
            skipSpace(bytes)
            found.append(try string(bytes))
        } while takes(",", bytes)
        guard takes("]", bytes) else { throw blame }
        return found
    }

    private mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(CryptoError) -> Range<Int> {
        skipSpace(bytes)
        let start = position
        switch position < end ? bytes[position] : 0 {
        case UInt8(ascii: "\""): _ = try string(bytes)
        case UInt8(ascii: "{"):
            var names: Set<String> = []
            try object(bytes, depth: depth) { name, _ in names.insert(name).inserted }
        case UInt8(ascii: "["):
            guard depth > 0, takes("[", bytes) else { throw blame }
            if !takes("]", bytes) {
                repeat { _ = try value(bytes, depth: depth - 1) } while takes(",", bytes)
                guard takes("]", bytes) else { throw blame }
            }
        case UInt8(ascii: "t"): try word("true", bytes)
        case UInt8(ascii: "f"): try word("false", bytes)
        case UInt8(ascii: "n"): try word("null", bytes)
        default: try number(bytes)
        }
        return start..<position
    }

    /// What stands between the quotes.
    private mutating func string(_ bytes: Span<UInt8>) throws(CryptoError) -> Range<Int> {
        guard position < end, bytes[position] == UInt8(ascii: "\"") else { throw blame }
        position += 1
        let start = position
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return start..<position - 1
            case UInt8(ascii: "\\"): try escape(bytes)
            case 0..<0x20: throw blame
            default: position += 1
            }
        }
        throw blame
    }

    private mutating func escape(_ bytes: Span<UInt8>) throws(CryptoError) {
        guard position + 1 < end else { throw blame }
        let kind = bytes[position + 1]
        position += 2
        if kind == UInt8(ascii: "u") {
            guard end - position >= 4, (position..<position + 4).allSatisfy({ Self.isHex(bytes[$0]) }) else {
                throw blame
            }
            position += 4
        } else if !Array("\"\\/bfnrt".utf8).contains(kind) {
            throw blame
        }
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(CryptoError) {
        if position < end, bytes[position] == UInt8(ascii: "-") { position += 1 }
        let start = position
        try digits(bytes)
        guard bytes[start] != 0x30 || position == start + 1 else { throw blame }
        if position < end, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits(bytes)
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < end, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            try digits(bytes)
        }
    }

    private mutating func digits(_ bytes: Span<UInt8>) throws(CryptoError) {
        let start = position
        while position < end, (0x30...0x39).contains(bytes[position]) { position += 1 }
        guard position > start else { throw blame }
    }

    private mutating func word(_ word: String, _ bytes: Span<UInt8>) throws(CryptoError) {
        guard bytes.has(word, at: position..<end) else { throw blame }
        position += word.utf8.count
    }

    private mutating func takes(_ character: Unicode.Scalar, _ bytes: Span<UInt8>) -> Bool {
        skipSpace(bytes)
        guard position < end, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < end, JWKReader.isSpace(bytes[position]) { position += 1 }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}
