package import OMItems
package import OMRecords
package import OMSecrets
internal import OMStorage

/// The keys that a vault has after a rekey.
package struct RekeyedKeys: ~Copyable, VaultKeys {
    let root: Key<Deriving>
    let device: DeviceKey
    let levels: [ProtectionLevel: LevelKeys]

    static func random(_ device: consuming DeviceKey) -> RekeyedKeys {
        var levels: [ProtectionLevel: LevelKeys] = [:]
        for level in ProtectionLevel.allCases { levels[level] = LevelKeys(classKey: Key<Deriving>.random()) }
        return RekeyedKeys(root: .random(), device: device, levels: levels)
    }

    package borrowing func withClassKey<R: ~Copyable>(
        of level: ProtectionLevel.Availability, _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        let level = ProtectionLevel(level, deviceOnly: false)
        guard let keys = levels[level] else { throw .levelLocked(level) }
        return try body(keys.classKey)
    }

    package borrowing func withDeviceKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R { try body(device.key) }

    package borrowing func withRootKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R { try body(root) }
}
