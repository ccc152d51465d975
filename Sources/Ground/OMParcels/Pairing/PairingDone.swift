package import OMRecords

/// The last message of a pairing: the entry that adds the new device. Format: docs/formats/sync.md, "Pairing".
package struct PairingDone: Hashable, Sendable {
    static let version: UInt8 = 1

    package let entryNumber: UInt32
    /// 32 bytes.
    package let entryDigest: [UInt8]

    package init(entryNumber: UInt32, entryDigest: [UInt8]) {
        precondition(entryDigest.count == 32, "fixed sizes")
        (self.entryNumber, self.entryDigest) = (entryNumber, entryDigest)
    }

    package var encoded: [UInt8] {
        var bytes = [Self.version]
        bytes.append(number: entryNumber)
        return bytes + entryDigest
    }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Self.version else { throw MalformedBytes() }
        entryNumber = try cursor.number(in: span)
        entryDigest = try cursor.take(32, in: span)
        try cursor.end(in: span)
    }
}
