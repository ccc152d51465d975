package import OMRecords

/// The third message of a pairing: the random bytes of the old device, and the request that it took.
/// Format: docs/formats/sync.md, "Pairing".
package struct PairingReveal: Hashable, Sendable {
    static let version: UInt8 = 1

    /// The digest of the request: 32 bytes.
    package let request: [UInt8]
    /// 32 bytes.
    package let random: [UInt8]

    package init(request: [UInt8], random: [UInt8]) {
        precondition(request.count == 32 && random.count == 32, "fixed sizes")
        (self.request, self.random) = (request, random)
    }

    package var encoded: [UInt8] { [Self.version] + request + random }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Self.version else { throw MalformedBytes() }
        request = try cursor.take(32, in: span)
        random = try cursor.take(32, in: span)
        try cursor.end(in: span)
    }
}
