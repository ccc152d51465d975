package import OMRecords
internal import OMSecrets

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

    /// The six digits that both devices compute, and the user compares.
    ///
    /// Attack: a thief read the code over the shoulder, and puts a request of his own. He cannot choose it after he saw `random`.
    ///
    /// - Parameters:
    ///   - vault: The vault's id: 16 bytes.
    ///   - invitation: The digest of the invitation: 32 bytes.
    package func digits(vault: [UInt8], invitation: [UInt8]) -> String {
        let context = Context(.syncPairDigits, .bytes(vault), .bytes(invitation), .bytes(request), .bytes(random))
        let number = PublicHash.hash([], context: context).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
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
