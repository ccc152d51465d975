/// What a restore has done.
public struct RestoreReport: Sendable {
    public let summary: BackupSummary
    /// Whether the backup was taken on this device, so that its password still opens the vault.
    public let isFromThisDevice: Bool
    /// Whether its slots are the very ones that this device noted last. Otherwise some may have been changed or removed
    /// since the backup was taken, and open the vault again now.
    public let isLatestHere: Bool
    /// Items that were bound to another device, or left behind with it.
    public let lost: [LostItem]
    public let slots: [KeySlot]
}
