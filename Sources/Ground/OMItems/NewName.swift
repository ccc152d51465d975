/// An item, and the name that the item or its copy gets.
public struct NewName: Hashable, Sendable {
    public let item: ItemName
    public let name: ItemName

    public init(_ item: ItemName, _ name: ItemName) { (self.item, self.name) = (item, name) }
}
