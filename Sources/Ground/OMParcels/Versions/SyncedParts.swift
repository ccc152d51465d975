package import OMRecords

/// What the content of a synced version has beside name, times, details and fields. Format: docs/formats/sync.md, "Content".
package struct SyncedParts: Hashable, Sendable {
    /// The edit that wrote the content.
    package let dot: Dot
    /// The edits that the version includes.
    package let seen: Seen
    /// By falling level.
    package let lowerings: [StoredLowering]
    /// The item of which this one is a conflict copy: 16 bytes, or nil.
    package let origin: [UInt8]?

    package init(dot: Dot, seen: Seen, lowerings: [StoredLowering] = [], origin: [UInt8]? = nil) {
        precondition((origin?.count ?? 16) == 16, "an id has 16 bytes")
        (self.dot, self.seen, self.lowerings, self.origin) = (dot, seen, lowerings, origin)
    }

    /// dot (4 + 8) ‖ number (2) ‖ seen (12 each) ‖ number of lowerings (1) ‖ lowerings ‖ 0, or 1 and the origin (16)
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(dot)
        bytes.append(seen)
        bytes.append(UInt8(lowerings.count))
        for lowering in lowerings { bytes += lowering.encoded }
        return bytes + (origin.map { [1] + $0 } ?? [0])
    }

    /// Reads the parts, and leaves the cursor behind them.
    package init(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        dot = Dot(device: try cursor.number(in: span), count: try cursor.number(in: span))
        seen = try Seen(&cursor, in: span)
        var lowerings: [StoredLowering] = []
        for _ in 0..<Int(try cursor.number(UInt8.self, in: span)) {
            let lowering = try StoredLowering(&cursor, in: span)
            guard lowerings.last.map({ $0.claimed.from > lowering.claimed.from }) ?? true,
                lowering.claimed.from > .always, seen.includes(lowering.claimed.seen)
            else { throw MalformedBytes() }
            lowerings.append(lowering)
        }
        self.lowerings = lowerings
        switch try cursor.number(UInt8.self, in: span) {
        case 0: origin = nil
        case 1: origin = try cursor.take(16, in: span)
        default: throw MalformedBytes()
        }
        guard dot.device > 0, dot.count > 0, seen.includes(dot) else { throw MalformedBytes() }
    }
}
