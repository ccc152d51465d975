internal import ArgumentParser
internal import OMRecords
internal import OMSecrets
internal import OMSystem
internal import OMVault

/// `omvault backup`: a sealed copy of a vault in one file.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Take, check or restore a sealed copy of a vault.",
        discussion: """
            A backup is one file, sealed like the vault itself, and may be taken while the vault is in use. Where this
            device's key is lost, its recovery code or a key file opens it, and items added with --device-only are gone.
            """,
        subcommands: [BackupCreate.self, BackupVerify.self, BackupRestore.self])
}

struct BackupCreate: Verb {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Take a backup.",
        discussion: """
            All that is written is checked first. Refused when no recovery code or key file could open it elsewhere.

              omvault backup create /media/stick/vault.omvb
              omvault backup create --portable for-the-cloud.omvb
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The file, which must not be there yet.")
    var file: String

    @Flag(help: "Leave out whatever is bound to this device, names too.")
    var portable = false

    func run(_ door: Door) throws {
        let path = try BackupPlace(file)
        // Before anybody types a password.
        try path.refuseExisting()
        let access = try VaultAccess(door)
        let secrets = try SecretSources(door, unlock.sources)
        let vault = try access.open(secrets, unlock)
        let progress = Progress(total: nil, door)
        var draft: Int?
        let summary = try path.run(vault: access.place.name) { () throws(VaultError) in
            try vault.backUp(
                to: path.path, portable: portable, drafting: { draft = TemporaryPath.removeOnSignal($0) },
                progress: progress.add)
        }
        draft.map(TemporaryPath.forget)
        progress.end()
        try door.output.done(
            "backed up \(summary.itemCount.of("item")) of vault \"\(access.place.name.shown)\" to \(file.shown)",
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
            Reads all of it: formats, order, digests. A forgery that is whole is found by 'restore', which has its keys.

              omvault backup verify vault.omvb
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The backup.")
    var file: String

    func run(_ door: Door) throws {
        let summary = try BackupPlace(file).open(door).summary
        let slots = summary.slots.map { "\($0.kind.noun)" }
        guard door.output.format == .json else {
            return try door.output.rows(
                [
                    ["kind", summary.kind],
                    ["vault", Identifier.text(summary.vault)],
                    ["taken", Timestamp.text(summary.takenAt)],
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
        try door.output.document(document)
    }
}

/// A backup's path, and what goes wrong there.
struct BackupPlace {
    let path: String

    /// A backup is read twice and gets its name when it is whole, so it is a file.
    init(_ path: String) throws(Failure) {
        guard path != "-", !path.isEmpty else {
            throw Failure(.usage, "a backup is a file, not a stream", hint: "name a file, and copy that")
        }
        self.path = path
    }

    func refuseExisting() throws(Failure) {
        guard try run({ () throws(VaultError) in try VaultFile.exists(path) }) else { return }
        throw Failure(.exists, "\"\(path)\" is there already", hint: "name another file; a backup replaces none")
    }

    func open(_ door: Door) throws(Failure) -> BackupFile {
        let progress = Progress(total: try run { () throws(VaultError) in try BackupFile.count(path) }, door)
        defer { progress.end() }
        return try run { () throws(VaultError) in try BackupFile.open(path, progress: progress.add) }
    }

    /// - Parameter vault: whose name errors get that are about a vault and not about the backup.
    func run<R: ~Copyable>(
        vault: String? = nil, _ body: () throws(VaultError) -> R
    ) throws(Failure) -> R {
        do throws(VaultError) { return try body() } catch {
            switch error {
            case .storage(.missing): throw Failure(.io, "there is no file or folder \"\(path)\"")
            case .storage(.exists):
                throw Failure(.exists, "\"\(path)\" is there already", hint: "name another file; a backup replaces none")
            case .corrupt where vault == nil:
                throw Failure(
                    .corrupt, "\"\(path)\" is no backup of omvault's, is damaged, or was changed by somebody",
                    hint: "nothing of it was used; take another copy")
            case .rolledBack where vault == nil:
                throw Failure(
                    .rollback, "the backup is older than the last state of the vault that this device saw",
                    hint: "--accept-rollback restores it; every newer copy is refused from then on")
            default: throw Failure(error, vault: vault)
            }
        }
    }
}

/// A bar that a closure can move.
private final class Progress {
    private var bar: ByteProgress

    init(total: Int?, _ door: Door) { bar = ByteProgress(total: total, isQuiet: door.output.isQuiet) }

    func add(_ count: Int) { bar.add(count) }

    func end() { bar.end() }
}

extension BackupSummary {
    var kind: String { isPortable ? "portable" : "whole" }

    fileprivate var deviceOnlyItems: Int { items.filter { $0.key.isDeviceOnly }.map(\.value).reduce(0, +) }
}
