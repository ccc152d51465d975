// The lanes and the link as a device keeps them. Format: docs/formats/sync.md, "Tables".

package import OMItems
package import OMParcels
package import OMRecords
package import OMSecrets
package import OMSyncKeys
package import OMVault

/// The lanes of the open levels, and the links if when-unlocked is open.
package struct DeviceLanes: Sendable {
    private struct Maker: Hashable {
        let epoch: UInt32
        let digest: [UInt8]
    }

    package private(set) var lanes = LaneSet()
    private var links: [Maker: LinkKey] = [:]
    private let roll: Roll

    /// Reads the lanes of each open level.
    ///
    /// - Throws: ``VaultError/corrupt(_:)`` for a box that its class key does not open.
    package init<Keys: VaultKeys & ~Copyable>(_ keys: borrowing Keys, _ access: borrowing SyncAccess) throws(VaultError) {
        roll = try DeviceRoll(access).roll
        for row in try access.rows(.lane) {
            let (level, epoch, maker) = try Self.scope(row.key)
            guard access.openLevels.contains(level) else { continue }
            let key = try keys.withClassKey(of: level) { classKey throws(VaultError) in
                try Self.open(row.body, classKey, Self.laneContext(access.vault, row.key))
            }
            lanes.insert(Lane(level, epoch: epoch, key), madeBy: maker)
        }
        guard access.openLevels.contains(.whenUnlocked) else { return }
        for row in try access.rows(.link) {
            let (_, epoch, maker) = try Self.scope(row.key)
            let key = try keys.withClassKey(of: .whenUnlocked) { classKey throws(VaultError) in
                try Self.open(row.body, classKey, Self.linkContext(access.vault, row.key))
            }
            links[Maker(epoch: epoch, digest: maker)] = LinkKey(key)
        }
    }

    /// The link of now. Nil while when-unlocked is closed.
    package var link: LinkKey? { link(at: roll.laneEpoch) }

    /// The link of a lane epoch: that of the last rekey before it, or else the first one.
    func link(at epoch: UInt32) -> LinkKey? {
        for epoch in (0...epoch).reversed() {
            if let maker = roll.maker(ofEpoch: epoch), let link = links[Maker(epoch: epoch, digest: maker)] { return link }
        }
        return nil
    }

    /// The link that an entry made, also if the entry does not count.
    func link(ofEpoch epoch: UInt32, madeBy maker: [UInt8]) -> LinkKey? { links[Maker(epoch: epoch, digest: maker)] }

    /// The lanes of an epoch, one of each portable level. Nil if one is not here, or closed.
    func lanes(ofEpoch epoch: UInt32) -> [Lane]? {
        guard let maker = roll.maker(ofEpoch: epoch) else { return nil }
        let found = ProtectionLevel.Availability.allCases.compactMap { lanes.lane($0, epoch: epoch, madeBy: maker) }
        return found.count == ProtectionLevel.Availability.allCases.count ? found : nil
    }

    /// Keeps a lane. Its level is open.
    ///
    /// - Parameter maker: The digest of the entry of the roll that made it: 32 bytes.
    static func keep<Keys: VaultKeys & ~Copyable>(
        _ lane: Lane, madeBy maker: [UInt8], _ keys: borrowing Keys, _ access: inout SyncAccess
    ) throws(VaultError) {
        let key = row(of: lane.level, lane.epoch, maker)
        let context = laneContext(access.vault, key)
        let box = try keys.withClassKey(of: lane.level) { classKey throws(VaultError) in
            lane.withKey { Self.seal($0, classKey, context) }
        }
        try access.set(.lane, key, box)
    }

    /// Keeps the link of an epoch. When-unlocked is open.
    static func keep<Keys: VaultKeys & ~Copyable>(
        _ link: LinkKey, ofEpoch epoch: UInt32, madeBy maker: [UInt8], _ keys: borrowing Keys, _ access: inout SyncAccess
    ) throws(VaultError) {
        let key = row(of: .whenUnlocked, epoch, maker)
        let context = linkContext(access.vault, key)
        let box = try keys.withClassKey(of: .whenUnlocked) { classKey throws(VaultError) in
            link.withKey { Self.seal($0, classKey, context) }
        }
        try access.set(.link, key, box)
    }

    /// Seals all lanes and links under other class keys. All levels are open.
    func reseal<Keys: VaultKeys & ~Copyable>(_ keys: borrowing Keys, _ access: inout SyncAccess) throws(VaultError) {
        for row in try access.rows(.lane) {
            let (level, epoch, maker) = try Self.scope(row.key)
            guard let lane = lanes.lane(level, epoch: epoch, madeBy: maker) else { throw .corrupt(.sync) }
            try Self.keep(lane, madeBy: maker, keys, &access)
        }
        for (maker, link) in links { try Self.keep(link, ofEpoch: maker.epoch, madeBy: maker.digest, keys, &access) }
    }

    /// level (1) ‖ lane epoch (4) ‖ digest of the entry that made the lane (32)
    private static func row(of level: ProtectionLevel.Availability, _ epoch: UInt32, _ maker: [UInt8]) -> [UInt8] {
        var key = [level.rawValue]
        key.append(number: epoch)
        return key + maker
    }

    /// Whether a lane is here, open or not.
    static func has(
        _ level: ProtectionLevel.Availability, epoch: UInt32, madeBy maker: [UInt8], _ access: borrowing SyncAccess
    ) throws(VaultError) -> Bool {
        try access.row(.lane, row(of: level, epoch, maker)) != nil
    }

    private static func scope(
        _ key: [UInt8]
    ) throws(VaultError) -> (level: ProtectionLevel.Availability, epoch: UInt32, maker: [UInt8]) {
        var cursor = ByteCursor()
        do {
            guard let level = ProtectionLevel.Availability(rawValue: try cursor.number(in: key.span)) else {
                throw MalformedBytes()
            }
            let epoch: UInt32 = try cursor.number(in: key.span)
            let maker = try cursor.take(32, in: key.span)
            try cursor.end(in: key.span)
            return (level, epoch, maker)
        } catch { throw .corrupt(.sync) }
    }

    private static func seal(
        _ key: borrowing Key<Deriving>, _ classKey: borrowing Key<Deriving>, _ context: Context
    ) -> [UInt8] {
        let content = key.withExposedBytes { SecretBytes(copying: $0) }
        return AEAD.seal(content, using: classKey.derive(context), context: context).bytes
    }

    private static func open(
        _ box: [UInt8], _ classKey: borrowing Key<Deriving>, _ context: Context
    ) throws(VaultError) -> Key<Deriving> {
        do {
            return try Key(readFrom: AEAD.open(SealedBox(stored: box), using: classKey.derive(context), context: context))
        } catch { throw .corrupt(.sync) }
    }

    /// Attack: the box of one level or epoch is put in the place of another one.
    private static func laneContext(_ vault: [UInt8], _ key: [UInt8]) -> Context {
        Context(.syncLaneBox, .bytes(vault), .bytes(key))
    }

    private static func linkContext(_ vault: [UInt8], _ key: [UInt8]) -> Context {
        Context(.syncLinkBox, .bytes(vault), .bytes(key))
    }
}
