// What a device keeps of a parcel that it wrote. Format: docs/formats/sync.md, "Tables".

internal import OMItems
internal import OMRecords

/// A parcel of this device on a remote.
struct OwnParcel: Hashable, Sendable {
    /// The number of its pack.
    var pack: UInt64
    /// The number of bytes of the parcel.
    let count: UInt32
    /// The digest of the entry of the roll that made its lane: 32 bytes.
    let maker: [UInt8]
    /// Nil for a chunk.
    let version: ListedVersion?

    /// remote (1) ‖ id (16)
    static func key(_ remote: UInt8, _ id: [UInt8]) -> [UInt8] { [remote] + id }

    /// pack (8) ‖ count (4) ‖ maker (32) ‖ 0 for a chunk, or 1, the digest of the version (32) and seen
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: pack)
        bytes.append(number: count)
        bytes += maker
        return bytes + (version.map { [1] + $0.encoded } ?? [0])
    }

    init(pack: UInt64, count: UInt32, sealedBy maker: [UInt8], _ version: ListedVersion?) {
        (self.pack, self.count, self.maker, self.version) = (pack, count, maker, version)
    }

    init(decoding bytes: [UInt8]) throws(VaultError) {
        do {
            var cursor = ByteCursor()
            pack = try cursor.number(in: bytes.span)
            count = try cursor.number(in: bytes.span)
            maker = try cursor.take(32, in: bytes.span)
            version = try ListedVersion.optional(&cursor, in: bytes.span)
            try cursor.end(in: bytes.span)
        } catch { throw .corrupt(.sync) }
    }
}
