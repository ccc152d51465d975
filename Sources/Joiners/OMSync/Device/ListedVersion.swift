// What a device keeps of a version that is on a remote. Format: docs/formats/sync.md, "Tables".

package import OMParcels
internal import OMRecords
internal import OMSecrets

/// What a parcel has, as far as a device must know it without opening the parcel again.
package struct ListedVersion: Hashable, Sendable {
    /// The digest of all that a merge knows of the version: 32 bytes.
    package let digest: [UInt8]
    package let seen: Seen

    package init(_ version: SyncedVersion) {
        var bytes = version.causes
        bytes.append(version.level.rawValue)
        bytes.append(number: version.created)
        for lowering in version.lowerings {
            bytes.append(lowering.from.rawValue)
            bytes.append(lowering.seen)
        }
        (digest, seen) = (PublicHash.hash(bytes), version.seen)
    }

    var encoded: [UInt8] {
        var bytes = digest
        bytes.append(seen)
        return bytes
    }

    init(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws {
        digest = try cursor.take(32, in: span)
        seen = try Seen(&cursor, in: span)
    }

    /// 0 for none, or 1 and the version.
    static func optional(_ cursor: inout ByteCursor, in span: Span<UInt8>) throws -> ListedVersion? {
        switch try cursor.number(UInt8.self, in: span) {
        case 0: nil
        case 1: try ListedVersion(&cursor, in: span)
        default: throw MalformedBytes()
        }
    }
}
