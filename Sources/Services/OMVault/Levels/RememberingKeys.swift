// The key of a level for remembered passwords. It opens nothing of the level itself.

public import OMItems
public import OMRecords
public import OMSecrets
internal import OMStorage

extension Vault {
    /// The key for data that is remembered at `level`. It is derived, so that its holder can read no item.
    ///
    /// The key of a device-only level needs this device's key too.
    ///
    /// - Returns: nil while the level is locked. For a device-only level, also nil on another device.
    /// - Throws: ``VaultError/rekeyed`` for keys that the vault no longer has, and the errors of reading.
    public func rememberingKey(of level: ProtectionLevel) throws(VaultError) -> Key<Remembering>? {
        // The state is checked first, so that keys of an old epoch are never lent.
        try read { _ throws(VaultError) in derivedKey(of: level) }
    }

    private func derivedKey(of level: ProtectionLevel) -> Key<Remembering>? {
        guard let keys = state.keys[level] else { return nil }
        let context = Context(.rememberLevel, .bytes(state.header.id), .number(UInt64(level.code)))
        guard level.isDeviceOnly else { return keys.classKey.derive(context) }
        switch state.device {
        case .some(let device): return keys.classKey.derive(context, mixing: device.key)
        case .none: return nil
        }
    }
}
