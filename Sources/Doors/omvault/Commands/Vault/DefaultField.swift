internal import OMVault

/// The field that `ITEM:` means: `password`, or the item's only field.
struct DefaultField {
    private let item: Item
    /// Nil if the item has no field, or several and none of them is `password`.
    let name: FieldName?

    init(of item: Item) {
        self.item = item
        let names = item.fields.map(\.name)
        name = names.first { $0.text == "password" } ?? (names.count == 1 ? names[0] : nil)
    }

    /// - Throws: ``ExitStatus/ambiguous`` with the names of the fields; ``ExitStatus/notFound`` for an item without any.
    func required() throws(Failure) -> FieldName {
        if let name { return name }
        let names = item.fields.map(\.name.text)
        guard let first = names.first else {
            throw Failure(.notFound, "item \"\(item.name.text)\" has no field", hint: "omvault set \(path("FIELD")) adds one")
        }
        throw Failure(
            .ambiguous,
            "item \"\(item.name.text)\" has no field \"password\", but \(names.count.of("other field")): "
                + names.joined(separator: ", "),
            hint: "name the field: omvault get \(path(first))", details: ["fields": .list(names.map { .text($0) })])
    }

    /// What to type for a value of the item.
    var hint: String {
        guard let name else { return "omvault get \(path("FIELD")) prints a value" }
        return "omvault get \(path("")) prints the value of \(name.text)"
    }

    private func path(_ field: String) -> String { "\(item.name.text):\(field)".asShellWord }
}
