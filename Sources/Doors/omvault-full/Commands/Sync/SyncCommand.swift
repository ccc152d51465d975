internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMVault

/// `omvault sync`: the same vault on several devices.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Keep a vault the same on several devices.",
        discussion: """
            A remote is a folder that all devices of one person can reach: on a stick, on a share, or kept equal by a tool. Only
            sealed versions of items are there. Items that are bound to this device, passwords and logins never leave it.
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

              omvault sync init
              omvault sync init --device laptop
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("This device's name for the others; that of the machine if not given.", valueName: "name"))
    var device: String?

    func run(_ context: CommandContext) throws {
        let name = try DeviceNameOption.name(device)
        let synced = try SyncedVault(context, unlock)
        let vault = synced.access.location.name
        do throws(VaultError) { try synced.vault.foundSync(named: name, now: secondsNow()) } catch {
            guard error == .unchanged else { throw synced.access.failure(error) }
            throw Failure(.unchanged, "vault \"\(vault.shown)\" syncs already", hint: "omvault sync status shows its remotes")
        }
        let own = try synced.status().own.device
        try context.output.done(
            "vault \"\(vault.shown)\" can sync; this device is \"\(name.text.shown)\"",
            [
                "result": .text("founded"), "vault": .text(vault), "device": .text(name.text),
                "number": .text(SyncStatus.digits(own)),
            ])
        context.output.notice("nothing leaves this device until you add a remote: omvault sync remote add FOLDER --create")
    }
}
