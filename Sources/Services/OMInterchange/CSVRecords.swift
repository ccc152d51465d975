// The records of a CSV file, read in place.

internal import OMSecrets

/// A cell: where it is, without the quotes around it.
struct CSVCell {
    let range: Range<Int>
    /// Whether it has doubled quotes inside.
    let hasDoubledQuotes: Bool

    var isEmpty: Bool { range.isEmpty }

    func value(in bytes: Span<UInt8>) -> SecretBytes {
        guard hasDoubledQuotes else { return SecretBytes(copying: bytes.extracting(range)) }
        var value = SecretBuffer(capacity: range.count)
        var place = range.lowerBound
        while place < range.upperBound {
            value.append(bytes[place])
            place += bytes[place] == CSVRecords.quote ? 2 : 1
        }
        return value.finish()
    }
}

/// A position in a CSV file. It holds no bytes.
struct CSVRecords {
    static let quote = UInt8(ascii: "\"")

    private let delimiter: UInt8
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
            return CSVCell(range: start..<place, hasDoubledQuotes: false)
        }
        let (start, first) = (place + 1, line)
        var hasDoubledQuotes = false
        place = start
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "\n") { line += 1 }
            guard bytes[place] == Self.quote else {
                place += 1
                continue
            }
            if place + 1 < bytes.count, bytes[place + 1] == Self.quote {
                hasDoubledQuotes = true
                place += 2
                continue
            }
            let cell = CSVCell(range: start..<place, hasDoubledQuotes: hasDoubledQuotes)
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
