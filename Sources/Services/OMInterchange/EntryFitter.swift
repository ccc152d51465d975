// How an entry of another program becomes an item: its name, its fields' names, its tags. One body for all formats.

package import OMItems
internal import OMSecrets

/// An entry that fits into a vault.
package struct FittedItem: Sendable {
    package let name: ItemName
    /// The name without a number behind it, for further names.
    package let base: String
    /// The folders and the title as the file has them, with `/` between them.
    package let source: String
    /// The source below the import's prefix: the name, if a vault takes it as it is.
    package let wanted: String
    package var type: ItemType?
    package var tags: [ItemTag] = []
    package var expires: Int64?
    package var isTrashed = false
    package var fields: [Field] = []
    package var changes: [Change] = []
    package var losses: [ForeignLoss] = []

    package struct Field: Sendable {
        package let name: FieldName
        package let isShown: Bool
        /// With the value.
        package let field: ForeignField
    }

    /// What is other than in the file.
    package enum Change: Hashable, Sendable {
        /// The item's name is not the folders and the title.
        case name
        case field(from: String, to: FieldName)
        case tag(from: String, to: ItemTag)
        /// The entry has more fields than an item: this item has further ones.
        case further(ItemName)
    }
}

/// Gives each entry of a file a name of its own.
package struct EntryFitter {
    private let prefix: String
    private let fallback: String
    private let moreTags: [ItemTag]
    private var taken: Set<ItemName> = []
    /// The next number of each base that was given out.
    private var numbers: [String: Int] = [:]

    /// The most values above 1 MiB of an item. The vault takes 64, and some of the smaller ones may have to join them.
    private static let maximumLarge = 32
    /// The most bytes of the small values of an item, below the vault's limit for values in memory.
    private static let maximumSmall = 15 << 20

    /// - Parameters:
    ///   - prefix: Comes before each name: empty, or with `/` at its end.
    ///   - fallback: The name of an entry that has neither a title nor an address.
    ///   - tags: For each item, beside its own.
    package init(prefix: String, fallback: String, tags: [ItemTag]) {
        (self.prefix, self.fallback, moreTags) = (prefix, fallback, tags)
    }

    /// The item of an entry. An entry with more fields than an item can have gets several.
    package mutating func items(for entry: ForeignEntry) -> [FittedItem] {
        let title = entry.title.isEmpty ? Self.host(of: entry) ?? fallback : entry.title
        let folders = entry.isTrashed ? ["trash"] + entry.folders : entry.folders
        let source = (entry.folders + [entry.title]).joined(separator: "/")
        let base = Self.base(prefix + (folders + [title]).joined(separator: "/"), or: prefix + fallback)
        var (fields, renamed) = Self.fields(of: entry)
        var (tags, changes) = Self.tags(entry.tags, moreTags)
        changes += renamed
        let lostTags = tags.dropFirst(Item.maximumTags)
        tags = Array(tags.prefix(Item.maximumTags))
        // The trash's folder and the prefix are the user's own choice.
        let wanted = prefix + (entry.isTrashed ? "trash/" : "") + source
        var items: [FittedItem] = []
        repeat {
            let part = Self.prefixThatFits(fields)
            let name = freeName(base)
            var item = FittedItem(name: name, base: base, source: source, wanted: wanted)
            (item.tags, item.isTrashed, item.fields) = (tags, entry.isTrashed, Array(fields.prefix(part)))
            item.type = entry.type ?? Self.type(of: entry)
            if let expires = entry.expires {
                if expires > 0 { item.expires = expires } else { item.losses.append(.time("expires")) }
            }
            if name.text != wanted { item.changes.append(.name) }
            if items.isEmpty {
                item.changes += changes
                item.losses += entry.losses
                item.losses += lostTags.map { .member("tag \($0.text)") }
            }
            items.append(item)
            fields.removeFirst(part)
        } while !fields.isEmpty
        for further in items.dropFirst() { items[0].changes.append(.further(further.name)) }
        return items
    }

    /// The name, or the first one with a number behind it, that no earlier entry has.
    private mutating func freeName(_ base: String) -> ItemName {
        while true {
            let number = numbers[base, default: 1]
            numbers[base] = number + 1
            let name = Self.name(base, number)
            if taken.insert(name).inserted { return name }
        }
    }

    /// `base`, or `base (2)` for 2.
    package static func name(_ base: String, _ number: Int) -> ItemName {
        let suffix = number == 1 ? "" : " (\(number))"
        // A base has no control character and at least one byte, and it is cut to fit.
        return ItemName(checked: cut(base, to: 255 - suffix.utf8.count) + suffix)
    }

    // MARK: - Names

    /// A path that can be a name: without control characters, without empty parts at its ends.
    private static func base(_ path: String, or fallback: String) -> String {
        var text = plain(path)
        while text.hasSuffix("/") { text.removeLast() }
        while text.hasPrefix("/") { text.removeFirst() }
        text = text.trimmedBlanks
        if text.isEmpty { text = plain(fallback).trimmedBlanks }
        return text.isEmpty ? "entry" : cut(text, to: 255)
    }

    /// With a space in the place of each control character.
    private static func plain(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { plain.append(scalar.properties.generalCategory == .control ? " " : scalar) }
        return String(plain)
    }

    /// At most `count` bytes, without half a character.
    private static func cut(_ text: String, to count: Int) -> String {
        guard text.utf8.count > count else { return text }
        var cut = ""
        for character in text {
            guard cut.utf8.count + character.utf8.count <= count else { break }
            cut.append(character)
        }
        // One character alone can be longer.
        return cut.isEmpty ? "entry" : cut
    }

    /// The host of the first address.
    private static func host(of entry: ForeignEntry) -> String? {
        guard let url = entry.fields.first(where: { $0.role == .url && $0.value.count <= 4096 }) else { return nil }
        var text = ForeignText.string(url.value)[...]
        if let scheme = text.firstRange(of: "://") { text = text[scheme.upperBound...] }
        let host = text.prefix { !"/?#".contains($0) }
        let name = host.split(separator: "@").last.map(String.init) ?? ""
        return name.isEmpty ? nil : name
    }

    /// The type of an entry whose format knows none.
    private static func type(of entry: ForeignEntry) -> ItemType? {
        if entry.fields.contains(where: { $0.role == .username || $0.role == .password }) { return .login }
        return !entry.fields.isEmpty && entry.fields.allSatisfy({ $0.role == .notes }) ? .note : nil
    }

    // MARK: - Fields and tags

    private static func fields(of entry: ForeignEntry) -> ([FittedItem.Field], [FittedItem.Change]) {
        var (fields, changes, taken): ([FittedItem.Field], [FittedItem.Change], Set<FieldName>) = ([], [], [])
        // The standard names come first, so that a custom field never takes one of them.
        var (names, numbers): ([Int: FieldName], [String: Int]) = ([:], [:])
        for (index, field) in entry.fields.enumerated() {
            if let standard = field.role.standardName { names[index] = free(standard, &taken, &numbers) }
        }
        for (index, field) in entry.fields.enumerated() {
            // A part without a name and without a value says nothing.
            if field.value.count == 0, field.role != .other { continue }
            let name = names[index] ?? free(fieldName(field.name), &taken, &numbers)
            if names[index] == nil, name.text != field.name { changes.append(.field(from: field.name, to: name)) }
            let isShown =
                !field.isConcealed && field.role.canBeShown && field.value.withBytes { Item.Field.shownValue($0) != nil }
            fields.append(FittedItem.Field(name: name, isShown: isShown, field: field))
        }
        return (fields, changes)
    }

    /// The text as a field's name: `-` in the place of `:`, `/` and `=`.
    private static func fieldName(_ text: String) -> String {
        var name = plain(text).trimmedBlanks
        while let last = name.last, ":=/".contains(last) { name.removeLast() }
        name = String(name.map { ":/=".contains($0) ? "-" : $0 })
        return name.isEmpty ? "field" : cut(name, to: 64)
    }

    /// The name, or the first one with a number behind it, that is free: `url`, `url-2`.
    private static func free(
        _ name: String, _ taken: inout Set<FieldName>, _ numbers: inout [String: Int]
    ) -> FieldName {
        while true {
            let number = numbers[name, default: 1]
            numbers[name] = number + 1
            let suffix = number == 1 ? "" : "-\(number)"
            let free = FieldName(checked: cut(name, to: 64 - suffix.utf8.count) + suffix)
            if taken.insert(free).inserted { return free }
        }
    }

    /// How many of the fields one item takes.
    private static func prefixThatFits(_ fields: [FittedItem.Field]) -> Int {
        var (large, small, total) = (0, 0, 0)
        for (index, field) in fields.enumerated() {
            let count = field.field.value.count
            if count > Item.maximumWholeCount { large += 1 } else { small += count }
            total += count
            let fits =
                index < Item.maximumFields && large <= maximumLarge && small <= maximumSmall && total <= Item.maximumTotalCount
            if !fits { return max(index, 1) }
        }
        return fields.count
    }

    private static func tags(_ texts: [String], _ more: [ItemTag]) -> ([ItemTag], [FittedItem.Change]) {
        var (tags, changes): ([ItemTag], [FittedItem.Change]) = (more, [])
        for text in texts {
            let name = String(plain(text).map { $0 == "," ? " " : $0 }).trimmedBlanks
            guard !name.isEmpty else { continue }
            let tag = ItemTag(checked: cut(name, to: 64))
            if tag.text != text { changes.append(.tag(from: text, to: tag)) }
            if !tags.contains(tag) { tags.append(tag) }
        }
        return (tags, changes)
    }
}

extension ForeignField.Role {
    /// The name of a field for this. Nil for fields that have a name of their own.
    var standardName: String? {
        switch self {
        case .username, .password, .url, .notes, .email, .otp: rawValue
        case .attachment, .other: nil
        }
    }

    /// Whether a field for this can be shown at all. Notes mostly have secrets too.
    var canBeShown: Bool {
        switch self {
        case .username, .url, .email, .other: true
        case .password, .notes, .otp, .attachment: false
        }
    }
}
