// The chunks of values that arrived. Format: docs/formats/sync.md, "Parcel".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMSyncKeys
internal import OMVault

/// The chunks among the parcels that wait. A chunk counts for its item and its level only.
struct ArrivedChunks {
    private struct Name: Hashable {
        let id: [UInt8]
        /// The id of the item: 16 bytes.
        let item: [UInt8]
        let level: ProtectionLevel.Availability
    }

    private let lanes: LaneSet
    private let vault: [UInt8]
    /// Two members may list the same chunk.
    private var keys: [Name: [ArrivedParcel.Key]] = [:]
    /// All chunks.
    private(set) var rows: [ArrivedParcel.Key: ArrivedParcel] = [:]

    init(
        of waiting: [ArrivedParcel.Key: ArrivedParcel], _ lanes: LaneSet, _ access: borrowing SyncAccess
    ) throws(VaultError) {
        (self.lanes, vault) = (lanes, access.vault)
        let read = ArrivedParcel.reader(access)
        for (key, row) in waiting {
            guard let sealed = try read(key), let name = name(of: sealed) else { continue }
            keys[name, default: []].append(key)
            rows[key] = row
        }
    }

    /// A member that lists chunks on a remote.
    struct Holder: Hashable, Sendable {
        let remote: UInt8
        let signer: UInt32

        init(_ key: ArrivedParcel.Key) { (remote, signer) = (key.remote, key.signer) }
    }

    /// The members that list chunks of these ids for an item, the owner of a key first.
    func holders(
        of ids: [[UInt8]], in item: [UInt8], at level: ProtectionLevel.Availability, first key: ArrivedParcel.Key
    ) -> [Holder] {
        let found = Set(ids.flatMap { keys[Name(id: $0, item: item, level: level)] ?? [] }.map(Holder.init))
        let first = Holder(key)
        return [first] + found.subtracting([first]).sorted { ($0.remote, $0.signer) < ($1.remote, $1.signer) }
    }

    /// The bytes of a chunk of the first member that lists it, or nil if none does.
    ///
    /// - Parameter read: ``ArrivedParcel/reader(_:)`` of this transaction.
    func bytes(
        of id: [UInt8], in item: [UInt8], at level: ProtectionLevel.Availability, from holders: [Holder],
        _ read: (ArrivedParcel.Key) throws(VaultError) -> Parcel?
    ) throws(VaultError) -> SecretBytes? {
        let listed = keys[Name(id: id, item: item, level: level)] ?? []
        for holder in holders {
            for key in listed where Holder(key) == holder {
                guard let parcel = try read(key) else { continue }
                let opened = open(parcel)
                switch consume opened {
                case .none: continue
                case .some(let opened): return opened.bytes
                }
            }
        }
        return nil
    }

    private func name(of parcel: Parcel) -> Name? {
        let opened = open(parcel)
        switch consume opened {
        case .none: return nil
        case .some(let opened): return opened.name
        }
    }

    /// The content of a chunk's parcel.
    private struct Opened: ~Copyable {
        let name: Name
        let bytes: SecretBytes
    }

    /// - Returns: nil for another parcel, and for one that no lane here opens.
    private func open(_ parcel: Parcel) -> Opened? {
        let opened: OpenedParcel?
        do { opened = try lanes.open(parcel, vault: vault) } catch { return nil }
        switch consume opened {
        case .none: return nil
        case .some(let opened):
            guard opened.kind == .chunk, let parts = opened.content.withBytes({ Self.parts($0) }) else { return nil }
            let name = Name(id: parcel.header.id, item: parts.item, level: opened.level)
            return Opened(name: name, bytes: opened.content.withBytes { SecretBytes(copying: $0.extracting(parts.bytes)) })
        }
    }

    /// item id (16) ‖ length (4) ‖ bytes ‖ zeros
    private static func parts(_ content: Span<UInt8>) -> (item: [UInt8], bytes: Range<Int>)? {
        var cursor = ByteCursor()
        do {
            let item = try cursor.take(16, in: content)
            let count = Int(try cursor.number(UInt32.self, in: content))
            guard (1...ValueChunk.valueCount).contains(count) else { return nil }
            let bytes = try cursor.skip(count, in: content)
            guard (bytes.upperBound..<content.count).allSatisfy({ content[$0] == 0 }) else { return nil }
            return (item, bytes)
        } catch { return nil }
    }
}
