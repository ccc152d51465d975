package import OMSystem

/// The options of a vault that stays open.
package struct KeepOpenOptions: Sendable {
    let interruption: Interruption
    let budget: MemoryBudget

    /// - Parameters:
    ///   - interruption: Once it is asked, a wait for another process and a long read end with
    ///     ``VaultError/storage(_:)`` and ``StorageError/busy``. Then nothing was changed.
    ///   - budget: The memory budget for the records that the vault caches.
    package init(unless interruption: Interruption, budget: MemoryBudget) {
        (self.interruption, self.budget) = (interruption, budget)
    }
}
