package import OMItems
package import OMVault

/// What became of a recovery code that was typed.
package enum RecoverySlotResult {
    /// It opens this slot now.
    case made(KeySlot, PurgeResult?)
    case refused(RecoveryProblem)
}
