// What a device keeps of a parcel that another one lists. Format: docs/formats/sync.md, "Tables".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMVault

/// A parcel that another device lists. Its bytes stay in the file until they are needed: there may be more than memory takes.
struct ArrivedParcel: Hashable, Sendable {
    enum State: Hashable, Sendable {
        /// Not merged yet, or held. So many bytes of the parcel are kept here, because its writer may replace it.
        case waits(Int)
        /// The item here includes it. The digest of its version, or nil for a chunk: the item that names it is here.
        case isApplied([UInt8]?)
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
    let pack: UInt64
    /// The digest of the parcel: 32 bytes.
    let digest: [UInt8]
    let state: State
    let mark: Mark

    var waits: Bool { if case .waits = state { true } else { false } }

    // MARK: - Rows

    /// pack (8) ‖ digest (32) ‖ mark (1), before the parcel
    private static let prefixCount = 41
    /// The prefix ‖ 1 (1) ‖ digest of the version (32)
    private static let startCount = prefixCount + 33
    private static let applied: UInt8 = 1

    private init(start bytes: [UInt8], of count: Int) throws {
        var cursor = ByteCursor()
        pack = try cursor.number(in: bytes.span)
        digest = try cursor.take(32, in: bytes.span)
        let kind: UInt8 = try cursor.number(in: bytes.span)
        guard kind != Self.applied else {
            mark = .none
            switch try cursor.number(UInt8.self, in: bytes.span) {
            case 0: state = .isApplied(nil)
            case 1: state = .isApplied(try cursor.take(32, in: bytes.span))
            default: throw MalformedBytes()
            }
            return
        }
        guard let mark = Mark(rawValue: kind), count > Self.prefixCount else { throw MalformedBytes() }
        (self.mark, state) = (mark, .waits(count - Self.prefixCount))
    }

    /// - Returns: nil if there is no such row.
    init?(_ key: Key, _ access: borrowing SyncAccess) throws(VaultError) {
        guard let body = try access.row(.arrived, key.encoded) else { return nil }
        guard let parcel = try? ArrivedParcel(start: body, of: body.count) else { throw .corrupt(.sync) }
        self = parcel
    }

    static func all(_ access: borrowing SyncAccess) throws(VaultError) -> [Key: ArrivedParcel] {
        var parcels: [Key: ArrivedParcel] = [:]
        for row in try access.starts(of: .arrived, count: startCount) {
            guard let key = try? Key(decoding: row.key), let parcel = try? ArrivedParcel(start: row.bytes, of: row.count) else {
                throw .corrupt(.sync)
            }
            parcels[key] = parcel
        }
        return parcels
    }

    /// Forgets what was merged of devices that are no members any more: it does not count.
    static func dropApplied(except members: Roll, _ access: inout SyncAccess) throws(VaultError) {
        for (key, row) in try all(access) where !row.waits && members.members[key.signer] == nil {
            try access.set(.arrived, key.encoded, nil)
        }
    }

    private init(pack: UInt64, digest: [UInt8], _ state: State, _ mark: Mark = .none) {
        (self.pack, self.digest, self.state, self.mark) = (pack, digest, state, mark)
    }

    /// Keeps a parcel until it is merged.
    static func keep(
        _ parcel: Parcel, of pack: UInt64, at key: Key, _ access: inout SyncAccess
    ) throws(VaultError) -> ArrivedParcel {
        var bytes: [UInt8] = []
        bytes.append(number: pack)
        let (digest, encoded) = (parcel.digest, parcel.encoded)
        try access.set(.arrived, key.encoded, bytes + digest + [Mark.none.rawValue] + encoded)
        return ArrivedParcel(pack: pack, digest: digest, .waits(encoded.count))
    }

    /// Notes that the parcel is in another pack now.
    func moved(to pack: UInt64, at key: Key, _ access: inout SyncAccess) throws(VaultError) -> ArrivedParcel {
        guard let body = try access.row(.arrived, key.encoded), body.count > 8 else { throw .corrupt(.sync) }
        var bytes: [UInt8] = []
        bytes.append(number: pack)
        try access.set(.arrived, key.encoded, bytes + body.dropFirst(8))
        return ArrivedParcel(pack: pack, digest: digest, state, mark)
    }

    /// Marks a parcel that waits, if it is still the same one.
    func setMark(_ mark: Mark, at key: Key, _ access: inout SyncAccess) throws(VaultError) {
        guard waits, let body = try body(at: key, access) else { return }
        var bytes = body
        bytes[Self.prefixCount - 1] = mark.rawValue
        try access.set(.arrived, key.encoded, bytes)
    }

    /// Keeps of a parcel that was merged only what a push must know, if it is still the same one.
    ///
    /// - Parameter version: nil for a chunk.
    /// - Returns: Whether it is.
    @discardableResult
    func useUp(as version: ListedVersion?, at key: Key, _ access: inout SyncAccess) throws(VaultError) -> Bool {
        guard let body = try body(at: key, access) else { return false }
        let rest = version.map { [1] + $0.encoded } ?? [0]
        try access.set(.arrived, key.encoded, body.prefix(Self.prefixCount - 1) + [Self.applied] + rest)
        return true
    }

    /// Forgets a parcel, if it is still the same one.
    func drop(at key: Key, _ access: inout SyncAccess) throws(VaultError) {
        if try body(at: key, access) != nil { try access.set(.arrived, key.encoded, nil) }
    }

    private func body(at key: Key, _ access: borrowing SyncAccess) throws(VaultError) -> [UInt8]? {
        guard let body = try access.row(.arrived, key.encoded) else { return nil }
        guard let there = try? ArrivedParcel(start: body, of: body.count) else { throw .corrupt(.sync) }
        return there == self ? body : nil
    }

    /// Reads parcels that wait. Use it only inside the closure that got this access.
    static func reader(_ access: borrowing SyncAccess) -> (Key) throws(VaultError) -> Parcel? {
        let rows = access.reader(of: .arrived)
        return { key throws(VaultError) in
            guard let body = try rows(key.encoded), body.count > prefixCount, body[prefixCount - 1] != applied else { return nil }
            guard let parcel = try? Parcel(decoding: Array(body[prefixCount...])) else { throw .corrupt(.sync) }
            return parcel
        }
    }
}
