public import OMRecords
internal import OMSecrets

/// An item that is added together with others: ``ItemRequest/addAll(_:)``.
public final class NewItem: Sendable {
    /// The most items that are added together.
    public static let maximumAtOnce = 20_000

    public let name: ItemName
    /// Nil for the vault's default.
    public let level: ProtectionLevel?
    /// What the item has.
    public let change: ItemChange

    public init(_ name: ItemName, level: ProtectionLevel?, _ change: consuming ItemChange) {
        (self.name, self.level) = (name, level)
        self.change = change
    }
}
