internal import OMItems
internal import OMShell

extension MainField {
    /// - Throws: ``ExitStatus/usage`` for a type without a main field; ``ExitStatus/ambiguous`` for several concealed
    ///   fields, with their names; ``ExitStatus/notFound`` if the item has none.
    func required() throws(Failure) -> FieldName {
        if let name { return name }
        let quoted = "item \"\(item.name.text)\""
        guard !item.fields.isEmpty else {
            throw Failure(.notFound, "\(quoted) has no field", hint: "omvault set \(path("FIELD")) adds one")
        }
        guard hasMainField else {
            throw listing(
                item.fields.map(\.name),
                Failure(
                    .usage, "\(quoted) is of type \(item.details.type?.rawValue ?? ""), which has no main field",
                    hint: "name the field: omvault get \(path(item.fields[0].name.text))"))
        }
        guard let first = concealed.first else {
            throw Failure(.notFound, "\(quoted) has only shown fields", hint: "omvault show \(item.name.text.asShellWord)")
        }
        throw listing(
            concealed,
            Failure(
                .ambiguous,
                "\(quoted) has no field \"\(item.details.type?.mainField ?? "password")\", but "
                    + concealed.count.of("other concealed field"),
                hint: "name the field: omvault get \(path(first.text))"))
    }

    /// What to type for a value of the item.
    var hint: String {
        guard let name else { return "omvault get \(path("FIELD")) prints a value" }
        return "omvault get \(item.name.asReference.asShellWord) prints the value of \(name.text)"
    }

    private func path(_ field: String) -> String { item.name.shellReference(to: field) }

    private func listing(_ fields: [FieldName], _ failure: Failure) -> Failure {
        let names = fields.map(\.text)
        return Failure(
            failure.status, failure.message + ": " + names.joined(separator: ", "), hints: failure.hints,
            details: ["fields": .list(names.map { .text($0) })])
    }
}
