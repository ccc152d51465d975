// The commands that this program answers itself, for a vault that is unlocked in the agent: command-line.md has the list. The
// agent decides what is allowed. Everything else is left to omvault-full, which begins again: another option, an error, a
// locked vault, or a terminal that would show the answer.

internal import OMItems
internal import OMSecrets
internal import OMShell

enum QuickAnswer {
    /// - Returns: Whether it was answered. If not, nothing was printed and nothing was changed.
    /// - Throws: An error after the answer was begun.
    static func answer(to arguments: [String]) throws(Failure) -> Bool {
        if let version = VersionAnswer.answer(to: arguments) {
            try StandardOutput.write(version)
            return true
        }
        var words = arguments[...]
        let typed = takeVault(&words)
        let vault = typed ?? Environment.text("OMVAULT_VAULT")
        guard let verb = words.popFirst(), vault?.hasPrefix("-") != true,
            // A source that is no source is an error, and env:NAME has to be erased, whether it is needed or not.
            Environment.text("OMVAULT_FORMAT") == nil, Environment.text("OMVAULT_PASSWORD_FROM") == nil
        else { return false }
        // A token is in no vault.
        if verb == "token" { return typed == nil ? try QuickToken(words)?.run() ?? false : false }
        guard !words.contains(where: { $0.hasPrefix("-") && verb != "add" }) else { return false }
        switch verb {
        case "get" where words.count == 1: return try get(ItemReference(words[words.startIndex]), vault)
        case "ls" where words.count <= 1: return try list(words.first ?? "", vault)
        case "find" where !words.isEmpty: return try find(words, vault)
        case "add": return try QuickAdd(words)?.run(vault) ?? false
        default: return false
        }
    }

    private static func takeVault(_ words: inout ArraySlice<String>) -> String? {
        guard words.count > 2, words.first == "--vault" || words.first == "-V" else { return nil }
        words.removeFirst()
        return words.popFirst()
    }

    /// Prints one secret into a file or a pipe. At a terminal some secrets are refused, with words that are not here.
    private static func get(_ reference: ItemReference, _ vault: String?) throws(Failure) -> Bool {
        guard !StandardOutput.isTerminal, let item = try? ItemName(reference.item), let open = AgentVault(vault),
            let field = field(reference, of: item, in: open)
        else { return false }
        switch open.reply(to: .secret(FieldPath(item, field), revision: nil)) {
        case .secret(let secret):
            try StandardOutput.write(secret)
            return true
        default: return false
        }
    }

    /// The field that the reference names, or the item's main field.
    private static func field(_ reference: ItemReference, of item: ItemName, in vault: AgentVault) -> FieldName? {
        if let name = reference.field, !reference.meansMainField { return try? FieldName(name) }
        return switch vault.reply(to: .item(item)) {
        case .item(let item): MainField(of: item).name
        default: nil
        }
    }

    /// Prints the names that begin with a text.
    private static func list(_ start: String, _ vault: String?) throws(Failure) -> Bool {
        guard !StandardOutput.isTerminal, let open = AgentVault(vault) else { return false }
        switch open.reply(to: .names(trashed: false)) {
        case .names(let names, _): return try print(names.starting(with: Array(start.utf8)))
        default: return false
        }
    }

    /// Prints the names of the items that contain the words.
    private static func find(_ words: ArraySlice<String>, _ vault: String?) throws(Failure) -> Bool {
        var search = ItemSearch()
        for word in words where !search.add(word.utf8Span.span) { return false }
        guard !StandardOutput.isTerminal, let open = AgentVault(vault) else { return false }
        switch open.reply(to: .findNames(search, trashed: false)) {
        case .names(let names, unsearched: 0): return try print(names)
        default: return false
        }
    }

    /// Prints each name on a line, unless one of them has to be escaped, or is there twice.
    private static func print(_ names: ItemNames) throws(Failure) -> Bool {
        guard names.isSafeToShow, names.repeated.isEmpty else { return false }
        try StandardOutput.write(names.lines.span)
        return true
    }
}

extension ItemNames {
    fileprivate var isSafeToShow: Bool {
        isASCII || !String(decoding: lines, as: UTF8.self).unicodeScalars.contains { $0.isUnsafeToShow && $0 != "\n" }
    }
}
