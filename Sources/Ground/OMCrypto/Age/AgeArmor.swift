// The text around an age file: docs/formats/age.md, "Armor".

internal import OMSecrets

enum AgeArmor {
    static let begin = "-----BEGIN AGE ENCRYPTED FILE-----"
    static let end = "-----END AGE ENCRYPTED FILE-----"
    /// The most white space before and behind the text.
    static let mostSpace = 1024
    private static let lineCount = 64
    private static let lineBytes = 48

    /// Whether a file begins so, behind lines of white space.
    static func isBegun(_ start: Span<UInt8>) -> Bool {
        var index = 0
        while index < start.count, index <= mostSpace, isSpace(start[index]) { index += 1 }
        return start.has(begin, at: index..<start.count) && (index == 0 || start[index - 1] == UInt8(ascii: "\n"))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Decodes the text, line by line.
    struct Reader {
        private enum State { case before, lines, behindLast, after, done }

        private var state = State.before
        private var space = 0
        private var decoded: [UInt8] = []
        private var taken = 0

        /// Whether decoded bytes wait to be taken.
        var hasBytes: Bool { taken < decoded.count }
        var isDone: Bool { state == .done }

        mutating func take(into target: inout MutableSpan<UInt8>) -> Int {
            let count = min(target.count, decoded.count - taken)
            for index in 0..<count { target[index] = decoded[taken + index] }
            taken += count
            return count
        }

        /// Decodes whole lines.
        ///
        /// - Parameter isAtEnd: Whether nothing comes behind `text`. Then its last line needs no end.
        /// - Returns: How many bytes of `text` are done with. 0 if there is no whole line.
        mutating func decode(_ text: Span<UInt8>, isAtEnd: Bool) throws(CryptoError) -> Int {
            decoded.removeAll(keepingCapacity: true)
            taken = 0
            var position = 0
            while state != .done {
                guard state != .after else {
                    try skip(text.extracting(position...))
                    if isAtEnd { state = .done }
                    return text.count
                }
                guard let next = try line(in: text, from: position, isAtEnd: isAtEnd) else { break }
                try read(text.extracting(next.line), withEnd: next.end - position)
                position = next.end
            }
            return position
        }

        /// The next line without its end, and where the line behind it begins. Nil if it is not whole yet.
        private func line(
            in text: Span<UInt8>, from start: Int, isAtEnd: Bool
        ) throws(CryptoError) -> (line: Range<Int>, end: Int)? {
            var stop = start
            while stop < text.count, text[stop] != UInt8(ascii: "\n") { stop += 1 }
            guard stop < text.count || isAtEnd else {
                guard stop - start <= AgeArmor.mostSpace + AgeArmor.begin.utf8.count + 2 else { throw .malformedArmor }
                return nil
            }
            // The end of the text without its last line: it was cut.
            guard start < text.count else { throw .malformedArmor }
            let hasReturn = stop > start && text[stop - 1] == UInt8(ascii: "\r")
            return (start..<(hasReturn ? stop - 1 : stop), min(stop + 1, text.count))
        }

        private mutating func read(_ line: Span<UInt8>, withEnd count: Int) throws(CryptoError) {
            switch state {
            case .before:
                guard line.indices.allSatisfy({ AgeArmor.isSpace(line[$0]) }) else {
                    guard AgeArmor.isSame(line, AgeArmor.begin) else { throw .malformedArmor }
                    return state = .lines
                }
                space += count
                guard space <= AgeArmor.mostSpace else { throw .malformedArmor }
            case .lines where line.count > 0 && line.count <= AgeArmor.lineCount && line[0] != UInt8(ascii: "-"):
                try append(line)
            default:
                guard AgeArmor.isSame(line, AgeArmor.end) else { throw .malformedArmor }
                (state, space) = (.after, 0)
            }
        }

        private mutating func append(_ line: Span<UInt8>) throws(CryptoError) {
            var bytes = [UInt8](repeating: 0, count: AgeArmor.lineBytes)
            var room = bytes.mutableSpan
            guard let count = StrictBase64.decode(line, into: &room) else { throw .malformedArmor }
            decoded += bytes.prefix(count)
            if count < AgeArmor.lineBytes { state = .behindLast }
        }

        private mutating func skip(_ rest: Span<UInt8>) throws(CryptoError) {
            space += rest.count
            guard space <= AgeArmor.mostSpace, rest.indices.allSatisfy({ AgeArmor.isSpace(rest[$0]) }) else {
                throw .malformedArmor
            }
        }
    }

    private static func isSame(_ line: Span<UInt8>, _ text: String) -> Bool {
        line.count == text.utf8.count && line.has(text, at: line.indices)
    }

    /// Writes the text, line by line.
    struct Writer {
        private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        /// Bytes that do not fill a line yet.
        private var rest: [UInt8] = []
        private var isBegun = false

        mutating func write(_ bytes: Span<UInt8>, to sink: ByteSink) throws {
            var text: [UInt8] = isBegun ? [] : Array("\(AgeArmor.begin)\n".utf8)
            isBegun = true
            rest.append(copying: bytes)
            let whole = rest.count / AgeArmor.lineBytes * AgeArmor.lineBytes
            text.reserveCapacity(text.count + whole / 3 * 4 + whole / AgeArmor.lineBytes)
            for start in stride(from: 0, to: whole, by: AgeArmor.lineBytes) {
                Self.encode(rest[start..<start + AgeArmor.lineBytes], into: &text)
            }
            rest.removeFirst(whole)
            if !text.isEmpty { try sink(text.span) }
        }

        /// Writes what is left, and the last line.
        consuming func finish(to sink: ByteSink) throws {
            var text: [UInt8] = []
            if !rest.isEmpty { Self.encode(rest[...], into: &text) }
            text += Array("\(AgeArmor.end)\n".utf8)
            try sink(text.span)
        }

        private static func encode(_ bytes: ArraySlice<UInt8>, into text: inout [UInt8]) {
            var index = bytes.startIndex
            while index < bytes.endIndex {
                let left = bytes.endIndex - index
                let first = bytes[index]
                let second = left > 1 ? bytes[index + 1] : 0
                let third = left > 2 ? bytes[index + 2] : 0
                text.append(digits[Int(first >> 2)])
                text.append(digits[Int((first & 3) << 4 | second >> 4)])
                text.append(left > 1 ? digits[Int((second & 15) << 2 | third >> 6)] : UInt8(ascii: "="))
                text.append(left > 2 ? digits[Int(third & 63)] : UInt8(ascii: "="))
                index += 3
            }
            text.append(UInt8(ascii: "\n"))
        }
    }
}
