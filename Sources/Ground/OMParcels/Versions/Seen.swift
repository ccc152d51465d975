// Format: docs/formats/sync.md, "Versions".

package import OMRecords

/// The edits that a version of an item includes: for each device, the count of its last one. A version vector.
package struct Seen: Hashable, Sendable {
    /// The last edit of each device, by rising device. Each count is 1 or more.
    package private(set) var dots: [Dot] = []

    package init() {}

    package static let maximumDevices = 4096
    /// Far more edits than a device ever makes.
    package static let maximumCount: UInt64 = 1 << 48

    /// - Returns: nil if the dots do not rise by device, if there are too many, or if a count is 0 or too large.
    package init?(_ dots: [Dot]) {
        guard dots.count <= Self.maximumDevices, dots.allSatisfy({ (1...Self.maximumCount).contains($0.count) }),
            zip(dots, dots.dropFirst()).allSatisfy({ $0.device < $1.device })
        else {
            return nil
        }
        self.dots = dots
    }

    /// The count of the last edit of this device, or 0.
    package subscript(device: UInt32) -> UInt64 {
        let place = place(of: device)
        return place < dots.count && dots[place].device == device ? dots[place].count : 0
    }

    package func includes(_ dot: Dot) -> Bool { self[dot.device] >= dot.count }

    /// Whether every edit in `other` is in this too.
    package func includes(_ other: Seen) -> Bool { other.dots.allSatisfy { includes($0) } }

    package mutating func insert(_ dot: Dot) {
        let place = place(of: dot.device)
        if place < dots.count, dots[place].device == dot.device {
            if dots[place].count < dot.count { dots[place] = dot }
        } else {
            dots.insert(dot, at: place)
        }
    }

    /// The edits of both.
    package func joined(with other: Seen) -> Seen {
        var joined = self
        for dot in other.dots { joined.insert(dot) }
        return joined
    }

    private func place(of device: UInt32) -> Int { dots.firstIndex { $0.device >= device } ?? dots.count }
}

extension Seen {
    /// number (2) ‖ per device, rising: device (4) ‖ count (8). A device's number is not 0.
    package init(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        var dots: [Dot] = []
        for _ in 0..<Int(try cursor.number(UInt16.self, in: span)) {
            dots.append(Dot(device: try cursor.number(in: span), count: try cursor.number(in: span)))
        }
        guard !dots.isEmpty, dots[0].device > 0, let seen = Seen(dots) else { throw MalformedBytes() }
        self = seen
    }
}

extension [UInt8] {
    package mutating func append(_ dot: Dot) {
        append(number: dot.device)
        append(number: dot.count)
    }

    package mutating func append(_ seen: Seen) {
        append(number: UInt16(seen.dots.count))
        for dot in seen.dots { append(dot) }
    }
}
