internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMVault

/// `omvault sync now`
struct SyncNow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "now",
        abstract: "Exchange with the remotes.",
        discussion: """
            Takes what other devices wrote, and writes what changed here. If an item was changed on two devices, the later version
            shows, and the other one is in a conflict copy beside it. A folder that is not mounted (50) or a remote that is stopped
            (31) does not keep the other remotes from syncing.

            If other devices remove or change many items at once, these changes wait until you agree: more than 20, and more than a
            quarter of all items. That they are yours you know; omvault does not. 'omvault sync diff' shows what waits for you.

            If the vault is unlocked in the agent, the agent exchanges, and no one types a password. This also ends the wait for a
            remote that is offline or stopped there.

              omvault sync now
              omvault sync now --remote 1
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("Only this remote, as 'omvault sync remote ls' numbers it.", valueName: "n"))
    var remote: UInt8?

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        if let agent = try SyncingAgent(access, unlock), !agent.needsRootKey {
            let remotes = try SyncedVault.chosen(remote, of: agent.status)
            let exchanges = try agent.exchange(with: remotes, context)
            let after = try SyncingAgent(access, unlock) ?? agent
            return try show(exchanges, of: access, after.status, after.concerns, isAgents: true)
        }
        let synced = SyncedVault(access, try access.open(SecretSources(context, unlock.sources), unlock))
        let exchanges = try SyncedVault.chosen(remote, of: try synced.status()).map { remote in
            RemoteExchange(with: remote.row, of: synced.vault, access)
        }
        try show(exchanges, of: access, try synced.status(), try synced.concerns())
    }

    private func show(
        _ exchanges: [RemoteExchange], of access: VaultAccess, _ status: SyncStatus, _ concerns: SyncConcerns,
        isAgents: Bool = false
    ) throws {
        let context = access.context
        try context.output.list(
            "remotes", exchanges,
            columns: ["REMOTE", "STATE", "RECEIVED", "SENT", "WAITING", "HELD", "SKIPPED", "FOLDER"],
            head: ["vault": .text(access.location.name)],
            row: { exchange in
                let (pull, push) = (exchange.pull, exchange.push)
                return [
                    "\(exchange.remote.id)", exchange.state.rawValue, "\(pull.written)", "\(push.parcels)",
                    "\(pull.waiting)",
                    "\(pull.held)", "\(push.skipped)", exchange.remote.path,
                ]
            },
            object: { exchange, entry in exchange.write(to: &entry) })
        explain(exchanges, status, context, isAgents: isAgents)
        concerns.tell(context)
        for exchange in exchanges { Self.tellOfNewerRemotes(beside: exchange, status, context) }
        // The gravest problem decides: a remote that lies, then one that this omvault cannot read, then the others.
        let failures = exchanges.compactMap(\.failure)
        let order: [ExitStatus] = [.rollback, .corrupt, .unsupported]
        guard let worst = order.compactMap({ status in failures.first { $0.status == status } }).first ?? failures.first else {
            return
        }
        for failure in failures where failure.message != worst.message { context.output.notice(failure.message) }
        throw worst
    }

    /// Another device made a new remote, because this one was lost or put back.
    private static func tellOfNewerRemotes(beside exchange: RemoteExchange, _ status: SyncStatus, _ context: CommandContext) {
        guard exchange.failure?.status != .network,
            let remote = status.remotes.first(where: { $0.row.id == exchange.remote.id }),
            let others = try? exchange.place.otherRemotes(status),
            others.contains(where: { $0.isInUse(beside: remote, of: status) })
        else { return }
        context.output.notice(
            "other devices use another remote in the \(exchange.remote.url == nil ? "folder" : "account") of remote \(remote.row.id) now:"
                + " omvault sync remote accept \(remote.row.id)")
    }

    private func explain(
        _ exchanges: [RemoteExchange], _ status: SyncStatus, _ context: CommandContext, isAgents: Bool
    ) {
        for exchange in exchanges {
            for device in exchange.lateDevices {
                context.output.notice(
                    "remote \(exchange.remote.id): the files of \"\(status.name(of: device).shown)\" are not whole yet, or older than before"
                )
            }
        }
        if exchanges.contains(where: { $0.pull.waiting > 0 }) {
            context.output.notice("versions that wait need news of another device; they come with a later exchange")
        }
        for (count, words) in [
            (exchanges.map(\.pull.unreadable).max() ?? 0, "no key here opens them, or they were changed"),
            (exchanges.map(\.pull.malformed).max() ?? 0, "they break the rules of the format"),
        ] where count > 0 {
            context.output.notice("\(count.of("version")) cannot be read, and change\(count == 1 ? "s" : "") nothing: \(words)")
        }
        for exchange in exchanges {
            for (device, count) in exchange.pull.unreadPacks.sorted(by: { $0.key < $1.key }) {
                context.output.notice(
                    "remote \(exchange.remote.id): \(count.of("pack")) of \"\(status.name(of: device).shown)\""
                        + " \(count == 1 ? "is" : "are") not read yet, because too much of that device waits here")
            }
        }
        if exchanges.contains(where: { !$0.pull.lostEntries.isEmpty }) {
            let start = "another device changed the list of devices at the same time, so what you added or removed here "
            // The agent does not have the key that signs it.
            context.output.notice(
                start
                    + (isAgents ? "does not count: omvault sync now makes it again, and asks for the password" : "was made again")
            )
        }
        if exchanges.contains(where: \.pull.losesCode) {
            context.output.notice(
                "your new recovery code does not open the remotes: another device changed the list of devices at the same time;"
                    + " omvault key add-slot --type recovery makes another one")
        }
        if let many = exchanges.map(\.pull.braked).max(), many > 0 {
            context.output.notice(
                "other devices removed or changed \(many.of("item")) in a short time, and this waits for you:"
                    + " omvault sync diff shows what")
        }
        if exchanges.contains(where: { $0.pull.held > 0 }) {
            context.output.notice(
                "versions that are held may not replace the item here; the item stays as it is: omvault sync diff shows them")
        }
        if exchanges.contains(where: { $0.push.skipped > 0 }) {
            context.output.notice("items that are skipped cannot be sent yet: keys of another device have not arrived")
        }
    }
}

extension RemoteExchange {
    func write(to entry: inout JSONDocument) {
        entry.field("remote", .number(Int(remote.id)))
        entry.field("folder", .text(remote.path))
        entry.field("state", .text(state.rawValue))
        entry.field("received", .number(pull.written))
        entry.field("sent", .number(push.parcels))
        entry.field("waiting", .number(pull.waiting))
        entry.field("many", .number(pull.braked))
        entry.field("held", .number(pull.held))
        entry.field("unreadable", .number(pull.unreadable))
        entry.field("malformed", .number(pull.malformed))
        entry.field("unread_packs", .number(pull.unreadPacks.values.reduce(0, +)))
        entry.field("skipped", .number(push.skipped))
        entry.field("problem", failure.map { .text($0.message) } ?? .null)
    }
}
