// What an unlocker hands to the process that keeps a vault unlocked: class keys, never the root key nor a password.

package import OMRecords
package import OMSecrets

/// Class keys of one vault, with the epoch that they belong to.
///
/// Which levels they are of decides what a ``Vault`` opened with them can read. The `always` levels are not among them:
/// those open with the device key alone.
public struct ClassKeys: Sendable {
    /// The vault's id: 16 bytes.
    package let vault: [UInt8]
    /// Another one after a rekey, which makes these keys worthless.
    package let epoch: UInt32
    private var held: [ProtectionLevel: LevelKeys] = [:]

    package init(vault: [UInt8], epoch: UInt32) {
        precondition(vault.count == 16, "a vault's id has 16 bytes")
        (self.vault, self.epoch) = (vault, epoch)
    }

    /// The levels whose keys these are, the least protected first.
    package var levels: [ProtectionLevel] { ProtectionLevel.allCases.filter { held[$0] != nil } }

    package mutating func add(_ key: borrowing Key<Deriving>, of level: ProtectionLevel) {
        held[level] = LevelKeys(classKey: key)
    }

    /// Lends the key of a level to `body`; does nothing for a level that is not among them.
    package func withKey<E: Error>(
        of level: ProtectionLevel, _ body: (borrowing Key<Deriving>) throws(E) -> Void
    ) throws(E) {
        if let keys = held[level] { try body(keys.classKey) }
    }

    /// The same without the keys that go when a vault is locked.
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
    /// The class keys at hand but those of the `always` levels.
    public func classKeys() -> ClassKeys { ClassKeys(state) }

    /// Reads the state and judges it, so that keys which do not belong to it are found out now.
    package func check() throws(VaultError) { try read { _ throws(VaultError) in } }
}

extension VaultFile {
    /// Opens the vault with class keys alone. Without the root key the header is judged by its mark only.
    ///
    /// - Parameter keepingOpen: for a vault that stays open and answers many questions.
    /// - Throws: ``VaultError/cannotUnlock`` for keys of another vault, or that do not open its levels;
    ///   ``VaultError/rekeyed`` for keys of another epoch; the errors of reading.
    package func open(with keys: ClassKeys, keepingOpen: KeepOpenOptions? = nil) throws(VaultError) -> Vault {
        guard keys.vault == id else { throw .cannotUnlock }
        guard keys.epoch == epoch else { throw .rekeyed }
        let vault = try open(root: nil, adding: keys.keys)
        if let keepingOpen { vault.state.keepOpen(keepingOpen) }
        do throws(VaultError) { try vault.check() } catch {
            // The level's state does not open: forged keys and a forged state look alike, and nothing was believed.
            throw error == .corrupt(.level) ? .cannotUnlock : error
        }
        return vault
    }

    /// Rises with a rekey.
    package var epoch: UInt32 { header.epoch }
}
