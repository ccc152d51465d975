/// The lines of a file, one after the other, without their ends. No list of them is made: a file can have millions.
struct PassLines {
    /// The start of the next line.
    private(set) var start = 0
    /// Whether each line ends with a carriage return too, which is then no part of it.
    private let hasReturns: Bool

    init(_ bytes: Span<UInt8>) {
        var (newlines, ends) = (0, 0)
        for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") {
            newlines += 1
            if index > 0, bytes[index - 1] == UInt8(ascii: "\r") { ends += 1 }
        }
        hasReturns = newlines > 0 && newlines == ends
    }

    mutating func next(in bytes: Span<UInt8>) -> Range<Int>? {
        guard start < bytes.count else { return nil }
        let first = start
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
        start = min(end + 1, bytes.count)
        let hasReturn = hasReturns && end < bytes.count
        return first..<(hasReturn ? end - 1 : end)
    }

    /// The first byte of the next line, as a range. Nil at the end.
    func peek(in bytes: Span<UInt8>) -> Range<Int>? { start < bytes.count ? start..<(start + 1) : nil }
}
