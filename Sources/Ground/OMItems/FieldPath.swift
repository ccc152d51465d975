/// One secret of one item.
public struct FieldPath: Hashable, Sendable {
    public let item: ItemName
    public let field: FieldName

    public init(_ item: ItemName, _ field: FieldName) { (self.item, self.field) = (item, field) }
}
