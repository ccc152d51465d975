// The search in a large list of breached passwords: a few pages are read for each password.

internal import OMSecrets
internal import OMShell

/// A binary search that notices a list that is not sorted. In such a list a search that finds nothing proves nothing.
struct BreachedSearch {
    /// A line whose place is known.
    private struct Mark {
        let start: Int
        let line: BreachedLine
    }

    private let file: BreachedFile
    /// The first and the last line of the list, and lines between them: some at equal distances, some nearer and nearer to
    /// both ends.
    private var marks: [Mark] = []

    private static let markCount = 256
    /// A part of this size is read whole.
    private static let partCount = 4096
    /// Room for the rest of one line and for two more.
    private static let windowCount = 4 * BreachedLine.longest

    /// - Throws: ``ExitStatus/corrupt`` if the marks are not in order.
    init(_ file: BreachedFile) throws(Failure) {
        self.file = file
        // Attack, or accident: two sorted lists are one behind the other, and each search would stay in one of them. So
        // lines all over the list are compared first. A short list behind a long one is between two marks at equal distances,
        // so others are at doubling distances from both ends.
        var offsets = (0..<Self.markCount).map { file.size / Self.markCount * $0 }
        var distance = Self.windowCount
        while distance < file.size / 2 {
            offsets += [distance, file.size - distance]
            distance *= 2
        }
        for offset in offsets.sorted() {
            guard let mark = try mark(behind: offset) else { break }
            try add(mark)
        }
        let end = file.size - min(file.size, Self.windowCount)
        var last: [Mark] = []
        let start = try mark(behind: end)?.start ?? end
        try file.forEachLine(in: start..<file.size) { start, line throws(Failure) in
            last.append(Mark(start: start, line: line))
        }
        // Without the last line every hash behind the last mark would not be found.
        guard !last.isEmpty else { throw file.damaged(at: end) }
        for mark in last { try add(mark) }
    }

    /// Where the list begins and ends, if a whole one does not.
    var doubt: String? {
        guard let first = marks.first?.line.hash.start, let last = marks.last?.line.hash.start else { return nil }
        // A whole list of this size has more than a million hashes, so some of them begin with these 16 bits.
        guard first != 0 || last != 0xFFFF else { return nil }
        func digits(_ start: Int) -> String {
            let text = String(start, radix: 16, uppercase: true)
            return String(repeating: "0", count: 4 - text.count) + text
        }
        return "begins with \(digits(first)) and ends with \(digits(last)), not with 0000 and FFFF"
    }

    private mutating func add(_ mark: Mark) throws(Failure) {
        if let before = marks.last {
            guard mark.start > before.start else { return }
            if mark.line.hash < before.line.hash { throw file.unsorted(at: mark.start) }
        }
        marks.append(mark)
    }

    func find(_ wanted: borrowing WantedHashes) throws(Failure) -> [Int: Int?] {
        var found: [Int: Int?] = [:]
        for number in 0..<wanted.count {
            guard let line = try line(of: wanted.hash(number)), line.count != 0 else { continue }
            found.updateValue(line.count, forKey: number)
        }
        return found
    }

    private func line(of hash: HashNumber) throws(Failure) -> BreachedLine? {
        guard let first = marks.first, !(hash < first.line.hash) else { return nil }
        // The line is between two marks, or at the last one.
        let next = marks.firstIndex { hash < $0.line.hash } ?? marks.count
        let low = marks[next - 1]
        guard next < marks.count else { return low.line.hash == hash ? low.line : nil }
        return try line(of: hash, from: low, to: marks[next])
    }

    /// Halves the part until it is small. Every line that is read has to be between the two at the ends.
    private func line(of hash: HashNumber, from first: Mark, to last: Mark) throws(Failure) -> BreachedLine? {
        var (low, high) = (first, last)
        while high.start - low.start > Self.partCount {
            guard let middle = try mark(behind: (low.start + high.start) / 2) else { throw file.unsorted(at: high.start) }
            // Attack, or accident: the list is not sorted, and a breached password is in the other half.
            guard !(middle.line.hash < low.line.hash), !(high.line.hash < middle.line.hash) else {
                throw file.unsorted(at: middle.start)
            }
            if hash < middle.line.hash { high = middle } else { low = middle }
        }
        var (found, before): (BreachedLine?, HashNumber) = (nil, low.line.hash)
        try file.forEachLine(in: low.start..<high.start) { start, line throws(Failure) in
            guard !(line.hash < before), !(high.line.hash < line.hash) else { throw file.unsorted(at: start) }
            before = line.hash
            if line.hash == hash { found = line }
        }
        return found
    }

    /// The first line with a hash that begins at or behind the offset. The line behind it is compared with it.
    ///
    /// - Returns: Nil if none begins there.
    private func mark(behind offset: Int) throws(Failure) -> Mark? {
        let begin = max(offset - 1, 0)
        let window = try file.bytes(in: begin..<min(begin + Self.windowCount, file.size))
        let span = window.span
        var start = 0
        if offset > 0 {
            guard let newline = window.firstIndex(of: UInt8(ascii: "\n")) else {
                guard begin + window.count == file.size, window.count <= BreachedLine.longest else {
                    throw file.damaged(at: begin)
                }
                return nil
            }
            start = newline + 1
        }
        guard begin + start < file.size else { return nil }
        var lines: [BreachedLine] = []
        var place = start
        while lines.count < 2, place < span.count {
            let end = window[place...].firstIndex(of: UInt8(ascii: "\n")) ?? span.count
            // A line that goes beyond the window is too long, unless it is the second.
            guard end < span.count || begin + end == file.size || lines.isEmpty else { break }
            if let line = try file.line(span.extracting(place..<end), at: begin + place) {
                if lines.isEmpty { start = place }
                lines.append(line)
            }
            place = end + 1
        }
        guard let line = lines.first else {
            guard begin + window.count == file.size else { throw file.damaged(at: begin + start) }
            return nil
        }
        if lines.count == 2, lines[1].hash < lines[0].hash { throw file.unsorted(at: begin + start) }
        return Mark(start: begin + start, line: line)
    }
}
