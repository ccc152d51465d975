// What a device keeps of a parcel that another one lists. Format: docs/formats/sync.md, "Tables".

package import OMItems
internal import OMParcels
internal import OMRecords
package import OMVault

/// A parcel that another device lists.
struct ArrivedParcel: Hashable, Sendable {
    enum State: Hashable, Sendable {
        /// Not merged yet, or held. The parcel is kept here, because its writer may replace it.
        case waits(Parcel)
        /// The item here includes it. Nil for a chunk: the item that names it is here.
        case isApplied(ListedVersion?)
    }

    /// What the user must decide, or has decided, of a parcel that waits.
    enum Mark: UInt8, Hashable, Sendable {
        case none = 0
        /// The brake holds its version until the user settles it.
        case isBraked = 2
        /// The user agreed to its version.
        case isAgreed = 3
    }

    struct Key: Hashable, Sendable {
        let remote: UInt8
        let signer: UInt32
        /// The id of the item or chunk: 16 bytes.
        let id: [UInt8]

        /// remote (1) ‖ signer (4) ‖ id (16)
        var encoded: [UInt8] {
            var bytes = [remote]
            bytes.append(number: signer)
            return bytes + id
        }

        init(remote: UInt8, signer: UInt32, id: [UInt8]) { (self.remote, self.signer, self.id) = (remote, signer, id) }

        fileprivate init(decoding bytes: [UInt8]) throws {
            var cursor = ByteCursor()
            remote = try cursor.number(in: bytes.span)
            signer = try cursor.number(in: bytes.span)
            id = try cursor.take(16, in: bytes.span)
            try cursor.end(in: bytes.span)
        }
    }

    /// The number of its pack.
    var pack: UInt64
    /// The digest of the parcel: 32 bytes.
    let digest: [UInt8]
    var state: State
    var mark = Mark.none

    init(_ parcel: Parcel, pack: UInt64) { (self.pack, digest, state) = (pack, parcel.digest, .waits(parcel)) }

    /// pack (8) ‖ digest (32) ‖ 0, 2 or 3 and the parcel, or 1 and 0 for a chunk, or 1, 1, the digest of the version (32) and seen
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: pack)
        bytes += digest
        switch state {
        case .waits(let parcel): return bytes + [mark.rawValue] + parcel.encoded
        case .isApplied(let version): return bytes + [1] + (version.map { [1] + $0.encoded } ?? [0])
        }
    }

    private init(decoding bytes: [UInt8]) throws {
        var cursor = ByteCursor()
        pack = try cursor.number(in: bytes.span)
        digest = try cursor.take(32, in: bytes.span)
        let kind: UInt8 = try cursor.number(in: bytes.span)
        guard kind != 1 else {
            state = .isApplied(try ListedVersion.optional(&cursor, in: bytes.span))
            try cursor.end(in: bytes.span)
            return
        }
        guard let mark = Mark(rawValue: kind) else { throw MalformedBytes() }
        self.mark = mark
        state = .waits(try Parcel(decoding: Array(bytes[cursor.offset...])))
    }

    /// - Returns: nil if there is no such row.
    init?(_ key: Key, _ access: borrowing SyncAccess) throws(VaultError) {
        guard let body = try access.row(.arrived, key.encoded) else { return nil }
        guard let parcel = try? ArrivedParcel(decoding: body) else { throw .corrupt(.sync) }
        self = parcel
    }

    static func all(_ access: borrowing SyncAccess) throws(VaultError) -> [Key: ArrivedParcel] {
        var parcels: [Key: ArrivedParcel] = [:]
        for row in try access.rows(.arrived) {
            guard let key = try? Key(decoding: row.key), let parcel = try? ArrivedParcel(decoding: row.body) else {
                throw .corrupt(.sync)
            }
            parcels[key] = parcel
        }
        return parcels
    }
}
