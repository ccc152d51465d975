internal import OMItems
internal import OMShell
internal import OMVault

/// The field of an item that holds its one-time password, unless the user names another one.
struct OTPField {
    /// The names that other tools use too.
    static let names = ["otp", "totp", "otpauth"]

    private let item: Item

    init(of item: Item) { self.item = item }

    /// The only field with one of the names.
    ///
    /// - Throws: ``ExitStatus/notFound``; ``ExitStatus/ambiguous`` with the names of the fields.
    func required() throws(Failure) -> FieldName {
        let found = item.fields.map(\.name).filter { Self.names.contains($0.text) }
        let listed = "\(Self.names.dropLast().joined(separator: ", ")) or \(Self.names.last ?? "")"
        guard let first = found.first else {
            throw Failure(
                .notFound, "item \"\(item.name.text)\" has no field \(listed)",
                hint: "omvault set \(path(Self.names[0])) stores the text of the QR code, or the secret beside it",
                "for a field of another name: omvault otp \(path("FIELD"))")
        }
        guard found.count == 1 else {
            let names = found.map(\.text)
            throw Failure(
                .ambiguous,
                "item \"\(item.name.text)\" has \(names.count.of("field")) for one-time passwords: "
                    + names.joined(separator: ", "),
                hint: "name the field: omvault otp \(path(first.text))", details: ["fields": .list(names.map { .text($0) })])
        }
        return first
    }

    private func path(_ field: String) -> String { "\(item.name.text):\(field)".asShellWord }
}
