package import OMRecords

/// A lowering as a content has it: with its MAC. Format: docs/formats/sync.md, "Levels".
package struct StoredLowering: Hashable, Sendable {
    package static let macCount = 32

    /// What its writer says. A MAC that is right makes it a ``Lowering`` that counts.
    package let claimed: Lowering
    /// The epoch of the lane under which the MAC was made.
    package let laneEpoch: UInt32
    /// Made under the lane of the level that was left: 32 bytes.
    package let mac: [UInt8]

    package init(_ claimed: Lowering, laneEpoch: UInt32, mac: [UInt8]) {
        precondition(mac.count == Self.macCount, "fixed sizes")
        (self.claimed, self.laneEpoch, self.mac) = (claimed, laneEpoch, mac)
    }

    /// A lowering in a local record, made by an edit on this device. The process that seals a parcel of it makes the MAC.
    package init(unproven claimed: Lowering) {
        self.init(claimed, laneEpoch: 1, mac: [UInt8](repeating: 0, count: Self.macCount))
    }

    /// Whether it has no MAC yet.
    package var isUnproven: Bool { mac.allSatisfy { $0 == 0 } }

    /// What the MAC is over, behind its context: level (1) ‖ lane epoch (4) ‖ number (2) ‖ covered (12 each)
    package static func authenticated(_ lowering: Lowering, laneEpoch: UInt32) -> [UInt8] {
        var bytes = [lowering.from.rawValue]
        bytes.append(number: laneEpoch)
        bytes.append(lowering.seen)
        return bytes
    }

    package var encoded: [UInt8] { Self.authenticated(claimed, laneEpoch: laneEpoch) + mac }

    init(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        guard let level = ProtectionLevel.Availability(rawValue: try cursor.number(in: span)) else { throw MalformedBytes() }
        laneEpoch = try cursor.number(in: span)
        claimed = Lowering(from: level, seen: try Seen(&cursor, in: span))
        mac = try cursor.take(Self.macCount, in: span)
        guard laneEpoch > 0 else { throw MalformedBytes() }
    }
}
