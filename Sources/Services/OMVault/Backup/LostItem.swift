public import OMItems
public import OMRecords

/// An item that a backup names and that cannot be restored here.
public struct LostItem: Hashable, Sendable {
    public let name: ItemName
    public let level: ProtectionLevel
    public let isTrashed: Bool
}
