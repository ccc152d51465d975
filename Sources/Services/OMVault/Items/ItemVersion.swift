internal import OMSecrets

/// One version of an item, without its secrets.
public struct ItemVersion: Hashable, Sendable {
    public let revision: UInt64
    /// The time when it was written, in seconds since 1970.
    public let modified: Int64
    /// Whether the item was in the trash with this version.
    public let isTrashed: Bool
    public let fields: [Item.Field]

    package init(revision: UInt64, modified: Int64, isTrashed: Bool, fields: [Item.Field]) {
        (self.revision, self.modified, self.isTrashed, self.fields) = (revision, modified, isTrashed, fields)
    }
}
