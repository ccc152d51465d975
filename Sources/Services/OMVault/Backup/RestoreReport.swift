/// The result of a restore.
public struct RestoreReport: Sendable {
    public let summary: BackupSummary
    /// Whether the backup was taken on this device, so that its password still opens the vault.
    public let isFromThisDevice: Bool
    /// Whether the slots are exactly the ones that this device noted last. Otherwise some may have been changed or
    /// removed since the backup was taken. Those open the vault again now.
    public let isLatestHere: Bool
    /// Device-only items of another device. They were not restored.
    public let lost: [LostItem]
    public let slots: [KeySlot]
}
