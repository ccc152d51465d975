// The search for many values in a text at once.
//
// The values are sorted. At a place of the text, all values that begin there are prefixes of the largest value that is not
// behind the rest of the text in this order: it, or a value that it begins with. So one binary search finds them. A filter
// over the first bytes of the values spares the search at nearly all places.

internal import Glibc
internal import OMSecrets

/// Finds values in a text. It keeps them in locked memory, as well as the filter, which is made from them.
package final class Mask: Sendable {
    /// Where a value is among the bytes of a list, and the marker in its place.
    struct Place {
        let start: Int
        let count: Int
        let marker: Int
        /// The longest other value that this one begins with, as an index. Negative if there is none.
        var shorter = -1
    }

    private let bytes: SecretBytes
    /// Sorted by their bytes, each value once.
    private let places: [Place]
    private let filter: SecretBytes
    private let filterShift: UInt64
    private let hasShort: Bool
    private let hasLong: Bool
    let markers: [[UInt8]]

    init(_ bytes: consuming SecretBytes, _ unsorted: [Place], _ markers: [[UInt8]]) {
        let places = bytes.withBytes { bytes in bytes.withUnsafeBytes { Self.sorted(unsorted, in: $0) } }
        var bits: UInt64 = 12
        while bits < 24, 1 << bits < places.count * 64 { bits += 1 }
        let shift = 64 - bits
        let filter = SecretBytes(count: 1 << (Int(bits) - 3)) { filter in
            bytes.withBytes { bytes in
                bytes.withUnsafeBytes { bytes in
                    for place in places {
                        let bit = Self.bit(ofValue: bytes, at: place.start, count: place.count, shift)
                        filter[bit >> 3] |= 1 << UInt8(bit & 7)
                    }
                }
            }
        }
        hasShort = places.contains { $0.count < 8 }
        hasLong = places.contains { $0.count >= 8 }
        (self.places, filterShift, self.markers) = (places, shift, markers)
        self.bytes = bytes
        self.filter = filter
    }

    /// Replaces the values in a text.
    ///
    /// - Parameters:
    ///   - isLast: Whether no more text follows.
    ///   - concealed: How many bytes at its start belong to a value whose marker was written before.
    /// - Returns: How many bytes were taken. The others may be the start of a value: they come again with more text behind
    ///   them. And how many of these belong to a value whose marker was written.
    func replace(
        in text: UnsafeRawBufferPointer, isLast: Bool, concealed: Int, into output: inout [UInt8]
    ) -> (taken: Int, concealed: Int) {
        bytes.withBytes { bytes in
            bytes.withUnsafeBytes { bytes in
                filter.withBytes { filter in
                    filter.withUnsafeBytes {
                        replace(text, bytes, $0, isLast: isLast, concealed: concealed, into: &output)
                    }
                }
            }
        }
    }

    private func replace(
        _ text: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ filter: UnsafeRawBufferPointer, isLast: Bool,
        concealed: Int, into output: inout [UInt8]
    ) -> (taken: Int, concealed: Int) {
        // `end` is the end of what is concealed up to now: values that overlap are one, so that no part of the second is shown.
        var (place, end) = (0, concealed)
        var shown = concealed
        search: while true {
            place = next(from: place, in: text, filter)
            guard place < text.count else { break }
            switch find(UnsafeRawBufferPointer(rebasing: text[place...]), in: bytes, isLast: isLast) {
            case .undecided: break search
            case .value(let count, let marker):
                if place >= end {
                    output.append(contentsOf: text[shown..<place])
                    output.append(contentsOf: markers[marker])
                }
                end = max(end, place + count)
                shown = end
            case .nothing: break
            }
            place += 1
        }
        if shown < place {
            output.append(contentsOf: text[shown..<place])
            shown = place
        }
        return (place, shown - place)
    }

    private enum Finding {
        case nothing
        /// The longest value that begins here.
        case value(count: Int, marker: Int)
        /// The text ends within a value.
        case undecided
    }

    private func find(_ rest: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer, isLast: Bool) -> Finding {
        // The first value that is behind the rest.
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.isBefore(rest, Self.value(places[middle], bytes)) { high = middle } else { low = middle + 1 }
        }
        if !isLast, low < places.count, Self.begins(Self.value(places[low], bytes), with: rest) { return .undecided }
        var index = low - 1
        while index >= 0 {
            if Self.begins(rest, with: Self.value(places[index], bytes)) {
                return .value(count: places[index].count, marker: places[index].marker)
            }
            index = places[index].shorter
        }
        return .nothing
    }

    /// The next place where a value may begin, or the end of the text. Each of the last places is one.
    @inline(__always)
    private func next(from start: Int, in text: UnsafeRawBufferPointer, _ filter: UnsafeRawBufferPointer) -> Int {
        var place = start
        guard hasLong || hasShort else { return text.count }
        while place + 8 <= text.count {
            let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            if hasLong, Self.holds(filter, Self.bit(ofLong: word, filterShift)) { return place }
            if hasShort, Self.holds(filter, Self.bit(ofShort: UInt32(truncatingIfNeeded: word), filterShift)) { return place }
            place += 1
        }
        return place
    }
}

// MARK: - The filter, and the order of values

extension Mask {
    @inline(__always)
    private static func holds(_ filter: UnsafeRawBufferPointer, _ bit: Int) -> Bool {
        filter[bit >> 3] >> UInt8(bit & 7) & 1 == 1
    }

    /// The bit for the first bytes of a value: 8, or 4 of a shorter one.
    private static func bit(ofValue bytes: UnsafeRawBufferPointer, at start: Int, count: Int, _ shift: UInt64) -> Int {
        count >= 8
            ? bit(ofLong: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)), shift)
            : bit(ofShort: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)), shift)
    }

    @inline(__always)
    private static func bit(ofLong word: UInt64, _ shift: UInt64) -> Int {
        Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> shift)
    }

    @inline(__always)
    private static func bit(ofShort word: UInt32, _ shift: UInt64) -> Int {
        Int(truncatingIfNeeded: (UInt64(word) &* 0xC2B2_AE3D_27D4_EB4F) &>> shift)
    }

    private static func value(_ place: Place, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.start + place.count])
    }

    private static func isBefore(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        let order = order(one, other)
        return order == 0 ? one.count < other.count : order < 0
    }

    private static func begins(_ text: UnsafeRawBufferPointer, with start: UnsafeRawBufferPointer) -> Bool {
        text.count >= start.count && order(text, start) == 0
    }

    /// Of the bytes that both have.
    private static func order(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int32 {
        guard let left = one.baseAddress, let right = other.baseAddress else { return 0 }
        return memcmp(left, right, min(one.count, other.count))
    }

    private static func sorted(_ unsorted: [Place], in bytes: UnsafeRawBufferPointer) -> [Place] {
        var sorted: [Place] = []
        let ordered = unsorted.sorted { one, other in
            let (first, second) = (value(one, bytes), value(other, bytes))
            return isBefore(first, second) || !isBefore(second, first) && one.marker < other.marker
        }
        for place in ordered {
            // Of a value with two names the first one counts.
            if let last = sorted.last, last.count == place.count, begins(value(last, bytes), with: value(place, bytes)) {
                continue
            }
            var place = place
            place.shorter = sorted.count - 1
            while place.shorter >= 0, !begins(value(place, bytes), with: value(sorted[place.shorter], bytes)) {
                place.shorter = sorted[place.shorter].shorter
            }
            sorted.append(place)
        }
        return sorted
    }
}
