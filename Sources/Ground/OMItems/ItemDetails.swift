/// An item's type, tags and expiry. They are sealed with its fields.
public struct ItemDetails: Hashable, Sendable {
    /// Nil for an item without a type.
    public var type: ItemType?
    /// In the order of their bytes, none twice.
    public package(set) var tags: [ItemTag] = []
    /// The time from which on the item is out of date, in seconds since 1970. Nil for never. It hides and deletes nothing.
    public var expires: Int64?

    public init() {}

    package init(type: ItemType?, tags: [ItemTag], expires: Int64?) {
        (self.type, self.tags, self.expires) = (type, tags, expires)
    }

    /// Adds and removes tags. A tag in both lists is added.
    package mutating func setTags(adding added: [ItemTag], removing removed: [ItemTag]) {
        tags = Set(tags.filter { !removed.contains($0) } + added).sorted()
    }

    /// - Throws: ``VaultError/tooLarge`` for too many tags; ``VaultError/invalidExpiry``.
    package func check() throws(VaultError) {
        guard tags.count <= Item.maximumTags else { throw .tooLarge }
        // 0 means "never" in the content.
        guard expires.map({ $0 > 0 }) ?? true else { throw .invalidExpiry }
    }
}
