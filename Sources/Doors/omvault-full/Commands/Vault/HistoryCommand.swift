internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault history`: the versions of an item.
struct HistoryCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List the versions of an item.",
        discussion: """
            Lists the newest version first, without secrets; 'omvault get --rev' prints one. If there is no such item, looks in the
            trash.

            --diff says what differs between two versions: '5' compares version 5 with the version before, and '2..5' compares
            version 2 with 5. A concealed value is never printed: it has changed, or it is the same.

              omvault history github
              omvault get github:password --rev 3
              omvault history github --diff 5
              omvault history github --diff 2..5 --json
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The item.", completion: .items)
    var item: String

    @Option(help: ArgumentHelp("Show the fields of one version, concealed.", valueName: "rev"))
    var show: UInt64?

    @Option(
        help: ArgumentHelp(
            "Say what differs between a version and the version before, or between two versions.", valueName: "rev|old..new"))
    var diff: RevisionsArgument?

    @Flag(help: "Read the vault this time, although this device saw a newer state of it.")
    var acceptRollback = false

    var printsRows: Bool { true }

    func validate() throws {
        if show != nil, diff != nil { throw ValidationError("give --show or --diff, not both") }
    }

    func run(_ context: CommandContext) throws {
        let name = try ItemReference.wholeName(item)
        let access = try VaultAccess(context, acceptsRollback: acceptRollback)
        let secrets = try SecretSources(context, unlock.sources)
        guard case .versions(let all) = try access.read(.history(name), secrets, unlock) else {
            throw Failure.unexpectedReply
        }
        if let diff {
            let old = try diff.old ?? previous(of: diff.new, in: all, name, access)
            let compared = try access.readMore(.compare(name, old: old, new: diff.new))
            guard case .compared(let before, let after, let changed) = compared else {
                throw Failure.unexpectedReply
            }
            let differences = HistoryDifference.all(from: before, to: after, changed: changed)
            return try context.output.list(differences, of: name, old, diff.new)
        }
        let versions = all.filter { show == nil || $0.revision == show }
        if let show, versions.isEmpty {
            throw Failure(VaultError.noRevision(show, of: name), vault: access.location.name)
        }
        guard let version = versions.first, show != nil, context.output.format != .json else {
            return try list(versions, of: name, context.output)
        }
        let head = [
            ["revision", "\(version.revision)"], ["modified", context.output.time(version.modified)], ["state", state(version)],
        ]
        try context.output.rows(
            head + version.fields.map { [$0.name.text, "(concealed)"] }, header: ["FIELD", "VALUE"])
    }

    /// The version before this one, if both are kept.
    private func previous(
        of revision: UInt64, in versions: [ItemVersion], _ name: ItemName, _ access: VaultAccess
    ) throws(Failure) -> UInt64 {
        guard versions.contains(where: { $0.revision == revision }) else {
            throw Failure(VaultError.noRevision(revision, of: name), vault: access.location.name)
        }
        guard let previous = versions.map(\.revision).filter({ $0 < revision }).max() else {
            throw Failure(
                .usage, "revision \(revision) is the oldest that \"\(name.text.shown)\" has: no version is before it",
                hint: "omvault history \(name.asReference.asShellWord)")
        }
        return previous
    }

    private func list(_ versions: [ItemVersion], of name: ItemName, _ output: Output) throws(Failure) {
        try output.list(
            "versions", versions, columns: ["REVISION", .time("MODIFIED"), "STATE", "FIELDS"], head: ["item": .text(name.text)],
            row: { version in
                [
                    "\(version.revision)", output.time(version.modified), state(version),
                    version.fields.map(\.name.text).joined(separator: ","),
                ]
            },
            object: { version, entry in
                entry.field("revision", .number(Int(clamping: version.revision)))
                entry.field("modified", .text(Timestamp.text(version.modified)))
                entry.field("state", .text(state(version)))
                entry.object("fields") { fields in
                    for field in version.fields { fields.concealed(field.name.text, count: field.count) }
                }
            })
    }

    private func state(_ version: ItemVersion) -> String { version.isTrashed ? "trash" : "live" }
}
