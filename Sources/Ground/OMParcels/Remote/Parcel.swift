// One version of an item, or one chunk of a value, as it leaves the device: sealed. Format: docs/formats/sync.md, "Parcel".

package import OMRecords
internal import OMSecrets

/// A parcel. Its level, its name and what it is are in the box.
package struct Parcel: Hashable, Sendable {
    /// What everyone can read. It is the associated data of the box.
    package struct Header: Hashable, Sendable {
        package static let count = 70
        static let version: UInt8 = 1
        /// XChaCha20-Poly1305 under a key that HKDF-SHA-256 derives for each sealing.
        static let suite: UInt8 = 1

        /// The id of the item or chunk: 16 bytes.
        package let id: [UInt8]
        package let laneEpoch: UInt32
        /// 16 random bytes, so that each sealing has its own key.
        package let salt: [UInt8]
        /// 32 bytes. They tell the lanes apart before the box is opened.
        package let commitment: [UInt8]

        package init(id: [UInt8], laneEpoch: UInt32, salt: [UInt8], commitment: [UInt8]) {
            precondition(id.count == 16 && salt.count == 16 && commitment.count == 32, "fixed sizes")
            (self.id, self.laneEpoch, self.salt, self.commitment) = (id, laneEpoch, salt, commitment)
        }

        /// version ‖ suite ‖ id (16) ‖ lane epoch (4) ‖ salt (16) ‖ commitment (32)
        package var encoded: [UInt8] {
            var bytes = [Self.version, Self.suite] + id
            bytes.append(number: laneEpoch)
            return bytes + salt + commitment
        }
    }

    /// The most steps of 256 bytes that a box has: those of a whole chunk.
    package static let maximumSteps = 1024
    package static let maximumCount = Header.count + Record.boxOverhead + maximumSteps * Record.step

    package let header: Header
    package let box: [UInt8]

    package init(header: Header, box: [UInt8]) { (self.header, self.box) = (header, box) }

    package var encoded: [UInt8] { header.encoded + box }

    package var digest: [UInt8] { PublicHash.hash(encoded) }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Header.version, try cursor.number(UInt8.self, in: span) == Header.suite
        else { throw MalformedBytes() }
        header = Header(
            id: try cursor.take(16, in: span), laneEpoch: try cursor.number(in: span), salt: try cursor.take(16, in: span),
            commitment: try cursor.take(32, in: span))
        let sealed = span.count - cursor.offset - Record.boxOverhead
        guard (1...Self.maximumSteps * Record.step).contains(sealed), sealed % Record.step == 0, header.laneEpoch > 0 else {
            throw MalformedBytes()
        }
        box = try cursor.take(sealed + Record.boxOverhead, in: span)
    }
}
