// What an import does with each entry: add it, or leave it out because of an item of its name.

internal import OMInterchange
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

struct ImportPlan {
    /// What `--existing` says.
    enum Existing: String, CaseIterable { case refuse, skip, rename }

    enum Result: String {
        case imported
        /// The same item is there already.
        case unchanged
        /// Another item of its name is there.
        case skipped
        /// It is in the file's trash.
        case trashed
    }

    struct Entry {
        let item: FittedItem
        let name: ItemName
        let result: Result
    }

    private(set) var entries: [Entry] = []
    /// The names of the items, by the fitter's names, where they differ.
    private(set) var names: [ItemName: ItemName] = [:]
    /// The titles of the entries in the file's trash, which are left out.
    let trashed: [String]
    /// The items that have the name of an entry and are not the same, unless entries are skipped or renamed.
    private var others: [ItemName] = []

    /// Items that are there already are found first, under each number of their name. So an entry whose place in the file has
    /// changed is not added a second time, and does not make another entry look like a changed one.
    ///
    /// - Parameter trashed: The entries of the file's trash that are left out.
    init(
        _ items: [FittedItem], _ existing: Existing, trashed: [ForeignEntry], _ access: VaultAccess
    ) throws(Failure) {
        self.trashed = trashed.map { ($0.folders + [$0.title]).joined(separator: "/") }
        var stored = StoredItems(try access.perform(.names(trashed: false)).names().names, access)
        var same: [ItemName?] = []
        var line = ProgressLine(isQuiet: access.context.output.isQuiet)
        defer { line.end() }
        for item in items {
            same.append(try stored.takeSame(as: item))
            line.show("\(same.count) of \(items.count) compared with the vault")
        }
        var (used, numbers): (Set<ItemName>, [String: Int]) = ([], [:])
        for (item, same) in zip(items, same) {
            var (found, result) = (same, Result.unchanged)
            while found == nil {
                let number = numbers[item.base, default: 1]
                numbers[item.base] = number + 1
                let name = EntryFitter.name(item.base, number)
                guard !used.contains(name), !stored.taken.contains(name) else { continue }
                let isOther = stored.present.contains(name)
                if isOther, existing == .rename { continue }
                if isOther, existing == .refuse { others.append(name) }
                result = isOther ? .skipped : .imported
                used.insert(name)
                found = name
            }
            let name = found ?? item.name
            if name != item.name { names[item.name] = name }
            entries.append(Entry(item: item, name: name, result: result))
        }
    }

    /// Why nothing can be imported: ``ExitStatus/exists`` with `refuse` if another item has one of the names.
    func refusal(_ access: VaultAccess) -> Failure? {
        guard !others.isEmpty else { return nil }
        let words = others.prefix(3).map { "\"\($0.text.shown)\"" }.joined(separator: ", ")
        return Failure(
            .exists,
            "vault \"\(access.location.name.shown)\" has \(others.count.of("other item")) of the same name"
                + (others.count == 1 ? ": " : "s: ") + words + (others.count > 3 ? ", …" : "") + "; nothing was imported",
            hint: "--existing rename adds them as \"NAME (2)\", and --existing skip leaves them out",
            "--into PATH puts all items below a name of their own",
            details: ["items": .list(others.map { .text($0.text) })])
    }

    func count(_ result: Result) -> Int { entries.count { $0.result == result } }
}

/// The items of the vault, found by what is in them.
private struct StoredItems {
    /// A name without the number behind it, and how many digits the number has: 0 without one.
    private struct Stem: Hashable {
        let text: String
        let digits: Int

        init(_ name: ItemName) {
            let text = name.text
            guard text.hasSuffix(")"), let start = text.lastIndex(of: "("), start > text.startIndex else {
                (self.text, digits) = (text, 0)
                return
            }
            let number = text[text.index(after: start)...].dropLast(), before = text[..<start]
            guard before.hasSuffix(" "), (1...6).contains(number.utf8.count), number.allSatisfy({ ("0"..."9").contains($0) })
            else {
                (self.text, digits) = (text, 0)
                return
            }
            (self.text, digits) = (String(before), number.utf8.count)
        }
    }

    let present: Set<ItemName>
    /// The names of those that an entry is the same as.
    private(set) var taken: Set<ItemName> = []
    private let access: VaultAccess
    /// The names that can be the numbered ones of another name.
    private let numbered: [Stem: [ItemName]]
    /// For each base that an entry had: the names of its items by what is in them, the first one last.
    private var known: [String: [Int: [ItemName]]] = [:]

    init(_ names: [ItemName], _ access: VaultAccess) {
        (present, self.access) = (Set(names), access)
        numbered = Dictionary(grouping: names) { Stem($0) }
    }

    /// The name of the first item that is the same and has the entry's name, with a number or without. Each is given out once.
    mutating func takeSame(as fitted: FittedItem) throws(Failure) -> ItemName? {
        if known[fitted.base] == nil { known[fitted.base] = try items(of: fitted.base) }
        guard known[fitted.base]?.isEmpty == false else { return nil }
        let key = StoredItem.fingerprint(of: fitted)
        var others: [ItemName] = []
        defer { known[fitted.base]?[key, default: []] += others.reversed() }
        while let name = known[fitted.base]?[key]?.popLast() {
            guard !taken.contains(name) else { continue }
            guard try StoredItem(name, access).isSame(as: fitted) else {
                others.append(name)
                continue
            }
            taken.insert(name)
            return name
        }
        return nil
    }

    private func items(of base: String) throws(Failure) -> [Int: [ItemName]] {
        let plain = EntryFitter.name(base, 1)
        var names = present.contains(plain) ? [plain] : []
        // A long base is cut, the more the longer its number is.
        for number in [2, 10, 100, 1000, 10_000, 100_000] {
            let more = numbered[Stem(EntryFitter.name(base, number))] ?? []
            names += more.sorted { $0.text < $1.text }.filter { $0 != plain }
        }
        var items: [Int: [ItemName]] = [:]
        for name in names.reversed() { items[try StoredItem(name, access).fingerprint(), default: []].append(name) }
        return items
    }
}

/// An item of the vault, compared with an entry.
private struct StoredItem {
    private let access: VaultAccess
    private let name: ItemName

    init(_ name: ItemName, _ access: VaultAccess) { (self.name, self.access) = (name, access) }

    /// A number that is the same for the same content, in this process.
    func fingerprint() throws(Failure) -> Int {
        guard case .secrets(let item, let values) = try access.perform(.secrets(name, revision: nil)) else {
            throw .unexpectedReply
        }
        let isSmall = item.fields.reduce(0) { $0 + $1.count } <= Item.maximumWholeCount
        var fields = 0
        for field in item.fields {
            var hasher = Self.hasher(field.name, field.count, isShown: field.shownValue != nil)
            if isSmall, !field.isLarge { _ = values.withSecret(field.name) { Self.add($0, to: &hasher) } }
            fields &+= hasher.finalize()
        }
        return Self.fingerprint(item.details.type, item.details.tags, item.details.expires, fields: fields)
    }

    static func fingerprint(of fitted: FittedItem) -> Int {
        let isSmall = fitted.fields.reduce(0) { $0 + $1.field.value.count } <= Item.maximumWholeCount
        var fields = 0
        for field in fitted.fields {
            var hasher = hasher(field.name, field.field.value.count, isShown: field.isShown)
            if isSmall { add(field.field.value, to: &hasher) }
            fields &+= hasher.finalize()
        }
        return fingerprint(fitted.type, fitted.tags, fitted.expires, fields: fields)
    }

    private static func hasher(_ name: FieldName, _ count: Int, isShown: Bool) -> Hasher {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(count)
        hasher.combine(isShown)
        return hasher
    }

    private static func add(_ value: borrowing SecretBytes, to hasher: inout Hasher) {
        value.withBytes { bytes in for index in bytes.indices { hasher.combine(bytes[index]) } }
    }

    private static func fingerprint(_ type: ItemType?, _ tags: [ItemTag], _ expires: Int64?, fields: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(Set(tags))
        hasher.combine(expires)
        hasher.combine(fields)
        return hasher.finalize()
    }

    func isSame(as fitted: FittedItem) throws(Failure) -> Bool {
        guard case .secrets(let item, let values) = try access.perform(.secrets(name, revision: nil)) else {
            throw .unexpectedReply
        }
        guard item.details.type == fitted.type, Set(item.details.tags) == Set(fitted.tags),
            item.details.expires == fitted.expires, item.fields.count == fitted.fields.count
        else { return false }
        for field in fitted.fields {
            guard let stored = item.fields.first(where: { $0.name == field.name }),
                stored.count == field.field.value.count, (stored.shownValue != nil) == field.isShown
            else { return false }
            let isSame =
                try stored.isLarge
                ? isLargeSame(field) : values.withSecret(field.name) { $0.isEqual(to: field.field.value) } ?? false
            guard isSame else { return false }
        }
        return true
    }

    /// Compares a large value chunk by chunk.
    private func isLargeSame(_ field: FittedItem.Field) throws(Failure) -> Bool {
        let path = FieldPath(name, field.name)
        guard case .large(let count, let revision, let digest) = try access.perform(.secret(path, revision: nil)) else {
            // A conflict copy has another value.
            return false
        }
        for index in 0..<(count + Vault.chunkCount - 1) / Vault.chunkCount {
            let chunk = try access.perform(.chunk(index, of: path, revision: revision, digest: digest)).secret()
            let start = index * Vault.chunkCount
            let same = field.field.value.withBytes { bytes in
                start + chunk.count <= bytes.count
                    && SecretBytes(copying: bytes.extracting(start..<start + chunk.count)).isEqual(to: chunk)
            }
            guard same else { return false }
        }
        return true
    }
}
