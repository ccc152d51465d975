// A level lends what opens a remembered password, and nothing else of itself.

public import OMRecords
public import OMSecrets
internal import OMStorage

extension Vault {
    /// The key for what is remembered at `level`: derived, so that whoever is given it can read no item.
    ///
    /// That of a device-only level needs this device's key beside the level's.
    ///
    /// - Returns: nil while the level is locked, and on another device for one that is bound to its own.
    /// - Throws: ``VaultError/rekeyed`` for keys that the vault has no more, and the errors of reading.
    public func rememberingKey(of level: ProtectionLevel) throws(VaultError) -> Key<Remembering>? {
        // From a state that was judged: the keys of an epoch that is over are lent to nobody.
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
