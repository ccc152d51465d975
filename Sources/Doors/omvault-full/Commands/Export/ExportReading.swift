// The items of an export: which ones, with their values, and as a file.

internal import Glibc
internal import OMInterchange
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

struct ExportReading {
    /// What the command line names. All of it has to fit an item.
    struct Wanted {
        let paths: [String]
        let tags: [ItemTag]
        let type: ItemType?

        /// - Throws: ``ExitStatus/notFound`` if a path, or all of it together, fits no item.
        func items(of all: [Item], vault: String) throws(Failure) -> [Item] {
            if let path = paths.first(where: { path in !all.contains { Self.fits($0, path) } }) {
                throw Failure(
                    .notFound, "vault \"\(vault.shown)\" has no item \"\(path.shown)\", and none below it",
                    hint: "omvault ls lists the items")
            }
            return all.filter(contains)
        }

        private func contains(_ item: Item) -> Bool {
            (paths.isEmpty || paths.contains { Self.fits(item, $0) }) && tags.allSatisfy(item.details.tags.contains)
                && (type == nil || item.details.type == type)
        }

        /// `work` is the item of this name and those below `work/`. Names are compared as bytes.
        private static func fits(_ item: Item, _ path: String) -> Bool {
            let below = path.hasSuffix("/") ? path : path + "/"
            return item.name.text.utf8.elementsEqual(path.utf8) || item.name.text.utf8.starts(with: below.utf8)
        }
    }

    /// A file that was made, and what became of the items.
    struct Written: ~Copyable {
        let file: Content
        let items: [Note]

        enum Content: ~Copyable {
            case clear(SecretBytes)
            case encrypted([UInt8])
        }

        /// An item, and what the format changed or has no place for.
        struct Note {
            let name: ItemName
            var changes: [ForeignChange.Kind] = []
            var losses: [ForeignLoss] = []
        }
    }

    private let access: VaultAccess
    private let items: [Item]
    /// How many items are bound to this device, and left out.
    let leftOut: Int

    /// The most bytes of all values, as of a file that omvault imports.
    private static let maximumTotal = ForeignReader.maximumTotal

    /// - Throws: ``ExitStatus/notFound`` if a path, or all of it together, fits no item; ``ExitStatus/policy`` for items of
    ///   this device, and for more than an export can have.
    init(_ access: VaultAccess, _ wanted: Wanted, isPortable: Bool) throws(Failure) {
        self.access = access
        let all = try access.perform(.items(trashed: false)).items()
        let found = try wanted.items(of: all, vault: access.location.name)
        guard !found.isEmpty else {
            throw Failure(.notFound, "no item fits; nothing was written", hint: "omvault ls lists the items")
        }
        let bound = found.filter(\.level.isDeviceOnly)
        // Attack: the copy of an item that its owner bound to this device leaves with the others.
        guard bound.isEmpty || isPortable else {
            throw Failure(
                .policy, "\(bound.count.of("item")) \(bound.count == 1 ? "is" : "are") bound to this device; nothing was written",
                hint: "--portable leaves them out", details: ["items": .list(bound.map { .text($0.name.text) })])
        }
        items = found.filter { !$0.level.isDeviceOnly }
        leftOut = bound.count
        let total = items.reduce(0) { $0 + $1.fields.reduce(0) { $0 + $1.count } }
        guard total <= Self.maximumTotal else {
            throw Failure(
                .policy, "the values have \(total >> 20) MiB, and an export has at most \(Self.maximumTotal >> 20) MiB",
                hint: "export a part: name a PATH")
        }
    }

    func write(as format: ExportFormat, password: consuming SecretBytes?) throws(Failure) -> Written {
        guard format != .json else { return try lines() }
        let entries = try self.entries()
        var notes = items.map { Written.Note(name: $0.name) }
        switch format {
        case .csv:
            let writer = CSVWriter(entries)
            for (index, losses) in writer.losses.enumerated() { notes[index].losses = losses }
            return Written(file: .clear(writer.finish()), items: notes)
        case .bitwarden:
            for (index, entry) in entries.enumerated() { notes[index].losses = BitwardenDocument.losses(of: entry) }
            return Written(file: .clear(BitwardenDocument.document(entries).finish()), items: notes)
        default:
            let written: ForeignFile
            let key = ForeignKey(password: password)
            do throws(InterchangeError) { written = try KDBXWriter.write(entries, key: key, now: Int64(time(nil))) } catch {
                throw Failure(error)
            }
            for change in written.changes { notes[change.entry].changes.append(change.kind) }
            return Written(file: .encrypted(written.bytes), items: notes)
        }
    }

    /// omvault's own JSON: a line for each item, as `show --reveal --json` prints it.
    private func lines() throws(Failure) -> Written {
        var text = SecretBuffer(capacity: 1 << 16)
        var notes: [Written.Note] = []
        try forEachItem { (item, values) throws(Failure) in
            var document = JSONDocument(headOf: item)
            document.object("fields") { fields in values.forEach { field, secret in fields.secret(field.text, secret) } }
            text.append(document.finish())
            // A line of `add --from-jsonl` has values of at most 1 MiB.
            let losses = item.fields.filter(\.isLarge).map { ForeignLoss.attachment($0.name.text) }
            notes.append(Written.Note(name: item.name, losses: losses))
        }
        return Written(file: .clear(text.finish()), items: notes)
    }

    private func entries() throws(Failure) -> [ForeignEntry] {
        var entries: [ForeignEntry] = []
        try forEachItem { (item, values) throws(Failure) in
            var entry = ForeignEntry(of: item)
            for field in item.fields {
                let added: Void? = values.withSecret(field.name) { entry.add(field, $0.duplicate()) }
                if added == nil { entry.add(field, try large(field, of: item)) }
            }
            entries.append(entry)
        }
        return entries
    }

    private func forEachItem(_ body: (Item, borrowing FieldValues) throws(Failure) -> Void) throws(Failure) {
        var line = ProgressLine(isQuiet: access.context.output.isQuiet)
        defer { line.end() }
        for (index, item) in items.enumerated() {
            guard case .secrets(let item, let values) = try access.perform(.secrets(item.name, revision: nil)) else {
                throw .unexpectedReply
            }
            // Attack: the item became one of this device since the list was read.
            guard !item.level.isDeviceOnly else {
                throw Failure(.policy, "\"\(item.name.text.shown)\" is bound to this device now", hint: "run the command again")
            }
            try body(item, values)
            line.show("\(ProgressLine.bar(index + 1, of: items.count))  \(index + 1) of \(items.count) items")
        }
    }

    /// A value above 1 MiB, chunk by chunk.
    private func large(_ field: Item.Field, of item: Item) throws(Failure) -> SecretBytes {
        let path = FieldPath(item.name, field.name)
        switch try access.perform(.secret(path, revision: item.revision)) {
        case .secret(let secret): return secret
        case .large(let count, let revision, let digest):
            return try LargeValue(path: path, count: count, revision: revision, digest: digest).whole(from: access)
        default: throw .unexpectedReply
        }
    }
}
