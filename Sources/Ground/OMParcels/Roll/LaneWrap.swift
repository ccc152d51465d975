// Lanes, sealed for one member. Format: docs/formats/sync.md, "Roll".

package import OMRecords

package struct LaneWrap: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// The lanes of after-first-unlock and when-unlocked, and the link.
        case unlocked = 1
        /// The lane of `always`.
        case always = 2

        package var contentCount: Int { self == .unlocked ? 96 : 32 }
    }

    /// What is in the context of a wrap's key.
    package struct Scope: Hashable, Sendable {
        package let member: UInt32
        package let kind: Kind
        package let laneEpoch: UInt32

        package init(member: UInt32, kind: Kind, laneEpoch: UInt32) {
            (self.member, self.kind, self.laneEpoch) = (member, kind, laneEpoch)
        }
    }

    package let scope: Scope
    /// The public key that was made for this wrap: 32 bytes.
    package let sender: [UInt8]
    package let box: [UInt8]

    package init(_ scope: Scope, sender: [UInt8], box: [UInt8]) {
        precondition(sender.count == 32 && box.count == Record.boxOverhead + scope.kind.contentCount, "fixed sizes")
        (self.scope, self.sender, self.box) = (scope, sender, box)
    }

    /// member (4) ‖ kind (1) ‖ lane epoch (4) ‖ E (32) ‖ box
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: scope.member)
        bytes.append(scope.kind.rawValue)
        bytes.append(number: scope.laneEpoch)
        return bytes + sender + box
    }

    init(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws(MalformedBytes) {
        let member = try cursor.number(UInt32.self, in: span)
        guard let kind = Kind(rawValue: try cursor.number(in: span)) else { throw MalformedBytes() }
        scope = Scope(member: member, kind: kind, laneEpoch: try cursor.number(in: span))
        sender = try cursor.take(32, in: span)
        box = try cursor.take(Record.boxOverhead + kind.contentCount, in: span)
    }
}
