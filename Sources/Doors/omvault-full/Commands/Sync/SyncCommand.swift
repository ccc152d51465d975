internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMSyncKeys
internal import OMVault

/// `omvault sync`: the same vault on several devices.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Keep a vault the same on several devices.",
        discussion: """
            A remote is a folder that all devices of one person can reach: on a stick, on a share, or kept equal by a tool. Or it is
            on a server, where the person has an account. Only sealed versions of items are there. Items that are bound to this device, passwords and logins never leave it.
            """,
        subcommands: [SyncInit.self, SyncRemote.self, SyncNow.self, SyncStatusCommand.self, SyncDiff.self, SyncResolve.self])
}

/// `omvault sync init`
struct SyncInit: Verb {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Let a vault sync.",
        discussion: """
            This device is then the only one of the vault. Nothing leaves it until a remote is added. An older omvault does not open
            a vault that syncs.

            Give the recovery code of the vault too, with --code-from or at a terminal. If all devices are lost, the code and a
            remote are then enough: 'omvault device join --recovery'. Without it, a remote opens for the devices only.

              omvault sync init
              omvault sync init --device laptop --code-from file:code
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("This device's name for the others; that of the machine if not given.", valueName: "name"))
    var device: String?

    @Option(help: ArgumentHelp("Where the vault's recovery code comes from.", valueName: "source"))
    var codeFrom: SecretSourceArgument?

    func run(_ context: CommandContext) throws {
        let name = try DeviceNameOption.name(device)
        let secrets = try SecretSources(context, unlock.sources + [(key: "--code-from", value: codeFrom)])
        let access = try VaultAccess(context)
        let unlocked = try access.openSlot(secrets, unlock)
        let code = try RollCode.read(unlocked.secret, of: access, secrets, wasGiven: codeFrom != nil)
        let hasCode = code != nil
        let synced = SyncedVault(access, unlocked.intoVault())
        let vault = synced.access.location.name
        let recovery: RecoveryMember? =
            switch code {
            case .some(let code): RecoveryMember(code.secret, vault: synced.vault.id)
            case .none: nil
            }
        do throws(VaultError) { try synced.vault.foundSync(named: name, recovery: recovery, now: secondsNow()) } catch {
            guard error == .unchanged else { throw synced.access.failure(error) }
            throw Failure(.unchanged, "vault \"\(vault.shown)\" syncs already", hint: "omvault sync status shows its remotes")
        }
        let own = try synced.status().own.device
        try context.output.done(
            "vault \"\(vault.shown)\" can sync; this device is \"\(name.text.shown)\"",
            [
                "result": .text("founded"), "vault": .text(vault), "device": .text(name.text),
                "number": .text(SyncStatus.digits(own)), "recovery": .flag(hasCode),
            ])
        if !hasCode {
            context.output.notice(
                "the remotes have no recovery code; omvault key add-slot --type recovery makes one")
        }
        context.output.notice("nothing leaves this device until you add a remote: omvault sync remote add FOLDER|URL --create")
    }
}
