internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMRemote
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMVault

/// `omvault sync remote accept`
struct RemoteAccept: Verb {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Replace a remote that was lost or put back.",
        discussion: """
            If an older copy of a folder was put back, each device stops there (31), and puts nothing on top of it. On one device,
            --create makes a new remote in the folder, and this device writes there all that it has. On each other device this
            command then takes that remote. It shows who wrote there, and asks. What each device has is merged, as ever, and nothing
            is deleted in the folder. Versions that still wait here, or are held, are forgotten: the question says how many.

              omvault sync remote accept 1 --create
              omvault sync remote accept 1
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The remote's number, as 'omvault sync remote ls' shows it.")
    var remote: UInt8

    @Flag(help: "Make the new remote. One device does so.")
    var create = false

    @Option(help: ArgumentHelp("Which one, if the folder has several: the name of its folder omvault-sync-….", valueName: "name"))
    var name: String?

    func validate() throws {
        if create, name != nil { throw ValidationError("give --create or --name, not both") }
    }

    func run(_ context: CommandContext) throws {
        let synced = try SyncedVault(context, unlock)
        let status = try synced.status()
        let chosenRemote = try SyncedVault.chosen(remote, of: status)[0]
        let row = chosenRemote.row
        try synced.requireNoOtherLife(on: chosenRemote, status)
        // What has arrived is merged first: the other remote may never have it.
        _ = try synced.access.run { () throws(VaultError) in try synced.vault.applyArrived(now: secondsNow()) }
        let old = try SyncedVault.chosen(remote, of: try synced.status())[0]
        let loss = old.waiting == 0 ? "" : ", and \(old.waiting.of("version")) of it that wait here or are held"
        let forgetting = "Forget remote \(row.id) in \(row.path) on this device\(loss)"
        let place = try synced.place(of: row)
        let taken: RemoteFolderName
        if create {
            try context.confirm("\(forgetting), and make a new one there?")
            taken = RemoteFolderName(vault: status.vault, incarnation: Random.bytes(16))
            try place.make(taken, founding: status.roll.entries[0])
        } else {
            let other = try chosen(in: place, status)
            context.output.notice(other.writers(status, context.output))
            try context.confirm("\(forgetting), and use that one?")
            taken = other.name
        }
        let new = try synced.access.run { () throws(VaultError) in
            try synced.vault.replaceRemote(row.id, incarnation: taken.incarnation, now: secondsNow())
        }
        RemoteExchange.announceChange(to: [new], of: synced.vault, synced.access)
        synced.access.wakeSyncingAgent()
        try context.output.done(
            "remote \(new.id) is in \(new.path.shown)/\(taken.text) now",
            [
                "result": .text(create ? "created" : "accepted"), "remote": .number(Int(new.id)), "folder": .text(new.path),
                "name": .text(taken.text),
            ])
        context.output.notice(
            create
                ? "on each other device: omvault sync remote accept N, with the number that the remote has there"
                : "the files of the old remote can go when no device uses it any more")
    }

    private func chosen(in place: RemotePlace, _ status: SyncStatus) throws(Failure) -> OtherRemote {
        let all = try place.otherRemotes(status)
        let found = all.filter { name == nil || $0.name.text == name }
        guard let first = found.first else {
            throw Failure(
                .notFound,
                "\(place.words) has no other remote of this vault" + (name == nil ? "" : " of that name"),
                hint: "--create makes one; if another device made it, its files may not be there yet")
        }
        guard found.count == 1 else {
            throw Failure(
                .ambiguous, "\(place.words) has \(found.count) other remotes of this vault",
                hint: "choose one with --name",
                details: ["remotes": .list(found.map { .text($0.name.text) })]
            ).with(hints: ["choose one with --name:"] + found.map(\.name.text).sorted())
        }
        return first
    }
}
