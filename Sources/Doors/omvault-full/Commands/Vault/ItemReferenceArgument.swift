internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

extension ItemReference: ExpressibleByArgument {
    static var defaultCompletionKind: CompletionKind { .items }

    init(argument: String) { self.init(argument) }

    /// An item for a command that takes no field.
    ///
    /// - Throws: ``ExitStatus/usage`` for a colon outside quotes. A user who types `rm github:token` means a field.
    static func wholeName(_ text: String) throws(Failure) -> ItemName {
        let argument = ItemReference(argument: text)
        guard let field = argument.field else { return try argument.itemName() }
        throw Failure(
            .usage, "\"\(text.shown)\" names a field, and this command takes an item",
            hint: field.isEmpty || field.contains("/")
                ? "quote a name that has a colon: \(Self.quoted(text).inShellQuotes)"
                : "give \(argument.item.shown); a name that has a colon is quoted: \(Self.quoted(text).inShellQuotes)")
    }

    func itemName() throws(Failure) -> ItemName {
        do throws(VaultError) { return try ItemName(item) } catch { throw Failure(error, itemName: item) }
    }

    /// - Throws: ``ExitStatus/usage`` if no field was given.
    func path() throws(Failure) -> FieldPath {
        guard let field else {
            throw Failure(
                .usage, "no field given for \"\(item.shown)\"", hint: "write \(item.shown):FIELD, such as \(item.shown):password")
        }
        let item = try itemName()
        do throws(VaultError) { return FieldPath(item, try FieldName(field)) } catch {
            throw Failure(error, fieldName: field)
        }
    }
}
