internal import ArgumentParser
internal import OMItems
internal import OMVault

/// The type of a new item.
struct ItemTypeArgument: ExpressibleByArgument {
    static let allValueStrings = ItemType.allCases.map(\.rawValue)

    let type: ItemType

    init?(argument: String) {
        guard let type = ItemType(rawValue: argument) else { return nil }
        self.type = type
    }
}

/// A type, or `none`.
struct TypeUpdateArgument: ExpressibleByArgument {
    static let allValueStrings = ItemTypeArgument.allValueStrings + ["none"]

    let update: ItemChange.Update<ItemType>

    init?(argument: String) {
        if argument == "none" {
            update = .removed
        } else if let type = ItemType(rawValue: argument) {
            update = .becomes(type)
        } else {
            return nil
        }
    }
}
