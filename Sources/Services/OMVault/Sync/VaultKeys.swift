// The keys of a vault, for what sync seals and derives.

package import OMItems
package import OMRecords
package import OMSecrets
internal import OMStorage

/// Lends the keys of a vault.
package protocol VaultKeys: ~Copyable {
    /// Lends the class key of a portable level.
    ///
    /// - Throws: ``VaultError/levelLocked(_:)``.
    borrowing func withClassKey<R: ~Copyable>(
        of level: ProtectionLevel.Availability, _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R

    /// Lends the device key.
    ///
    /// - Throws: ``VaultError/readOnlyHere`` on another device than the vault's own.
    borrowing func withDeviceKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R

    /// Lends the root key.
    ///
    /// - Throws: ``VaultError/levelLocked(_:)`` without a password: the agent has class keys only.
    borrowing func withRootKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R
}

extension Vault: VaultKeys {
    package borrowing func withClassKey<R: ~Copyable>(
        of level: ProtectionLevel.Availability, _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        let level = ProtectionLevel(level, deviceOnly: false)
        guard let keys = state.keys[level] else { throw .levelLocked(level) }
        return try body(keys.classKey)
    }

    package borrowing func withDeviceKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        guard let device = state.device?.duplicate() else { throw .readOnlyHere }
        return try body(device.key)
    }

    package borrowing func withRootKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        guard let root = state.root?.duplicate() else { throw .levelLocked(.whenUnlocked) }
        return try body(root)
    }
}
