// The names of items as one text, for lists of many items: a string for each name would cost more than the rest of a list.

internal import OMSecrets

/// Names of items in the order of their bytes. Two items at different levels can have the same name.
public struct ItemNames: Hashable, Sendable {
    private static let newline = UInt8(ascii: "\n")

    /// The names as UTF-8, each with a newline behind it. A name has no control characters, so no newline is in a name.
    public let lines: [UInt8]

    /// - Returns: nil if the bytes are not such lines, or if they are in another order.
    package init?(lines: [UInt8]) {
        guard (try? UTF8Span(validating: lines.span)) != nil, lines.last ?? Self.newline == Self.newline else { return nil }
        let bytes = lines.span
        var previous = 0..<0
        for line in Self.ranges(in: bytes) {
            guard ItemName.isValid(bytes.extracting(line)), !NameOrder.isBefore(line, previous, in: bytes) else { return nil }
            previous = line
        }
        self.lines = lines
    }

    private init(checked lines: [UInt8]) { self.lines = lines }

    /// - Parameter lines: Names that were checked before, in any order.
    package init(sorting lines: [UInt8]) {
        let (bytes, ranges) = (lines.span, Self.ranges(in: lines.span))
        let order = NameOrder.positions(of: ranges, in: bytes)
        // Mostly all items are at one level, whose names are in order already.
        guard zip(order, order.dropFirst()).contains(where: { $0 > $1 }) else {
            self.lines = lines
            return
        }
        var sorted: [UInt8] = []
        sorted.reserveCapacity(lines.count)
        for position in order { Self.append(bytes.extracting(ranges[position]), to: &sorted) }
        self.lines = sorted
    }

    public var isEmpty: Bool { lines.isEmpty }

    /// Whether all names are ASCII. A name has no control characters, so such a name is printable text.
    public var isASCII: Bool { lines.allSatisfy { $0 < 0x80 } }

    /// Each name as a value of its own.
    public var names: [ItemName] {
        let bytes = lines.span
        return Self.ranges(in: bytes).map { Self.name(bytes.extracting($0)) }
    }

    /// The names that begin with these bytes.
    public func starting(with prefix: [UInt8]) -> ItemNames {
        guard !prefix.isEmpty else { return self }
        let bytes = lines.span
        var found: [UInt8] = []
        found.reserveCapacity(lines.count)
        for line in Self.ranges(in: bytes) where line.count >= prefix.count {
            let name = bytes.extracting(line)
            if prefix.indices.allSatisfy({ name[$0] == prefix[$0] }) { Self.append(name, to: &found) }
        }
        return ItemNames(checked: found)
    }

    /// Each name that is there more than once.
    public var repeated: [ItemName] {
        let bytes = lines.span
        var (found, previous, last): ([ItemName], Range<Int>, Range<Int>) = ([], 0..<0, 0..<0)
        for line in Self.ranges(in: bytes) {
            let isSame = line.count == previous.count && !NameOrder.isBefore(previous, line, in: bytes)
            // A name that is there three times is reported once.
            if isSame, last != previous { found.append(Self.name(bytes.extracting(line))) }
            if isSame { last = line }
            previous = line
        }
        return found
    }

    package static func append(_ name: Span<UInt8>, to lines: inout [UInt8]) {
        lines.append(copying: name)
        lines.append(newline)
    }

    private static func name(_ bytes: Span<UInt8>) -> ItemName {
        guard let text = try? UTF8Span(validating: bytes) else { preconditionFailure("names were checked before") }
        return ItemName(checked: String(copying: text))
    }

    /// The place of each name. The last line must be complete.
    private static func ranges(in bytes: Span<UInt8>) -> [Range<Int>] {
        var (ranges, start): ([Range<Int>], Int) = ([], 0)
        ranges.reserveCapacity(bytes.count / 16)
        for index in bytes.indices where bytes[index] == newline {
            ranges.append(start..<index)
            start = index + 1
        }
        return ranges
    }
}
