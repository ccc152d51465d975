internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMRemote
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMSystem
internal import OMVault

/// `omvault sync remote`
struct SyncRemote: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote",
        abstract: "Add, list, forget and replace the folders and servers that a vault syncs over.",
        subcommands: [RemoteAdd.self, SyncRemoteList.self, RemoteRemove.self, RemoteAccept.self])
}

/// `omvault sync remote add`
struct RemoteAdd: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a folder or a server to sync over.",
        discussion: """
            With --create it makes a new remote in the folder, or on the server. Without it, it takes the remote that another device
            of this vault made there. If there are several, give the path of one folder omvault-sync-…, or its name behind the
            server's address.

            At a server, --user names the account. Its password is asked for once, and opens nothing of the vault. If the server
            later does not take the login of this device any more, the same command without --create logs in again.

              omvault sync remote add /media/stick --create
              omvault sync remote add ~/Shared
              omvault sync remote add https://vault.example.org --user ann --create
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(
        help: ArgumentHelp("The folder, which must be there; or a server: https://HOST[:PORT][/PATH].", valueName: "folder|url"),
        completion: .directory)
    var place: String

    @Flag(help: "Make a new remote there.")
    var create = false

    @OptionGroup var account: ServerLoginOptions

    func run(_ context: CommandContext) throws {
        let secrets = try SecretSources(context, unlock.sources + account.sources)
        let given = try RemotePlace(given: place)
        let synced = try SyncedVault(context, unlock, secrets)
        let status = try synced.status()
        let founding = try synced.access.run { () throws(VaultError) in try synced.vault.roll() }.entries[0]
        let before = try synced.login(at: given, status)
        let place = try account.logIn(at: given, secrets, device: try status.ownName(), before: before)
        let logins = try status.remotes.map { (row: $0.row, login: try synced.login(of: $0.row)) }
        let (row, remote) = try place.endingLogin(ifFails: { try add(place, to: synced, status, founding: founding, context) })
        // The login that this remote had before, perhaps at another server. Another remote may use one of its own there.
        if let old = logins.first(where: { $0.row.incarnation == row.incarnation }), let login = old.login {
            _ = RemotePlace(of: old.row).logOut(login)
        }
        let isRenewed = status.remotes.contains { $0.row.incarnation == row.incarnation && $0.row.path == row.path }
        try context.output.done(
            isRenewed
                ? "remote \(row.id) has another login at \(row.path.shown)"
                : "remote \(row.id) is \(row.url == nil ? "in" : "on") \(row.path.shown)",
            [
                "result": .text(create ? "created" : isRenewed ? "renewed" : "added"), "remote": .number(Int(row.id)),
                "folder": .text(row.path),
                "name": .text(remote.text),
            ])
        synced.access.wakeSyncingAgent()
        context.output.notice("omvault sync now exchanges with it")
    }

    /// Makes or finds the remote, and adds it to those of the vault.
    private func add(
        _ given: RemotePlace, to synced: borrowing SyncedVault, _ status: SyncStatus, founding: RollEntry,
        _ context: CommandContext
    ) throws -> (RemoteRow, RemoteFolderName) {
        var place = given
        let remote: RemoteFolderName
        if create {
            // A folder that is not there is not made: a stick that is not mounted would get its files in the folder below it.
            let others = try place.remotes(of: status.vault)
            if let known = status.remotes.first(where: { $0.row.path == place.path && others.contains($0.name(status)) }) {
                throw Failure(
                    .exists, "remote \(known.row.id) is \(place.isServer ? "on that server" : "in that folder") already",
                    hints: [
                        "omvault sync now exchanges with it",
                        "if it is stopped, omvault sync remote accept \(known.row.id) --create makes a new one in its place",
                    ])
            }
            remote = RemoteFolderName(vault: status.vault, incarnation: Random.bytes(16))
            try place.make(remote, founding: founding)
            if !others.isEmpty {
                context.output.notice(
                    "\(place.words) has \(others.count.of("other remote")) of this vault; the devices must all use the same one")
            }
        } else {
            (place, remote) = try find(place, status, founding)
        }
        do throws(VaultError) {
            let row = try synced.vault.addRemote(
                incarnation: remote.incarnation, path: place.path, login: place.heldLogin, now: secondsNow())
            return (row, remote)
        } catch {
            switch error {
            case .unchanged:
                throw Failure(.unchanged, "the vault has this remote already", hint: "omvault sync remote ls lists its remotes")
            case .tooLarge:
                throw Failure(
                    .policy,
                    "a vault has at most \(RemoteRow.maximumRemotes) remotes, and a path at most \(RemoteRow.maximumPath) bytes",
                    hint: "omvault sync remote rm N forgets one")
            default: throw synced.access.failure(error)
            }
        }
    }

    /// The one remote of this vault in a folder. The folder may be the remote's own.
    private func find(
        _ place: RemotePlace, _ status: SyncStatus, _ founding: RollEntry
    ) throws(Failure) -> (RemotePlace, RemoteFolderName) {
        let (place, names) = try place.namedRemotes(of: status.vault)
        let all = names.filter { $0.vault == status.vault }
        var found: [(name: RemoteFolderName, contents: RemoteContents)] = []
        for name in all {
            let contents = try place.run { try RemoteContents(reading: place.store(name), vault: status.vault) }
            if contents.founding == founding { found.append((name, contents)) }
        }
        guard let first = found.first else {
            throw Failure(
                .notFound, "\(place.words) has no remote of this vault",
                hint: "--create makes one; if another device made it, its files may not be there yet")
        }
        guard found.count == 1 else {
            throw Failure(
                .ambiguous, "\(place.words) has \(found.count) remotes of this vault",
                hint: "name the remote of the other devices",
                details: ["remotes": .list(found.map { .text($0.name.text) })]
            ).with(hints: ["name the remote of the other devices:"] + found.map { "\(place.path)/\($0.name.text)" }.sorted())
        }
        let isKnown = status.remotes.contains { $0.row.incarnation == first.name.incarnation }
        // A forgotten remote has heads of this device that it does not know any more. It would be taken for its own clone.
        guard isKnown || first.contents.heads[status.own.device] == nil else {
            throw Failure(
                .policy, "this device wrote to that remote before, and then forgot it",
                hint: "--create makes a new remote there, which the other devices must then add too")
        }
        return (place, first.name)
    }
}

extension SyncedVault {
    /// The login that this device has at a server. Nil if it has none.
    fileprivate borrowing func login(at place: RemotePlace, _ status: SyncStatus) throws(Failure) -> ServerLogin? {
        guard let row = status.remotes.first(where: { $0.row.url == place.path })?.row else {
            return nil
        }
        return try login(of: row)
    }

    /// The same for a remote.
    fileprivate borrowing func login(of row: RemoteRow) throws(Failure) -> ServerLogin? {
        guard row.url != nil else { return nil }
        do throws(VaultError) { return try VaultServerLogin(of: row, in: vault).login() } catch { throw access.failure(error) }
    }
}

extension SyncStatus.Remote {
    func name(_ status: SyncStatus) -> RemoteFolderName {
        RemoteFolderName(vault: status.vault, incarnation: row.incarnation)
    }
}

/// `omvault sync remote ls`
struct SyncRemoteList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the folders and servers that the vault syncs over.",
        discussion: """
            Does not look into the folders, and asks no server.

              omvault sync remote ls
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let synced = try SyncedVault(context, unlock)
        let status = try synced.status()
        try context.output.list(
            "remotes", status.remotes, columns: ["REMOTE", "FOLDER", "NAME"],
            head: ["vault": .text(synced.access.location.name)],
            row: { ["\($0.row.id)", $0.row.path, $0.name(status).text] },
            object: { remote, entry in
                entry.field("remote", .number(Int(remote.row.id)))
                entry.field("folder", .text(remote.row.path))
                entry.field("name", .text(remote.name(status).text))
            })
    }
}

/// `omvault sync remote rm`
struct RemoteRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Forget a folder or a server here.",
        discussion: """
            Asks first. Deletes nothing there, and nothing on other devices. At a server it also ends the login of this device.
            This device cannot add the same remote again; 'omvault sync remote add FOLDER|URL --create' makes a new one.

              omvault sync remote rm 1
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The remote's number, as 'omvault sync remote ls' shows it.")
    var remote: UInt8

    func run(_ context: CommandContext) throws {
        let synced = try SyncedVault(context, unlock)
        let status = try synced.status()
        let chosen = try SyncedVault.chosen(remote, of: status)[0]
        let row = chosen.row
        try synced.requireNoOtherLife(on: chosen, status)
        try context.confirm("Forget remote \(row.id) in \(row.path) on this device?")
        let login = try synced.login(of: row)
        try synced.access.run { () throws(VaultError) in try synced.vault.removeRemote(row.id, now: secondsNow()) }
        // Only now: without its tokens, a remote that is still there could not be used.
        if let login, !RemotePlace(of: row).logOut(login) {
            context.output.notice(
                "the server did not end the login of this device; its administrator can, or it ends 90 days after its last use")
        }
        try context.output.done(
            "forgot remote \(row.id); its files are still in \(row.path.shown)",
            ["result": .text("removed"), "remote": .number(Int(row.id)), "folder": .text(row.path)])
    }
}
