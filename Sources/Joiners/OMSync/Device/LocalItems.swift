// The items of a device as the merge sees them. Format: docs/formats/sync.md, "Summary".

package import OMItems
package import OMParcels
package import OMRecords
package import OMSyncKeys
package import OMVault

extension SyncedVersion {
    /// - Parameters:
    ///   - parts: Those of the content, or what a content without them means.
    ///   - lowerings: Those whose MACs were checked, or that a record of this device has.
    ///   - link: Nil while when-unlocked is closed. Then values are compared by their digests, and only on this device.
    init(
        _ content: VersionContent, at level: ProtectionLevel.Availability, _ parts: SyncedParts, _ lowerings: [Lowering],
        link: LinkKey?
    ) {
        let state: State =
            switch content.state {
            case .live: .live
            case .trashed: .trashed
            case .purged: .purged
            }
        var fields: [FieldName: Field] = [:]
        for field in content.fields {
            fields[field.name] = Field(digest: link?.valueHash(ofDigest: field.digest) ?? field.digest, isShown: field.isShown)
        }
        self.init(
            seen: parts.seen, dot: parts.dot, time: content.modified, created: content.created, state: state, level: level,
            lowerings: lowerings, origin: parts.origin, name: content.name, details: content.details, fields: fields)
    }
}

extension VersionContent {
    /// The parts of this content. One from before the vault began to sync is the founder's edit 1.
    func parts(founder: UInt32) -> SyncedParts {
        if let parts { return parts }
        let dot = Dot(device: founder, count: 1)
        var seen = Seen()
        seen.insert(dot)
        return SyncedParts(dot: dot, seen: seen)
    }
}

/// The newest versions of all items and tombstones of the open portable levels.
package struct LocalItems: SyncedItems {
    struct Entry {
        let place: SyncAccess.Place
        let version: SyncedVersion
        let lowerings: [StoredLowering]
        /// Whether a value is in chunks.
        let hasChunks: Bool
    }

    private(set) var entries: [[UInt8]: Entry] = [:]
    private var named: [ItemName: [[UInt8]]] = [:]
    private var copies: [[UInt8]: [[UInt8]]] = [:]
    private var taken: Set<ItemName> = []

    /// None, for a plan that takes nothing.
    init() {}

    init(_ access: borrowing SyncAccess, _ link: LinkKey?, founder: UInt32) throws(VaultError) {
        taken = try access.namesOfDeviceOnlyItems()
        for place in try access.places() {
            let found = try access.version(at: place)
            // A tombstone from before the vault began to sync: no other device ever heard of the item.
            if found.content.state == .purged, found.content.parts == nil { continue }
            let parts = found.content.parts(founder: founder)
            let version = SyncedVersion(found.content, at: place.level, parts, parts.lowerings.map(\.claimed), link: link)
            entries[found.id] = Entry(
                place: place, version: version, lowerings: parts.lowerings,
                hasChunks: !found.content.fields.allSatisfy(\.chunks.isEmpty))
            guard version.state == .live, let name = version.name else { continue }
            named[name, default: []].append(found.id)
            if let origin = version.origin { copies[origin, default: []].append(found.id) }
        }
    }

    package func version(of id: [UInt8]) -> SyncedVersion? { entries[id]?.version }
    package func liveItems(named name: ItemName) -> [[UInt8]] { named[name] ?? [] }
    package func isTaken(_ name: ItemName) -> Bool { taken.contains(name) }
    package func liveCopies(of origin: [UInt8]) -> [[UInt8]] { copies[origin] ?? [] }
}
