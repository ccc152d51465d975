internal import ArgumentParser
internal import OMRecords
internal import OMSecrets
internal import OMStorage
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
            "backed up \(summary.itemCount) items of vault \"\(access.place.name.shown)\" to \(file.shown)",
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

struct BackupRestore: Verb {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a vault of a backup.",
        discussion: """
            The vault must not be there. From here on this device refuses every other copy of it, newer ones too; where it
            has seen the vault, wherever that stands, --replace-living says that it is gone or may be refused. On another device than the backup's it opens with a recovery code or a key file, asks for a new password,
            and names the items that were bound to the other device.

              omvault backup restore vault.omvb
              omvault backup restore vault.omvb --into work --recovery-from tty
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The backup.")
    var file: String

    @Option(help: ArgumentHelp("The vault's name, or a path; default: that of --vault.", valueName: "name"))
    var into: String?

    @Option(help: ArgumentHelp("On another device: where the new password comes from.", valueName: "source"))
    var newPasswordFrom: SecretSourceArgument?

    @Flag(help: "Restore although the backup is older than what this device saw last.")
    var acceptRollback = false

    @Flag(help: "Restore although this device knows the vault: the other copy is gone, or may be refused from now on.")
    var replaceLiving = false

    func validate() throws {
        if into != nil, global.vault != nil { throw ValidationError("the vault is named twice") }
    }

    func run(_ door: Door) throws {
        let home = try door.home()
        let access = try VaultAccess(door, vault: into)
        let path = try BackupPlace(file)
        let secrets = try SecretSources(door, unlock.sources + [(key: "--new-password-from", value: newPasswordFrom)])
        guard try !VaultFile.exists(access.place.path) else {
            throw Failure(VaultError.vaultExists, vault: access.place.name)
        }
        let backup = try path.open(door)
        try refuseTwins(backup.summary.vault, home)
        let lives = try path.run { () throws(VaultError) in try backup.livesHere(access.device) }
        guard replaceLiving || !lives else { throw Failure(VaultError.livesHere, vault: nil) }
        let open = try unlocked(backup, path, access, secrets)
        let isHome = try path.run { () throws(VaultError) in try backup.isFrom(access.device) }
        let password = isHome ? nil : try newPassword(backup, access, secrets)
        let folder = try DeviceFolder.make(home.device)
        if access.place.path.hasPrefix(home.vaults + "/") { _ = try PrivateFolder.make(home.vaults) }
        let report = try path.run { () throws(VaultError) in
            try open.restore(
                to: access.place.path, device: folder, password: password, acceptsRollback: acceptRollback,
                replacesLiving: replaceLiving)
        }
        try tell(report, access.place, door)
    }

    private func unlocked(
        _ backup: BackupFile, _ path: BackupPlace, _ access: VaultAccess, _ secrets: borrowing SecretSources
    ) throws(Failure) -> OpenBackup {
        let slots = try candidates(backup)
        try path.run { () throws(VaultError) in try backup.checkUse(of: slots[0], device: access.device) }
        let secret = try access.read(slots[0], secrets, option: unlock.given.first?.key)
        return try path.run { () throws(VaultError) in
            // Only those that are not charged for are more than one.
            for slot in slots.dropLast() {
                do throws(VaultError) {
                    return try backup.unlock(slot, with: try secret.key(for: slot), device: access.device)
                } catch {
                    guard error == .cannotUnlock else { throw error }
                }
            }
            let last = slots[slots.count - 1]
            return try backup.unlock(last, with: try secret.key(for: last), device: access.device)
        }
    }

    private func candidates(_ backup: BackupFile) throws(Failure) -> [KeySlot] {
        if let id = unlock.keyslot {
            guard let slot = backup.slots.first(where: { $0.id == id }) else {
                throw Failure(.notFound, "the backup has no slot \(id)", hint: "omvault backup verify \(file.shown)")
            }
            return [slot]
        }
        let kind: KeySlot.Kind =
            unlock.recoveryFrom != nil ? .recovery : unlock.keyFileFrom != nil ? .keyFile : .password
        let slots = backup.slots.filter { $0.kind == kind }
        guard !slots.isEmpty else {
            let others = Set(backup.slots.map(\.kind.option)).sorted().joined(separator: " or ")
            throw Failure(.badSecret, "the backup has no \(kind.noun)", hint: "unlock it with \(others)")
        }
        return kind == .password ? [slots[0]] : slots
    }

    private func newPassword(
        _ backup: BackupFile, _ access: VaultAccess, _ secrets: borrowing SecretSources
    ) throws(Failure) -> NewSlot {
        let password = try secrets.readPassword(
            "--new-password-from", prompt: "New password for vault \"\(access.place.name)\" on this device", isNew: true)
        return try access.run { () throws(VaultError) in
            try NewSlot(password: password, backup.policy.stretch)
        }
    }

    /// Restoring beside the vault itself would make this device refuse that one from now on.
    private func refuseTwins(_ id: [UInt8], _ home: Home) throws(Failure) {
        guard let names = try? PrivateFolder(home.vaults).names() else { return }
        for name in names where name.hasSuffix(".omv") {
            let path = "\(home.vaults)/\(name)"
            guard let twin = try? VaultFile.open(path, device: nil), twin.id == id else { continue }
            throw Failure(
                .exists, "the vault of this backup is there already, as \"\(name.dropLast(4))\"",
                hint: "move \(path) away first: what is restored takes its place on this device, and it would be refused")
        }
    }

    private func tell(_ report: RestoreReport, _ place: VaultPlace, _ door: Door) throws(Failure) {
        let lost = report.lost.sorted { $0.name.text < $1.name.text }
        let restored = report.summary.itemCount - lost.count
        if !lost.isEmpty {
            door.output.notice("warning: \(lost.count) items were bound to another device and are lost:")
            for item in lost {
                door.output.notice("  \(item.name.text)\(item.isTrashed ? " (in the trash)" : "")")
            }
        }
        // Attack: a password that was changed because somebody knew it opens what is restored from before.
        let revived = report.isLatestHere ? [] : report.summary.slots.filter { report.slots.contains($0) }
        if !revived.isEmpty {
            door.output.notice(
                "warning: what opened the vault on \(Timestamp.text(report.summary.takenAt)) opens it again, also what was changed or "
                    + "removed since: " + revived.map { "slot \($0.id) (\($0.kind.noun))" }.joined(separator: ", "))
            door.output.notice("  change it again: omvault key passwd, omvault key rm-slot")
        }
        guard door.output.format == .json else {
            return door.output.notice("restored \(restored) items to vault \"\(place.name.shown)\"")
        }
        var document = JSONDocument()
        document.field("result", .text("restored"))
        document.field("vault", .text(place.name))
        document.field("path", .text(place.path))
        document.field("items", .number(restored))
        document.field("revived_slots", .list(revived.map { .number(Int($0.id)) }))
        document.objects("lost", lost) { item, member in
            member.field("name", .text(item.name.text))
            member.field("level", .text(item.level.name))
            member.field("trashed", .flag(item.isTrashed))
        }
        try door.output.document(document)
    }
}

/// A backup's path, and what goes wrong there.
private struct BackupPlace {
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
    fileprivate var kind: String { isPortable ? "portable" : "whole" }

    fileprivate var deviceOnlyItems: Int { items.filter { $0.key.isDeviceOnly }.map(\.value).reduce(0, +) }
}
