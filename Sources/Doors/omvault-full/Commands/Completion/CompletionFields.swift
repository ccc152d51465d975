// What a shell offers on Tab for options about fields and tags: names, sources and columns.

internal import ArgumentParser
internal import OMItems
internal import OMShell

extension CompletionKind {
    /// `NAME=SOURCE`: the fields that such an item usually has, and behind `=` the sources.
    static var fieldWithSource: CompletionKind { .custom { words, _, typed in CompletionFields.withSources(words, typed) } }

    /// `NAME=SOURCE` of any name: the sources behind `=`.
    static var sourceOfField: CompletionKind { .custom { _, _, typed in CompletionFields.sources(typed) } }

    /// `NAME=TEXT`: the fields that such an item usually has.
    static var fieldBeforeText: CompletionKind {
        .custom { words, _, typed in typed.isEmpty ? CompletionFields.usual(words).map { $0 + "=" } : [] }
    }

    /// The fields that such an item usually has.
    static var usualFields: CompletionKind { .custom { words, _, _ in CompletionFields.usual(words) } }

    /// The fields of the items that the line names; if it names none, those of all items.
    static var fieldsOfItem: CompletionKind { .custom { words, _, _ in CompletionFields.ofItems(words) } }

    /// The tags in the vault.
    static var tags: CompletionKind { .custom { words, _, _ in CompletionFields.tags(words) } }

    /// `NAME=VALUE` of `--attr`: the shown fields in the vault, `type` and `tag`.
    static var conditions: CompletionKind { .custom { words, _, typed in CompletionFields.conditions(words, typed) } }

    /// Columns of the table of items, separated by commas.
    static var columns: CompletionKind {
        .custom { _, _, typed in CompletionFields.list(ItemColumn.allCases.map(\.rawValue), typed) }
    }

    /// Kinds of an audit's findings, separated by commas.
    static var findings: CompletionKind {
        .custom { _, _, typed in
            CompletionFields.list(AuditFinding.Kind.allCases.map(\.rawValue) + [AuditFinding.Kind.any], typed)
        }
    }

    /// `name` and the fields in the vault, separated by commas.
    static var places: CompletionKind {
        .custom { words, _, typed in CompletionFields.list(["name"] + CompletionFields.ofItems([], vault: words), typed) }
    }
}

/// `typed` is always what the value has up to its last `=` or comma. Each answer begins with it.
enum CompletionFields {
    static func withSources(_ words: [String], _ typed: String) -> [String] {
        typed.isEmpty ? usual(words).map { $0 + "=" } : sources(typed)
    }

    static func sources(_ typed: String) -> [String] {
        // A second `=` belongs to a source, such as a file's name.
        typed.firstIndex(of: "=") == typed.indices.last ? SecretSourceArgument.beginnings.map { typed + $0 } : []
    }

    /// The usual fields of the line's `--type`, or those of all types.
    static func usual(_ words: [String]) -> [String] {
        let given = zip(words, words.dropFirst()).filter { $0.0 == "--type" }.compactMap { ItemType(rawValue: $0.1) }
        let types = given.isEmpty ? ItemType.allCases : given
        return Set(types.flatMap { $0.usualFields }).sorted()
    }

    static func ofItems(_ words: [String], vault: [String]? = nil) -> [String] {
        let all = items(vault ?? words)
        let named = all.filter { words.contains($0.name.text) || words.contains($0.name.asReference) }
        return CompletionNames.offered((named.isEmpty ? all : named).flatMap(\.fields).map(\.name.text))
    }

    static func tags(_ words: [String]) -> [String] {
        CompletionNames.offered(items(words).flatMap(\.details.tags).map(\.text))
    }

    static func conditions(_ words: [String], _ typed: String) -> [String] {
        switch typed {
        case "":
            let shown = items(words).flatMap(\.fields).filter { $0.shownValue != nil }.map(\.name.text)
            return CompletionNames.offered((["type", "tag"] + shown).map { $0 + "=" })
        case "type=": return ItemType.allCases.map { typed + $0.rawValue }
        case "tag=": return tags(words).map { typed + $0 }
        default: return []
        }
    }

    /// A list behind whose last comma one of the words goes. Each word is in it once.
    static func list(_ words: [String], _ typed: String) -> [String] {
        let used = typed.split(separator: ",").map(String.init)
        return words.filter { !used.contains($0) }.map { typed + $0 }
    }

    private static func items(_ words: [String]) -> [Item] {
        switch CompletionNames.reply(to: .items(trashed: false), words) {
        case .some(let reply): (try? reply.items()) ?? []
        case .none: []
        }
    }
}
