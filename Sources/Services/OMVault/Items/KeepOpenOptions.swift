package import OMSystem

/// What is agreed with a vault that stays open.
package struct KeepOpenOptions: Sendable {
    let interruption: Interruption
    let budget: MemoryBudget

    /// - Parameters:
    ///   - interruption: asked, it ends a wait for other processes and a long reading: ``VaultError/storage(_:)`` with
    ///     ``StorageError/busy``, and nothing was changed.
    ///   - budget: for the records that it remembers.
    package init(unless interruption: Interruption, budget: MemoryBudget) {
        (self.interruption, self.budget) = (interruption, budget)
    }
}
