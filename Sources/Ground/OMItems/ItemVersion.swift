internal import OMSecrets

/// One version of an item, without its secrets.
public struct ItemVersion: Hashable, Sendable {
    public let revision: UInt64
    /// The time when it was written, in seconds since 1970.
    public let modified: Int64
    /// Whether the item was in the trash with this version.
    public let isTrashed: Bool
    public let details: ItemDetails
    public let fields: [Item.Field]

    package init(
        revision: UInt64, modified: Int64, isTrashed: Bool, details: ItemDetails = ItemDetails(), fields: [Item.Field]
    ) {
        (self.revision, self.modified, self.isTrashed) = (revision, modified, isTrashed)
        (self.details, self.fields) = (details, fields)
    }
}
