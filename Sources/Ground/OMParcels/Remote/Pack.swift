// A file with parcels of one device. It never changes. Format: docs/formats/sync.md, "Pack".

package import OMRecords
internal import OMSecrets

package struct Pack: Hashable, Sendable {
    static let version: UInt8 = 1
    /// The most bytes of a pack with more than one parcel: 4 MiB.
    package static let maximumCount = 4 << 20

    /// The vault's id: 16 bytes.
    package let vault: [UInt8]
    package let device: UInt32
    package let number: UInt64
    /// By rising id, none twice.
    package let parcels: [Parcel]

    /// - Parameter parcels: Those of one pack, each id once, in any order.
    package init(vault: [UInt8], device: UInt32, number: UInt64, parcels: [Parcel]) {
        precondition(vault.count == 16, "a vault's id has 16 bytes")
        (self.vault, self.device, self.number) = (vault, device, number)
        self.parcels = parcels.sorted { $0.header.id.lexicographicallyPrecedes($1.header.id) }
    }

    /// version ‖ vault id (16) ‖ device (4) ‖ number (8) ‖ number of parcels (4) ‖ per parcel: length (4) ‖ parcel
    package var encoded: [UInt8] {
        var bytes = [Self.version] + vault
        bytes.append(number: device)
        bytes.append(number: number)
        bytes.append(number: UInt32(parcels.count))
        for parcel in parcels {
            let parcel = parcel.encoded
            bytes.append(number: UInt32(parcel.count))
            bytes += parcel
        }
        return bytes
    }

    package static func digest(of encoded: [UInt8]) -> [UInt8] { PublicHash.hash(encoded) }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Self.version else { throw MalformedBytes() }
        vault = try cursor.take(16, in: span)
        device = try cursor.number(in: span)
        number = try cursor.number(in: span)
        let count = try cursor.number(UInt32.self, in: span)
        var parcels: [Parcel] = []
        for _ in 0..<count {
            let length = Int(try cursor.number(UInt32.self, in: span))
            guard length <= Parcel.maximumCount else { throw MalformedBytes() }
            let parcel = try Parcel(decoding: try cursor.take(length, in: span))
            guard parcels.last.map({ $0.header.id.lexicographicallyPrecedes(parcel.header.id) }) ?? true else {
                throw MalformedBytes()
            }
            parcels.append(parcel)
        }
        try cursor.end(in: span)
        guard number > 0, device > 0, !parcels.isEmpty, bytes.count <= Self.maximumCount || count == 1 else {
            throw MalformedBytes()
        }
        self.parcels = parcels
    }
}
