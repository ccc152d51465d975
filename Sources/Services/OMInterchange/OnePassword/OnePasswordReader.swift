// 1Password's own export, 1PUX: a ZIP file with `export.data` in JSON and the attached files. docs/reference/import.md.

internal import OMItems
internal import OMJSON
internal import OMSecrets

/// An export while its items are read.
final class OnePasswordReader {
    private let archive: ZipArchive
    private let data: SecretBytes
    /// The names of the attached files, by what comes before `__` in them.
    private let names: [Substring: String]
    /// The attached files that an item has.
    private var used: Set<String> = []
    private var losses: [ForeignLoss] = []
    private var count = 0

    /// - Throws: ``InterchangeError/unsupported(_:remedy:)`` for a ZIP file of another program.
    init(_ bytes: borrowing SecretBytes) throws(InterchangeError) {
        let archive = try ZipArchive(bytes.duplicate(), atMost: ForeignReader.maximumTotal)
        guard archive.has("export.data") else {
            throw archive.has("export.attributes")
                ? .damaged("export.data is missing in it")
                : .unsupported("a ZIP file that is no 1PUX export", remedy: "unpack it, and import a file in it")
        }
        data = try archive.read("export.data", atMost: ForeignReader.maximumCount)
        self.archive = archive
        var names: [Substring: String] = [:]
        for name in archive.names {
            guard let end = name.firstRange(of: "__"), names[name[..<end.lowerBound]] == nil else { continue }
            names[name[..<end.lowerBound]] = name
        }
        self.names = names
    }

    func read(_ take: (ForeignEntry) throws(InterchangeError) -> Void) throws(InterchangeError) -> ForeignSummary {
        try data.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in try read(bytes, take) }
        for name in archive.names where !used.contains(name) && name != "export.data" && name != "export.attributes" {
            losses.append(.attachment(name))
        }
        return ForeignSummary(losses: losses)
    }

    /// The accounts, and the vaults in them. With several accounts or vaults their names are the items' folders.
    private func read(
        _ bytes: Span<UInt8>, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) {
        let start = ForeignText.markCount(bytes)
        let top = try members(start..<bytes.count, bytes)
        guard let list = top["accounts"] else { throw .damaged("export.data has no accounts") }
        losses += top.keys.filter { $0 != "accounts" }.sorted().map { .member($0) }
        let accounts = try elements(list, bytes)
        for account in accounts {
            let parts = try members(account, bytes)
            let attributes = try value(parts["attrs"], bytes)
            note(attributes, but: ["accountName", "name", "email", "uuid", "domain"], of: "account", bytes)
            losses += parts.keys.filter { $0 != "attrs" && $0 != "vaults" }.sorted().map { .member("\($0) of an account") }
            let name = name(attributes, ["accountName", "name", "email"], bytes)
            let vaults = try parts["vaults"].map { (range) throws(InterchangeError) in try elements(range, bytes) } ?? []
            for vault in vaults {
                try read(
                    vault: vault, of: accounts.count > 1 ? name : nil, isOnly: vaults.count == 1 && accounts.count == 1, bytes,
                    take)
            }
        }
    }

    /// - Parameters:
    ///   - account: Nil if the file has one account.
    ///   - isOnly: Whether the file has no other vault.
    private func read(
        vault range: Range<Int>, of account: String?, isOnly: Bool, _ bytes: Span<UInt8>,
        _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) {
        let parts = try members(range, bytes)
        let attributes = try value(parts["attrs"], bytes)
        note(attributes, but: ["uuid", "name", "type"], of: "vault", bytes)
        losses += parts.keys.filter { $0 != "attrs" && $0 != "items" }.sorted().map { .member("\($0) of a vault") }
        let name = name(attributes, ["name"], bytes)
        guard let items = parts["items"] else { return }
        for item in try elements(items, bytes) {
            count += 1
            guard count <= ForeignReader.maximumEntries else { throw .tooMuch("entries") }
            guard let value = try value(item, bytes) else { continue }
            var read = OnePasswordItem(value["item"] ?? value, bytes)
            if !isOnly { read.entry.folders = (account.map { [$0] } ?? []) + [name] }
            if let file = value["file"], !file.isNothing { read.add(file: file, "", bytes) }
            for (place, attachment) in read.attachments { try attach(attachment, place, to: &read.entry) }
            try take(read.entry)
        }
    }

    private func attach(
        _ file: OnePasswordFile, _ index: Int, to entry: inout ForeignEntry
    ) throws(InterchangeError) {
        let byPath = file.path.isEmpty ? [] : [file.path, "files/\(file.path)"]
        let byID = file.id.isEmpty ? [] : ["files/\(file.id)__\(file.name)", "files/\(file.id)"]
        let found =
            (byPath.filter { $0.hasPrefix("files/") } + byID).first { archive.has($0) }
            ?? (file.id.isEmpty ? nil : names["files/\(file.id)"])
        guard let found, let size = archive.size(of: found), size <= Item.maximumFieldCount else {
            entry.losses.append(.attachment(file.name))
            return
        }
        used.insert(found)
        let content = try archive.read(found, atMost: Item.maximumFieldCount)
        entry.fields.insert(ForeignField(file.name, .attachment, isConcealed: true, content), at: index)
    }

    // MARK: - Parts of the JSON

    private func members(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(InterchangeError) -> [String: Range<Int>] {
        try BitwardenReader.reading { () throws(MalformedJSON) in try JSONTokenizer.members(of: range, in: bytes) }
    }

    private func elements(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(InterchangeError) -> [Range<Int>] {
        try BitwardenReader.reading { () throws(MalformedJSON) in
            var tokens = JSONTokenizer(range)
            var elements: [Range<Int>] = []
            guard try tokens.token(in: bytes) == .list else { return [] }
            while let element = try tokens.nextElement(in: bytes) { elements.append(element) }
            return elements
        }
    }

    private func value(_ range: Range<Int>?, _ bytes: Span<UInt8>) throws(InterchangeError) -> JSONRanges? {
        guard let range else { return nil }
        return try BitwardenReader.reading { () throws(MalformedJSON) in try JSONRanges(of: range, in: bytes) }
    }

    private func name(_ attributes: JSONRanges?, _ members: [String], _ bytes: Span<UInt8>) -> String {
        for member in members {
            if let name = attributes?[member]?.text(in: bytes), !name.isEmpty { return name }
        }
        return ""
    }

    /// Tells what an account or a vault has beside its items.
    private func note(_ attributes: JSONRanges?, but known: Set<String>, of what: String, _ bytes: Span<UInt8>) {
        for (name, value) in attributes?.members ?? [] where !known.contains(name) && !value.isNothing {
            guard name == "avatar" else {
                losses.append(.member("\(name == "desc" ? "description" : name) of a \(what)"))
                continue
            }
            if let picture = value.text(in: bytes) { used.insert("files/\(picture)") }
            losses.append(.unneeded("picture of a \(what)"))
        }
    }
}
