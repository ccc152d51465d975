internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMShell
internal import OMVault

/// `omvault backup`: a sealed copy of a vault in one file.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Take, check or restore a sealed copy of a vault.",
        discussion: """
            A backup is one file, sealed like the vault, and you can take it while the vault is in use. If this device's key is
            lost, the recovery code or a key file opens the backup; items added with --device-only are lost then.
            """,
        subcommands: [BackupCreate.self, BackupVerify.self, BackupRestore.self])
}

struct BackupCreate: Verb {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Take a backup.",
        discussion: """
            Checks everything that it copies. Refuses (13) if no recovery code or key file could open the backup elsewhere.

              omvault backup create /media/stick/vault.omvb
              omvault backup create --portable for-the-cloud.omvb
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The file, which must not be there yet.", completion: .file())
    var file: String

    @Flag(help: "Leave out the items that are bound to this device, and their names.")
    var portable = false

    func run(_ context: CommandContext) throws {
        let path = try BackupPath(file)
        // Checked before the user types a password.
        try path.refuseExisting()
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        let vault = try access.open(secrets, unlock)
        let progress = Progress(total: nil, context)
        var draft: Int?
        let summary = try path.run(vault: access.location.name, isNew: true) { () throws(VaultError) in
            try vault.backUp(
                to: path.path, portable: portable, drafting: { draft = TemporaryPath.removeOnSignal($0) },
                progress: progress.add)
        }
        draft.map(TemporaryPath.release)
        progress.end()
        try context.output.done(
            "backed up \(summary.itemCount.of("item")) of vault \"\(access.location.name.shown)\" to \(file.shown)",
            [
                "result": .text("backed_up"), "file": .text(file), "kind": .text(summary.kind),
                "items": .number(summary.itemCount), "older_versions": .number(summary.olderVersions),
            ])
    }
}

struct BackupVerify: Verb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Find damage in a backup, without a password.",
        discussion: """
            Reads all of it: formats, order and digests. A whole forgery is found by 'omvault backup restore', which has the keys.

              omvault backup verify vault.omvb
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The backup.", completion: .file())
    var file: String

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let summary = try BackupPath(file).open(context).summary
        let slots = summary.slots.map { "\($0.kind.noun)" }
        guard context.output.format == .json else {
            return try context.output.rows(
                [
                    ["kind", summary.kind],
                    ["vault", Identifier.text(summary.vault)],
                    ["taken", context.output.time(summary.takenAt)],
                    ["items", "\(summary.itemCount)"],
                    ["device-only items", "\(summary.deviceOnlyItems)"],
                    ["older versions", "\(summary.olderVersions)"],
                    ["opens with", slots.joined(separator: ", ")],
                ], header: ["FIELD", "VALUE"])
        }
        var document = JSONDocument()
        document.field("result", .text("whole"))
        document.field("kind", .text(summary.kind))
        document.field("vault", .text(Identifier.text(summary.vault)))
        document.field("taken", .text(Timestamp.text(summary.takenAt)))
        document.field("items", .number(summary.itemCount))
        document.field("device_only_items", .number(summary.deviceOnlyItems))
        document.field("older_versions", .number(summary.olderVersions))
        document.field("slots", .list(slots.map { .text($0) }))
        try context.output.document(document)
    }
}

extension BackupSummary {
    var kind: String { isPortable ? "portable" : "whole" }

    fileprivate var deviceOnlyItems: Int { items.filter { $0.key.isDeviceOnly }.map(\.value).reduce(0, +) }
}
