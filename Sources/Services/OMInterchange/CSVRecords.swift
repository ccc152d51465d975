// The records of a CSV file, read in place.

internal import OMSecrets

/// A cell: where it is, without the quotes around it.
struct CSVCell {
    let range: Range<Int>
    /// The byte before each quote inside that means the quote: a quote, or a backslash. Nil if there is none.
    let escape: UInt8?

    var isEmpty: Bool { range.isEmpty }

    func value(in bytes: Span<UInt8>) -> SecretBytes {
        guard let escape else { return SecretBytes(copying: bytes.extracting(range)) }
        var value = SecretBuffer(capacity: range.count)
        var place = range.lowerBound
        while place < range.upperBound {
            if bytes[place] == escape, place + 1 < range.upperBound { place += 1 }
            value.append(bytes[place])
            place += 1
        }
        return value.finish()
    }
}

/// A position in a CSV file. It holds no bytes.
struct CSVRecords {
    static let quote = UInt8(ascii: "\"")

    private let delimiter: UInt8
    /// Whether quotes have `\"` and `\\` inside, as KeePass 1 writes them, in the place of doubled quotes.
    var hasBackslashes = false
    private var place: Int
    private var line = 1

    init(delimiter: UInt8, in bytes: Span<UInt8>) {
        self.delimiter = delimiter
        place = ForeignText.markCount(bytes)
    }

    /// The delimiter of which the first line has the most, outside quotes.
    static func delimiter(of bytes: Span<UInt8>) -> UInt8 {
        var counts = [UInt8: Int]()
        var isQuoted = false
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == quote { isQuoted.toggle() }
            if !isQuoted, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
            if !isQuoted, CSVMap.delimiters.contains(byte) { counts[byte, default: 0] += 1 }
        }
        return CSVMap.delimiters.max { counts[$0, default: 0] < counts[$1, default: 0] }
            .flatMap { counts[$0] == nil ? nil : $0 } ?? CSVMap.delimiters[0]
    }

    /// The next record, without empty lines before it. Nil at the end.
    mutating func next(in bytes: Span<UInt8>) throws(InterchangeError) -> [CSVCell]? {
        while place < bytes.count, isLineEnd(bytes[place]) { skipLineEnd(in: bytes) }
        guard place < bytes.count else { return nil }
        var cells: [CSVCell] = []
        while true {
            guard cells.count < CSVMap.maximumColumns else { throw .tooMuch("columns") }
            cells.append(try cell(in: bytes))
            guard place < bytes.count else { return cells }
            guard bytes[place] == delimiter else {
                skipLineEnd(in: bytes)
                return cells
            }
            place += 1
        }
    }

    private mutating func cell(in bytes: Span<UInt8>) throws(InterchangeError) -> CSVCell {
        guard place < bytes.count, bytes[place] == Self.quote else {
            let start = place
            while place < bytes.count, bytes[place] != delimiter, !isLineEnd(bytes[place]) { place += 1 }
            return CSVCell(range: start..<place, escape: nil)
        }
        let (start, first) = (place + 1, line)
        var escape: UInt8?
        place = start
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "\n") { line += 1 }
            if hasBackslashes, bytes[place] == UInt8(ascii: "\\"), place + 1 < bytes.count {
                escape = bytes[place]
                place += 1
                if bytes[place] == UInt8(ascii: "\n") { line += 1 }
                place += 1
                continue
            }
            guard bytes[place] == Self.quote else {
                place += 1
                continue
            }
            if !hasBackslashes, place + 1 < bytes.count, bytes[place + 1] == Self.quote {
                escape = Self.quote
                place += 2
                continue
            }
            let cell = CSVCell(range: start..<place, escape: escape)
            place += 1
            guard place == bytes.count || bytes[place] == delimiter || isLineEnd(bytes[place]) else {
                throw .damaged("line \(line) has text behind a quote")
            }
            return cell
        }
        throw .damaged("the quote that line \(first) opens has no end")
    }

    private func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    /// `\n`, `\r\n` or `\r`.
    private mutating func skipLineEnd(in bytes: Span<UInt8>) {
        let isReturn = bytes[place] == UInt8(ascii: "\r")
        place += 1
        if isReturn, place < bytes.count, bytes[place] == UInt8(ascii: "\n") { place += 1 }
        line += 1
    }
}
