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
    private var parcels: [Name: [Parcel]] = [:]
    /// The rows of all chunks.
    private(set) var keys: Set<ArrivedParcel.Key> = []

    init(of waiting: [ArrivedParcel.Key: ArrivedParcel], _ lanes: LaneSet, vault: [UInt8]) {
        (self.lanes, self.vault) = (lanes, vault)
        for (key, parcel) in waiting {
            guard case .waits(let sealed) = parcel.state, let name = name(of: sealed) else { continue }
            parcels[name, default: []].append(sealed)
            keys.insert(key)
        }
    }

    /// The bytes of a chunk, or nil if it has not arrived.
    func bytes(of id: [UInt8], in item: [UInt8], at level: ProtectionLevel.Availability) -> SecretBytes? {
        for parcel in parcels[Name(id: id, item: item, level: level)] ?? [] {
            let opened = open(parcel)
            switch consume opened {
            case .none: continue
            case .some(let opened): return opened.bytes
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
