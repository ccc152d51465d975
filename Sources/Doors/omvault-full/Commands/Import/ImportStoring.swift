// The storing of an import: in one change of the vault, or in several if it is too large for one.

internal import OMInterchange
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

struct ImportStoring {
    let access: VaultAccess
    /// Nil for the vault's default.
    let level: ProtectionLevel?

    /// The most bytes of values and of their names in one change.
    private static let maximumCount = 8 << 20

    func store(_ plan: ImportPlan) throws(Failure) {
        let new = plan.entries.filter { $0.result == .imported }
        var line = ProgressLine(isQuiet: access.context.output.isQuiet)
        defer { line.end() }
        var (batch, size, done): ([NewItem], Int, Int) = ([], 0, 0)
        for entry in new {
            let count = entry.item.fields.reduce(0) { $0 + $1.field.value.count + $1.name.text.utf8.count }
            // A large value is a file of its own, which goes with a change of its item alone.
            let isAlone =
                entry.item.fields.contains { $0.field.value.count > Item.maximumWholeCount } || count > Self.maximumCount
            if !batch.isEmpty, isAlone || batch.count == NewItem.maximumAtOnce || size + count > Self.maximumCount {
                try add(&batch, &done, of: new.count)
                size = 0
            }
            guard isAlone else {
                batch.append(NewItem(entry.name, level: level, try change(entry)))
                size += count
                continue
            }
            try located(done, of: new.count) { () throws(Failure) in
                _ = try access.perform(.add(entry.name, level: level, try change(entry)))
            }
            done += 1
            line.show("\(ProgressLine.bar(done, of: new.count))  \(done) of \(new.count) items")
        }
        if !batch.isEmpty {
            line.show("storing \(batch.count.of("item"))")
            try add(&batch, &done, of: new.count)
        }
    }

    private func add(_ batch: inout [NewItem], _ done: inout Int, of total: Int) throws(Failure) {
        let items = batch
        try located(done, of: total) { () throws(Failure) in _ = try access.perform(.addAll(items)).items() }
        done += batch.count
        batch = []
    }

    /// An error says how much is stored.
    private func located(_ done: Int, of total: Int, _ body: () throws(Failure) -> Void) throws(Failure) {
        do throws(Failure) { try body() } catch {
            let words = done == 0 ? "nothing was imported" : "\(done) of \(total) items are imported"
            let more = done == 0 ? [] : ["the same command adds the rest"]
            throw Failure(
                error.status, "\(error.message); \(words)", hints: error.hints + more, details: error.details
            ).with(sdkCode: error.sdkCode)
        }
    }

    private func change(_ entry: ImportPlan.Entry) throws(Failure) -> ItemChange {
        var change = ItemChange()
        if let type = entry.item.type { change.type = .becomes(type) }
        if let expires = entry.item.expires { change.expires = .becomes(expires) }
        change.addedTags = entry.item.tags
        for field in entry.item.fields {
            if field.isShown { change.shown.append(field.name) }
            let value = field.field.value.duplicate()
            do throws(VaultError) {
                guard !change.set.hasRoom(for: value) else {
                    try change.set.put(value, at: field.name)
                    continue
                }
                var spool = try ValueSpool(besideVault: access.location.path)
                try value.withBytes { (bytes: Span<UInt8>) throws(VaultError) in try spool.append(bytes) }
                try change.set.put(try spool.finish(), at: field.name)
            } catch { throw Failure(error, vault: access.location.name) }
        }
        return change
    }
}
