internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMVault

/// `omvault device remove`
struct DeviceRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove devices: they read nothing that is written from now on.",
        discussion: """
            Give each device by its name, or by its number. The other devices seal everything with new keys, and take nothing more
            from a removed device. It keeps what it had: no one can wipe it from here. So change the secrets that its owner must
            not use any more. Then the command exchanges with the remotes, so that the others hear of it.

              omvault device remove laptop
              omvault device remove 3f00a2b1 --yes
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The names or numbers of the devices.")
    var devices: [String]

    func run(_ context: CommandContext) throws {
        let synced = try SyncedVault(context, unlock)
        let status = try synced.status()
        let found = try devices.map { given throws(Failure) in try Self.member(given, of: status) }
        let names = found.map(\.shownName.shown).joined(separator: ", ")
        let vault = synced.access.location.name
        try context.confirm("Remove \(names) from the devices of vault \"\(vault.shown)\"?")
        // What the device wrote last is taken first. Behind its removal no other device vouches for it.
        _ = status.remotes.map { RemoteExchange(with: $0.row, of: synced.vault, synced.access) }
        let numbers = Set(found.map(\.number))
        try synced.access.run { () throws(VaultError) in try synced.vault.removeDevices(numbers, now: secondsNow()) }
        RemoteExchange.announceChange(to: status.remotes.map(\.row), of: synced.vault, synced.access)
        let items = try synced.access.run { () throws(VaultError) in try synced.vault.items() }
            .filter { !$0.level.isDeviceOnly }.map(\.name.text)
        try context.output.done(
            "removed \(names) from the devices of vault \"\(vault.shown)\"",
            [
                "result": .text("removed"), "devices": .list(found.map { .text($0.shownName) }),
                "items": .list(items.map { .text($0) }),
            ])
        guard context.output.format != .json else { return }
        context.output.notice("a removed device keeps the secrets that it had; change those of these items that it must not use:")
        for item in items { try context.output.line(item.shown) }
    }

    private static func member(_ given: String, of status: SyncStatus) throws(Failure) -> MemberStatus {
        let member = try status.member(given)
        guard !member.isThis else {
            throw Failure(.policy, "this device cannot remove itself", hint: "remove it from another device")
        }
        return member
    }
}
