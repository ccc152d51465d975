internal import ArgumentParser
internal import OMItems
internal import OMShell

/// `NAME=REFERENCE`: a value that a program gets under a name.
struct NamedReference: ExpressibleByArgument {
    let name: String
    private let text: String

    init?(argument: String) {
        guard let sign = argument.firstIndex(of: "=") else { return nil }
        (name, text) = (String(argument[..<sign]), String(argument[argument.index(after: sign)...]))
        guard !text.isEmpty else { return nil }
    }

    func reference() throws(Failure) -> ValueReference { try ValueReference(argument: text) }
}

extension ValueReference {
    /// `om://…`, or `ITEM[:FIELD]` in the vault of `--vault`.
    init(argument: String) throws(Failure) {
        guard !Self.isMeant(by: argument) else {
            self = try ValueReference(argument)
            return
        }
        let short = ItemReference(argument)
        let isMain = short.field == nil || short.meansMainField
        self.init(vault: nil, item: try short.itemName(), field: isMain ? nil : try short.path().field)
    }
}
