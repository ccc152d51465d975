// The class keys that an unlock hands to the process that keeps the vault unlocked. They contain neither
// the root key nor a password.

package import OMItems
package import OMRecords
package import OMSecrets

/// Class keys of one vault, with the epoch that they belong to.
///
/// Their levels decide what a ``Vault`` opened with them can read. The `always` levels are not among them, because
/// those open with the device key alone.
public struct ClassKeys: Sendable {
    /// The vault's id: 16 bytes.
    package let vault: [UInt8]
    /// A rekey changes it, which makes these keys useless.
    package let epoch: UInt32
    private var held: [ProtectionLevel: LevelKeys] = [:]

    package init(vault: [UInt8], epoch: UInt32) {
        precondition(vault.count == 16, "a vault's id has 16 bytes")
        (self.vault, self.epoch) = (vault, epoch)
    }

    /// The levels of these keys, the least protected first.
    package var levels: [ProtectionLevel] { ProtectionLevel.allCases.filter { held[$0] != nil } }

    package mutating func add(_ key: borrowing Key<Deriving>, of level: ProtectionLevel) {
        held[level] = LevelKeys(classKey: key)
    }

    /// Lends the key of a level to `body`. Does nothing if that level is not among them.
    package func withKey<E: Error>(
        of level: ProtectionLevel, _ body: (borrowing Key<Deriving>) throws(E) -> Void
    ) throws(E) {
        if let keys = held[level] { try body(keys.classKey) }
    }

    /// The same keys without those that a lock wipes.
    package var afterLock: ClassKeys {
        var rest = self
        rest.held = held.filter { $0.key.availability != .whenUnlocked }
        return rest
    }

    init(_ state: UnlockedState) {
        self.init(vault: state.header.id, epoch: state.header.epoch)
        held = state.keys.filter { $0.key.availability != .always }
    }

    var keys: [ProtectionLevel: LevelKeys] { held }
}

extension Vault {
    /// The class keys of this vault, except those of the `always` levels.
    public func classKeys() -> ClassKeys { ClassKeys(state) }

    /// Reads and checks the state, so that keys which do not belong to it are found now.
    package func check() throws(VaultError) { try read { _ throws(VaultError) in } }
}

extension VaultFile {
    /// Opens the vault with class keys alone. Without the root key, only the header's mark proves the header.
    ///
    /// - Parameter keepingOpen: For a vault that stays open and answers many requests.
    /// - Throws: ``VaultError/cannotUnlock`` for keys of another vault, or keys that do not open its levels;
    ///   ``VaultError/rekeyed`` for keys of another epoch; the errors of reading.
    package func open(with keys: ClassKeys, keepingOpen: KeepOpenOptions? = nil) throws(VaultError) -> Vault {
        guard keys.vault == id else { throw .cannotUnlock }
        guard keys.epoch == epoch else { throw .rekeyed }
        let vault = try open(root: nil, adding: keys.keys)
        if let keepingOpen { vault.state.keepOpen(keepingOpen) }
        do throws(VaultError) { try vault.check() } catch {
            // The level's state does not open. Forged keys and a forged state look alike here, and none of it was trusted.
            throw error == .corrupt(.level) ? .cannotUnlock : error
        }
        return vault
    }

    /// A rekey raises it.
    package var epoch: UInt32 { header.epoch }
}
