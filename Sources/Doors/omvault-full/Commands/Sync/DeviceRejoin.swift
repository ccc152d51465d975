internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMVault

/// `omvault device rejoin`
struct DeviceRejoin: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rejoin",
        abstract: "Give this device a new number, if a copy of its vault was in use.",
        discussion: """
            Use it if 'omvault sync now' stops with 31 because another copy of this vault wrote to the remote, or because an older
            disk was put back. It reads what was written under the old number, gives the edits that this vault alone has the new
            number, and exchanges with the remotes. No edit is lost. The other copy must not sync any more: remove its vault.

              omvault device rejoin
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    func run(_ context: CommandContext) throws {
        let synced = try SyncedVault(context, unlock)
        let status = try synced.status()
        let vault = synced.access.location.name
        var (chains, unread): ([OldChain], [String]) = ([], [])
        for remote in status.remotes {
            let place = try synced.place(of: remote.row)
            do throws(Failure) {
                let chain = try place.run {
                    do { return try synced.vault.oldChain(remote.row, from: place.store(remote.name(status))) } catch let problem
                        as RemoteNews.Problem
                    {
                        throw RemoteExchange.failure(problem, place)
                    }
                }
                chains.append(chain)
                if chain.isLate { unread.append("remote \(remote.row.id), whose files are not whole yet") }
            } catch {
                guard error.status == .network else { throw error }
                unread.append("remote \(remote.row.id), which is not there")
            }
        }
        for remote in unread {
            context.output.notice("what only the old number wrote is not read from \(remote), and stays behind there")
        }
        try context.confirm("Give this device a new number among the devices of vault \"\(vault)\"?")
        try synced.access.run { () throws(VaultError) in try synced.vault.rejoin(chains, now: secondsNow()) }
        RemoteExchange.announceChange(to: status.remotes.map(\.row), of: synced.vault, synced.access)
        synced.access.wakeSyncingAgent()
        let number = SyncStatus.digits(try synced.status().own.device)
        try context.output.done(
            "this device has the number \(number) now",
            [
                "result": .text("rejoined"), "vault": .text(vault), "number": .text(number),
                "before": .text(SyncStatus.digits(status.own.device)), "unread": .number(unread.count),
            ])
    }
}
