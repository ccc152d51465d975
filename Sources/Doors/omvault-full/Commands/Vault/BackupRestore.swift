internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMShell
internal import OMStorage
internal import OMSystem
internal import OMVault

/// `omvault backup restore`
struct BackupRestore: Verb {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a vault from a backup.",
        discussion: """
            Replaces nothing: no vault of that name may be there. From then on this device refuses every other copy of the vault,
            newer ones too. If this device has seen the vault before, give --replace-living. On another device, open the backup with a
            recovery code or a key file; it asks for a new password, and names the items that were bound to the old device.

              omvault backup restore vault.omvb
              omvault backup restore vault.omvb --into work --recovery-from tty
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The backup.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The new vault's name or path; that of --vault if not given.", valueName: "name"))
    var into: String?

    @Option(help: ArgumentHelp("On another device: where the new password comes from.", valueName: "source"))
    var newPasswordFrom: SecretSourceArgument?

    @Flag(help: "Restore, although the backup is older than the vault this device saw last.")
    var acceptRollback = false

    @Flag(help: "Restore, although this device knows the vault. The other copy is refused from now on.")
    var replaceLiving = false

    func validate() throws {
        if into != nil, global.vault != nil { throw ValidationError("give --into or --vault, not both") }
    }

    func run(_ context: CommandContext) throws {
        let folders = try context.userFolders()
        let access = try VaultAccess(context, vault: into)
        let path = try BackupPath(file)
        let secrets = try SecretSources(context, unlock.sources + [(key: "--new-password-from", value: newPasswordFrom)])
        guard try !VaultFile.exists(access.location.path) else {
            throw Failure(VaultError.vaultExists, vault: access.location.name)
        }
        let backup = try path.open(context)
        try refuseIfVaultIsHere(backup.summary.vault, folders)
        let isKnown = try path.run { () throws(VaultError) in try backup.isVaultKnown(access.device) }
        guard replaceLiving || !isKnown else { throw Failure(VaultError.vaultKnownHere, vault: nil) }
        let open = try unlocked(backup, at: path, access: access, secrets: secrets)
        let isFromThisDevice = try path.run { () throws(VaultError) in try backup.isFrom(access.device) }
        let password = isFromThisDevice ? nil : try newPassword(backup, access, secrets)
        let folder = try DeviceFolder.make(folders.device)
        if access.location.path.hasPrefix(folders.vaults + "/") { _ = try PrivateFolder.make(folders.vaults) }
        let report = try path.run { () throws(VaultError) in
            try open.restore(
                to: access.location.path, device: folder, password: password, acceptsRollback: acceptRollback,
                replacesLiving: replaceLiving)
        }
        try print(report, access.location, context)
    }

    private func unlocked(
        _ backup: BackupFile, at path: BackupPath, access: VaultAccess, secrets: borrowing SecretSources
    ) throws(Failure) -> UnlockedBackup {
        let slots = try TriedSlots(unlock, of: backup.slots, in: "the backup") { id in
            Failure(.notFound, "the backup has no slot \(id)", hint: "omvault backup verify \(file.shown)")
        }
        let first = slots.tried[0]
        let option = unlock.option(for: first) ?? first.kind.option
        let tries = SecretTries(first.kind, of: option, secrets, access.context, failure: path.failure)
        return try tries.run { isFirst throws(Failure) in
            try tries.awaitUse(isFirst) { () throws(VaultError) in try backup.checkUse(of: first, device: access.device) }
            let secret = try access.read(first, secrets, option: option)
            return try slots.naming { () throws(Failure) in
                do throws(VaultError) {
                    return try backup.unlock(anyOf: slots.tried, device: access.device) { slot throws(VaultError) in
                        try secret.key(for: slot)
                    }
                } catch {
                    throw error == .cannotUnlock
                        ? Failure(wrong: first.kind, vault: access.location.name, inBackup: true) : path.failure(error)
                }
            }
        }
    }

    private func newPassword(
        _ backup: BackupFile, _ access: VaultAccess, _ secrets: borrowing SecretSources
    ) throws(Failure) -> NewSlot {
        let password = try secrets.readNewPassword(
            "--new-password-from", prompt: "New password for vault \"\(access.location.name)\" on this device")
        return try access.run { () throws(VaultError) in
            try NewSlot(password: password, backup.policy.stretch)
        }
    }

    /// Attack, or accident: a backup is restored beside the vault itself. This device would refuse the original from then on.
    private func refuseIfVaultIsHere(_ id: [UInt8], _ folders: UserFolders) throws(Failure) {
        guard let names = try? PrivateFolder(folders.vaults).names() else { return }
        for name in names where name.hasSuffix(".omv") {
            let path = "\(folders.vaults)/\(name)"
            guard let other = try? VaultFile.open(path, device: nil), other.id == id else { continue }
            throw Failure(
                .exists, "the vault of this backup already exists, as \"\(name.dropLast(4))\"",
                hint: "move \(path) away first: after the restore this device would refuse it",
                "to look into the backup beside it: \(Failure.lookHint)")
        }
    }

    private func print(_ report: RestoreReport, _ location: VaultLocation, _ context: CommandContext) throws(Failure) {
        let lost = report.lost.sorted { $0.name.text < $1.name.text }
        let restored = report.summary.itemCount - lost.count
        if !lost.isEmpty {
            context.output.notice(
                "warning: \(lost.count.of("item")) bound to another device \(lost.count == 1 ? "is" : "are") lost:")
            for item in lost {
                context.output.notice("  \(item.name.text)\(item.isTrashed ? " (in the trash)" : "")")
            }
        }
        // Attack: an attacker has a leaked password that was changed since. It opens the vault of an older backup again.
        let revived = report.isLatestHere ? [] : report.summary.slots.filter { report.slots.contains($0) }
        if !revived.isEmpty {
            context.output.notice(
                "warning: these slots open the vault again as on \(context.output.time(report.summary.takenAt)), even if they were changed "
                    + "or removed since: " + revived.map { "slot \($0.id) (\($0.kind.noun))" }.joined(separator: ", "))
            context.output.notice("  to change or remove them again: omvault key passwd, omvault key rm-slot")
        }
        guard context.output.format == .json else {
            return context.output.notice("restored \(restored.of("item")) to vault \"\(location.name.shown)\"")
        }
        var document = JSONDocument()
        document.field("result", .text("restored"))
        document.field("vault", .text(location.name))
        document.field("path", .text(location.path))
        document.field("items", .number(restored))
        document.field("revived_slots", .list(revived.map { .number(Int($0.id)) }))
        document.objects("lost", lost) { item, member in
            member.field("name", .text(item.name.text))
            member.field("level", .text(item.level.name))
            member.field("trashed", .flag(item.isTrashed))
        }
        try context.output.document(document)
    }
}
