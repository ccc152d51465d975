internal import ArgumentParser
internal import OMVault

/// `ITEM`, `ITEM:FIELD` or `ITEM:`, as it is typed. A name with a colon is quoted: `"https://a.example":password`.
struct ItemArgument: ExpressibleByArgument {
    static var defaultCompletionKind: CompletionKind { .items }

    let item: String
    let field: String?

    init(item: String, field: String?) { (self.item, self.field) = (item, field) }

    init(argument: String) {
        if let (name, rest) = Self.unquoted(argument) {
            item = name
            field = rest.isEmpty ? nil : String(rest.dropFirst())
        } else {
            let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            (item, field) = (parts[0], parts.count == 2 ? parts[1] : nil)
        }
    }

    /// An item for a command that takes no field.
    ///
    /// - Throws: ``ExitStatus/usage`` for a colon outside quotes. A user who types `rm github:token` means a field.
    static func wholeName(_ text: String) throws(Failure) -> ItemName {
        let argument = ItemArgument(argument: text)
        guard let field = argument.field else { return try argument.itemName() }
        throw Failure(
            .usage, "\"\(text.shown)\" names a field, and this command takes an item",
            hint: field.isEmpty || field.contains("/")
                ? "quote a name that has a colon: \(Self.quoted(text).inShellQuotes)"
                : "give \(argument.item.shown); a name that has a colon is quoted: \(Self.quoted(text).inShellQuotes)")
    }

    /// Whether it ends with the colon: the field is ``MainField``.
    var meansMainField: Bool { field == "" }

    func itemName() throws(Failure) -> ItemName {
        do throws(VaultError) { return try ItemName(item) } catch { throw Failure(error, itemName: item) }
    }

    // MARK: - Quotes

    /// The name in front, without its quotes, and the text behind them.
    ///
    /// - Returns: nil unless the text begins with a quoted name, and ends there or goes on with a colon.
    private static func unquoted(_ text: String) -> (name: String, rest: Substring)? {
        guard text.first == "\"" else { return nil }
        var name = ""
        var rest = text.dropFirst()
        while let end = rest.firstIndex(of: "\"") {
            name += rest[..<end]
            rest = rest[end...].dropFirst()
            guard rest.first == "\"" else { return rest.isEmpty || rest.first == ":" ? (name, rest) : nil }
            // Two quotes are one quote of the name.
            name += "\""
            rest = rest.dropFirst()
        }
        return nil
    }

    fileprivate static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// A reference in quotes if the parser would take it for an option, or a shell for a home folder.
    static func typeable(_ reference: String) -> String {
        reference.hasPrefix("-") || reference.hasPrefix("~") ? quoted(reference) : reference
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

extension ItemName {
    /// The name as a reference has it: quoted if it has a colon or begins with a quote.
    var asReference: String { hasColon || text.first == "\"" ? ItemArgument.quoted(text) : text }

    /// A reference to a field of the item, as one word of a shell's command line.
    func shellReference(to field: String) -> String { "\(asReference):\(field)".asShellWord }
}
