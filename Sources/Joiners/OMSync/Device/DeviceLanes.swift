// The lanes and the link as a device keeps them. Format: docs/formats/sync.md, "Tables".

package import OMItems
package import OMParcels
package import OMRecords
package import OMSecrets
package import OMSyncKeys
package import OMVault

/// The lanes of the open levels, and the link if when-unlocked is open.
package struct DeviceLanes: Sendable {
    package private(set) var lanes = LaneSet()
    package private(set) var link: LinkKey?

    /// Reads the lanes of each open level.
    ///
    /// - Throws: ``VaultError/corrupt(_:)`` for a box that its class key does not open.
    package init(_ vault: borrowing Vault, _ access: borrowing SyncAccess) throws(VaultError) {
        for row in try access.rows(.lane) {
            let (level, epoch, maker) = try Self.scope(row.key)
            guard access.openLevels.contains(level) else { continue }
            let key = try vault.withClassKey(of: level) { classKey throws(VaultError) in
                try Self.open(row.body, classKey, Self.laneContext(access.vault, row.key))
            }
            lanes.insert(Lane(level, epoch: epoch, key), madeBy: maker)
        }
        guard access.openLevels.contains(.whenUnlocked), let box = try access.row(.link, Self.linkRow) else { return }
        link = LinkKey(
            try vault.withClassKey(of: .whenUnlocked) { classKey throws(VaultError) in
                try Self.open(box, classKey, Self.linkContext(access.vault))
            })
    }

    /// Keeps a lane. Its level is open.
    ///
    /// - Parameter maker: The digest of the entry of the roll that made it: 32 bytes.
    static func keep(
        _ lane: Lane, madeBy maker: [UInt8], _ vault: borrowing Vault, _ access: inout SyncAccess
    ) throws(VaultError) {
        let key = row(of: lane.level, lane.epoch, maker)
        let context = laneContext(access.vault, key)
        let box = try vault.withClassKey(of: lane.level) { classKey throws(VaultError) in
            lane.withKey { Self.seal($0, classKey, context) }
        }
        try access.set(.lane, key, box)
    }

    static func keep(_ link: LinkKey, _ vault: borrowing Vault, _ access: inout SyncAccess) throws(VaultError) {
        let context = linkContext(access.vault)
        let box = try vault.withClassKey(of: .whenUnlocked) { classKey throws(VaultError) in
            link.withKey { Self.seal($0, classKey, context) }
        }
        try access.set(.link, linkRow, box)
    }

    private static let linkRow: [UInt8] = [0]

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

    private static func linkContext(_ vault: [UInt8]) -> Context { Context(.syncLinkBox, .bytes(vault)) }
}
