public import OMRecords

/// An item's entry in the vault: its level and its key.
public struct EntryReference: Hashable, Sendable {
    public let level: ProtectionLevel
    /// The key of its entry: 16 bytes. No other entry of the level has it.
    public let entry: [UInt8]
    /// Nil if it cannot be read.
    public let item: Item?

    package init(level: ProtectionLevel, entry: [UInt8], item: Item?) {
        precondition(entry.count == 16, "an entry's key has 16 bytes")
        (self.level, self.entry, self.item) = (level, entry, item)
    }
}
