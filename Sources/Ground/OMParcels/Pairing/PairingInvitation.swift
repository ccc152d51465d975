// The first message of a pairing: what the old device says of the vault. Format: docs/formats/sync.md, "Pairing".

package import OMRecords
internal import OMSecrets

package struct PairingInvitation: Hashable, Sendable {
    package struct Remote: Hashable, Sendable {
        /// 16 bytes.
        package let incarnation: [UInt8]
        /// Nil for a folder.
        package let url: String?

        package init(incarnation: [UInt8], url: String?) {
            precondition(incarnation.count == 16, "a fixed size")
            (self.incarnation, self.url) = (incarnation, url)
        }
    }

    static let version: UInt8 = 1
    package static let maximumRemotes = 16
    package static let maximumURLCount = 1024

    /// The vault's id: 16 bytes.
    package let vault: [UInt8]
    /// The old device.
    package let device: UInt32
    /// The last entry of the roll. 32 bytes of digest.
    package let rollNumber: UInt32
    package let rollDigest: [UInt8]
    /// In seconds since 1970, by the old device's clock.
    package let expires: Int64
    /// Of 32 random bytes, which the old device reveals after it took a request.
    package let commitment: [UInt8]
    package let remotes: [Remote]

    package init(
        vault: [UInt8], device: UInt32, rollNumber: UInt32, rollDigest: [UInt8], expires: Int64, commitment: [UInt8],
        remotes: [Remote]
    ) {
        precondition(vault.count == 16 && rollDigest.count == 32 && commitment.count == 32, "fixed sizes")
        (self.vault, self.device, self.rollNumber, self.rollDigest) = (vault, device, rollNumber, rollDigest)
        (self.expires, self.commitment, self.remotes) = (expires, commitment, remotes)
    }

    package static func commitment(to random: [UInt8]) -> [UInt8] {
        PublicHash.hash(random, context: Context(.syncPairCommit))
    }

    package var encoded: [UInt8] {
        var bytes = [Self.version] + vault
        bytes.append(number: device)
        bytes.append(number: rollNumber)
        bytes += rollDigest
        bytes.append(number: expires)
        bytes += commitment
        bytes.append(UInt8(remotes.count))
        for remote in remotes {
            bytes += remote.incarnation
            let url = Array((remote.url ?? "").utf8)
            bytes.append(number: UInt16(url.count))
            bytes += url
        }
        return bytes
    }

    package var digest: [UInt8] { PublicHash.hash(encoded) }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Self.version else { throw MalformedBytes() }
        vault = try cursor.take(16, in: span)
        device = try cursor.number(in: span)
        rollNumber = try cursor.number(in: span)
        rollDigest = try cursor.take(32, in: span)
        expires = try cursor.number(in: span)
        commitment = try cursor.take(32, in: span)
        var remotes: [Remote] = []
        for _ in 0..<Int(try cursor.number(UInt8.self, in: span)) {
            let incarnation = try cursor.take(16, in: span)
            let count = Int(try cursor.number(UInt16.self, in: span))
            let url = try cursor.text(count, in: span)
            guard count <= Self.maximumURLCount, url.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
            else { throw MalformedBytes() }
            remotes.append(Remote(incarnation: incarnation, url: url.isEmpty ? nil : url))
        }
        try cursor.end(in: span)
        guard device > 0, (1...Self.maximumRemotes).contains(remotes.count) else { throw MalformedBytes() }
        self.remotes = remotes
    }
}
