package import OMItems

/// `ITEM`, `ITEM:FIELD` or `ITEM:`, as it is typed. A name with a colon is quoted: `"https://a.example":password`.
package struct ItemReference {
    package let item: String
    package let field: String?

    package init(item: String, field: String?) { (self.item, self.field) = (item, field) }

    package init(_ argument: String) {
        if let (name, rest) = Self.unquoted(argument) {
            item = name
            field = rest.isEmpty ? nil : String(rest.dropFirst())
        } else {
            let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            (item, field) = (parts[0], parts.count == 2 ? parts[1] : nil)
        }
    }

    /// Whether it ends with the colon: the field is ``MainField``.
    package var meansMainField: Bool { field == "" }

    /// The text, if it begins with `om://`. It can be no short reference: no field has a slash.
    package var uri: String? {
        guard item == "om", let field, field.hasPrefix("//") else { return nil }
        return "\(item):\(field)"
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

    package static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// A reference in quotes if the parser would take it for an option, or a shell for a home folder.
    package static func typeable(_ reference: String) -> String {
        reference.hasPrefix("-") || reference.hasPrefix("~") ? quoted(reference) : reference
    }
}

extension ItemName {
    /// The name as a reference has it: quoted if it has a colon or begins with a quote.
    package var asReference: String { hasColon || text.first == "\"" ? ItemReference.quoted(text) : text }

    /// A reference to a field of the item, as one word of a shell's command line.
    package func shellReference(to field: String) -> String { "\(asReference):\(field)".asShellWord }
}
