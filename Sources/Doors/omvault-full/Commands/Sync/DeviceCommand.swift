internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSync

/// `omvault device`: the devices of a vault that syncs.
struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Manage the devices of a vault that syncs.",
        subcommands: [DeviceList.self, DeviceAdd.self, DeviceJoin.self, DeviceRemove.self, DeviceRejoin.self])
}

/// `omvault device ls`
struct DeviceList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the devices of the vault.",
        discussion: """
            As this device knows them. The number names a device's folder on a remote.

              omvault device ls
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let synced = try SyncedVault(context, unlock)
        let status = try synced.status()
        try context.output.list(
            "devices", status.members, columns: ["NUMBER", "NAME", "KIND", .time("ADDED"), Column("THIS")],
            head: ["vault": .text(synced.access.location.name)],
            row: { member in
                [
                    SyncStatus.digits(member.number), member.shownName, member.kindWord, context.output.time(member.added),
                    member.isThis ? "yes" : "no",
                ]
            },
            object: { member, entry in
                entry.field("number", .text(SyncStatus.digits(member.number)))
                entry.field("name", .text(member.shownName))
                entry.field("kind", .text(member.kindWord))
                entry.field("added", .text(Timestamp.text(member.added)))
                entry.field("this", .flag(member.isThis))
            })
    }
}

extension MemberStatus {
    fileprivate var kindWord: String {
        switch kind {
        case .device: "device"
        case .recovery: "recovery"
        }
    }
}
