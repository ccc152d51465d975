/// The lines of a text, ended by LF or CR LF.
struct Lines {
    private var position = 0
    private let end: Int

    init(_ bytes: Span<UInt8>) { end = bytes.count }

    mutating func next(_ bytes: Span<UInt8>) -> Range<Int>? {
        guard position < end else { return nil }
        let start = position
        var stop = start
        while stop < end, bytes[stop] != UInt8(ascii: "\n") { stop += 1 }
        position = min(stop + 1, end)
        return stop > start && bytes[stop - 1] == UInt8(ascii: "\r") ? start..<stop - 1 : start..<stop
    }

    func contains(_ bytes: Span<UInt8>, _ isWanted: (Range<Int>) -> Bool) -> Bool {
        var copy = self
        while let line = copy.next(bytes) { if isWanted(line) { return true } }
        return false
    }
}
