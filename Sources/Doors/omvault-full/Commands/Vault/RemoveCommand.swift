internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMShell
internal import OMVault

/// `omvault rm`: moves items to the trash, or removes them with all their versions.
struct RemoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Move items to the trash, or remove them for good.",
        discussion: """
            An item in the trash keeps its versions, and 'omvault restore' brings it back. --purge removes an item with all its
            versions for good; it asks first.

              omvault rm github
              omvault rm github --purge
              omvault rm --trash --purge        # empties the trash
              omvault rm --purge --id 0f1e2d3c4b5a69788796a5b4c3d2e1f0
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions
    @OptionGroup var level: StoredLevelOptions

    @Argument(help: "The items.", completion: .items)
    var items: [String] = []

    @Flag(help: "Remove the items for good, with all versions.")
    var purge = false

    @Flag(help: "Purge items that are in the trash; without a name, all of them. Only with --purge.")
    var trash = false

    @Option(
        help: ArgumentHelp(
            "One item, by its id ('ls --fields id,name,level') or by the entry that 'verify' names. For a damaged item, or "
                + "one of two items of the same name. Only with --purge.", valueName: "id"))
    var id: String?

    @Option(help: ArgumentHelp("Remove it only if the item has this revision; otherwise exit 12.", valueName: "n"))
    var ifRev: UInt64?

    func validate() throws {
        if trash, !purge { throw ValidationError("an item in the trash can only be purged: give --purge too") }
        if id != nil, !purge { throw ValidationError("--id works only with --purge: give --purge too") }
        if id != nil, !items.isEmpty || trash || ifRev != nil {
            throw ValidationError("--id names one item, in the trash or not: give only --purge with it")
        }
        if id == nil, level.level != nil { throw ValidationError("--level works only with --id: give --id too") }
        if level.deviceOnly, level.level == nil {
            throw ValidationError("--device-only works only with --level: give --level too")
        }
        if items.isEmpty, !trash, id == nil { throw ValidationError("no item given") }
        if ifRev != nil, items.count != 1 || trash {
            throw ValidationError("--if-rev needs exactly one item, and works without --trash only")
        }
    }

    func run(_ context: CommandContext) throws {
        if let id { return try removeOne(id, context) }
        let names = try items.map { try ItemReference.wholeName($0) }
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        if purge { try confirm(names, access, context) }
        // One change removes all items or none.
        let reply =
            if trash {
                try access.perform(.purgeTrash(names.isEmpty ? nil : names))
            } else if purge {
                try access.perform(.purge(names, ifRevision: ifRev))
            } else {
                try access.perform(.trash(names, ifRevision: ifRev))
            }
        guard case .removed(let gone, let result) = consume reply else { throw Failure.unexpectedReply }
        let shown = gone.map { "\"\($0.name.text.shown)\"" }.joined(separator: ", ")
        try context.output.done(
            purge ? "removed \(gone.isEmpty ? "nothing" : shown)" : "moved \(shown) to the trash",
            [
                "result": .text(purge ? "removed" : "trashed"), "items": .list(gone.map { .text($0.name.text) }),
                "purged": .flag(purge && result != .pending),
            ])
        context.output.purged(result)
    }

    private func removeOne(_ text: String, _ context: CommandContext) throws {
        guard let id = Identifier.bytes(text) else {
            throw ValidationError("\"\(text.shown)\" is not an item's id; omvault ls --fields id,name,level lists the ids")
        }
        let level = try level.chosen()
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        let place = try place(id, level, access)
        try context.confirm("Remove \(place.words)\(place.item == nil ? "," : "") for good?")
        // Removes exactly the entry that the user confirmed, even if another one was added meanwhile.
        guard case .removed(let gone, let result) = try access.perform(.purgeID(place.entry, level: place.level)) else {
            throw Failure.unexpectedReply
        }
        let name = gone.first.map { "\"\($0.name.text.shown)\"" } ?? "an unreadable entry"
        try context.output.done(
            "removed \(name) (\(text))",
            [
                "result": .text("removed"), "id": .text(text), "items": .list(gone.map { .text($0.name.text) }),
                "purged": .flag(result != .pending),
            ])
        context.output.purged(result)
    }

    /// The only entry with this id.
    private func place(_ id: [UInt8], _ level: ProtectionLevel?, _ access: VaultAccess) throws(Failure) -> EntryReference {
        guard case .entries(let places) = try access.perform(.entries(id: id, level: level)) else {
            throw .unexpectedReply
        }
        if places.count == 1 { return places[0] }
        guard places.isEmpty else { throw Failure(VaultError.ambiguousID(places), vault: access.location.name) }
        let name = access.location.name.shown
        throw Failure(
            .notFound,
            "no item has the id \(Identifier.text(id)) in vault \"\(name)\"" + (level.map { " under \($0.words)" } ?? ""),
            hint: "omvault ls --fields id,name,level")
    }

    /// Looks the items up before the question, so that the user is not asked about items that do not exist.
    private func confirm(_ names: [ItemName], _ access: VaultAccess, _ context: CommandContext) throws(Failure) {
        if names.isEmpty {
            let count = try access.perform(.names(trashed: true)).names().names.count
            return try context.confirm("Remove everything in the trash for good (\(count.of("item")))?")
        }
        if trash {
            let there = Set(try access.perform(.names(trashed: true)).names().names)
            if let missing = names.first(where: { !there.contains($0) }) {
                throw Failure(VaultError.noItem(missing), vault: access.location.name)
            }
        } else {
            for name in names { _ = try access.perform(.item(name)) }
        }
        try context.confirm("Remove \(names.map { "\"\($0.text)\"" }.joined(separator: ", ")) for good?")
    }
}

/// `--level LEVEL [--device-only]` of an existing item.
struct StoredLevelOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The level of the item with that id. Only with --id.", valueName: "level"))
    var level: String?

    @Flag(help: "The item of that level that is bound to this device.")
    var deviceOnly = false

    /// Nil if no level was given.
    func chosen() throws(Failure) -> ProtectionLevel? {
        guard let level else { return nil }
        return try ProtectionLevel.parse(level, deviceOnly: deviceOnly)
    }
}
