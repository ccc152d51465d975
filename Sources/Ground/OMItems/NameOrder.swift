/// The order of names: that of their bytes.
package enum NameOrder {
    /// The positions of the names, sorted.
    ///
    /// - Parameter names: The place of each name in `bytes`.
    package static func positions(of names: [Range<Int>], in bytes: Span<UInt8>) -> [Int] {
        var places: [Place] = []
        places.reserveCapacity(names.count)
        for (position, name) in names.enumerated() {
            places.append(Place(start: start(of: name, in: bytes), name: name, position: position))
        }
        places.sort { one, other in
            one.start == other.start ? isBefore(one.name, other.name, in: bytes) : one.start < other.start
        }
        return places.map(\.position)
    }

    private struct Place {
        /// The first bytes of the name, which mostly decide.
        let start: UInt64
        let name: Range<Int>
        let position: Int
    }

    /// The first 8 bytes as a number. Zeros fill up a shorter name, and no name has zeros.
    private static func start(of name: Range<Int>, in bytes: Span<UInt8>) -> UInt64 {
        var start: UInt64 = 0
        for index in name.prefix(8) { start = start << 8 | UInt64(bytes[index]) }
        return name.count < 8 ? start << (8 * UInt64(8 - name.count)) : start
    }

    package static func isBefore(_ one: Range<Int>, _ other: Range<Int>, in bytes: Span<UInt8>) -> Bool {
        let (left, right) = (bytes.extracting(one), bytes.extracting(other))
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
    }
}
