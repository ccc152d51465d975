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
    /// The titles of the entries in the file's trash, which are left out.
    let trashed: [String]

    /// - Parameters:
    ///   - fitter: Gives further names.
    ///   - trashed: The entries of the file's trash that are left out.
    /// - Throws: ``ExitStatus/exists`` with `refuse` if another item has one of the names.
    init(
        _ items: [FittedItem], _ existing: Existing, fitter: inout EntryFitter, trashed: [ForeignEntry], _ access: VaultAccess
    ) throws(Failure) {
        self.trashed = trashed.map { ($0.folders + [$0.title]).joined(separator: "/") }
        let present = Set(try access.perform(.names(trashed: false)).names().names)
        var others: [ItemName] = []
        for item in items {
            var (name, result) = (item.name, Result.imported)
            while present.contains(name) {
                if try StoredItem(name, access).isSame(as: item) {
                    result = .unchanged
                } else if existing == .rename {
                    name = fitter.nextName(of: item.base)
                    continue
                } else {
                    result = .skipped
                    others.append(name)
                }
                break
            }
            entries.append(Entry(item: item, name: name, result: result))
        }
        guard existing != .refuse || others.isEmpty else {
            let words = others.prefix(3).map { "\"\($0.text.shown)\"" }.joined(separator: ", ")
            throw Failure(
                .exists,
                "vault \"\(access.location.name.shown)\" has \(others.count.of("other item")) of the same name"
                    + (others.count == 1 ? ": " : "s: ") + words + (others.count > 3 ? ", …" : "") + "; nothing was imported",
                hint: "--existing rename adds them as \"NAME (2)\", and --existing skip leaves them out",
                "--into PATH puts all items below a name of their own",
                details: ["items": .list(others.map { .text($0.text) })])
        }
    }

    func count(_ result: Result) -> Int { entries.count { $0.result == result } }
}

/// An item of the vault, compared with an entry.
private struct StoredItem {
    private let access: VaultAccess
    private let name: ItemName

    init(_ name: ItemName, _ access: VaultAccess) { (self.name, self.access) = (name, access) }

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
