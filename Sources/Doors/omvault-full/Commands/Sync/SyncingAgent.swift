// The agent's part in the commands of sync: it has the vault unlocked, so no one types a password.

internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMItems
internal import OMParcels
internal import OMShell
internal import OMSync
internal import OMVault

/// An agent that exchanges the vault of a command with its remotes.
struct SyncingAgent {
    let access: VaultAccess
    let status: SyncStatus
    /// Whether an entry of the list of devices waits for its signature. The agent does not have the key.
    let needsRootKey: Bool
    private let agent: AgentVaultClient
    private let sync: AgentSyncStatus

    /// - Returns: Nil if the vault is not unlocked in an agent, or the options exclude the agent. Then this process does it all.
    init?(_ access: VaultAccess, _ options: UnlockOptions) throws(Failure) {
        guard let agent = access.agentIfUnlocked(options) else { return nil }
        do throws(AgentError) {
            guard let sync = try agent.client.syncStatus(agent.paths, needsFacts: true), sync.facts != nil else { return nil }
            self.sync = sync
        } catch {
            access.warn(error)
            return nil
        }
        (self.access, self.agent) = (access, agent)
        let vault = try access.openWithDeviceKey()
        guard let known = try access.run({ () throws(VaultError) in try vault.syncStatus() }) else {
            throw Failure(vaultDoesNotSync: access.location)
        }
        needsRootKey = try access.run { () throws(VaultError) in try vault.hasLostEntries() }
        let names = (sync.facts?.devices ?? []).map { ($0.device, $0.text) }
        status = known.naming(Dictionary(names, uniquingKeysWith: { $1 }))
    }

    /// When this value was made.
    var concerns: SyncConcerns { SyncConcerns(sync.facts, status, now: secondsNow()) }

    /// What the agent did with a remote. Nil for a remote that it has not seen.
    func activity(of remote: UInt8) -> RemoteStatus? { sync.remotes.first { $0.remote == remote } }

    /// Lets the agent exchange with these remotes now, and waits for it.
    func exchange(with remotes: [SyncStatus.Remote], _ context: CommandContext) throws(Failure) -> [RemoteExchange] {
        for remote in remotes { _ = try asked(remote.row.id) }
        var exchanges: [RemoteExchange] = []
        for remote in remotes {
            let outcome = try awaitEnd(of: remote.row.id, context)
            exchanges.append(RemoteExchange(with: remote.row, outcome, status, access))
        }
        return exchanges
    }

    private func asked(_ remote: UInt8) throws(Failure) -> AgentSyncStatus {
        try answer { () throws(AgentError) in try agent.client.syncNow(agent.paths, remote: remote) }
    }

    private func awaitEnd(of remote: UInt8, _ context: CommandContext) throws(Failure) -> RemoteResult {
        let bar = TransferBar(for: remote, context)
        defer { bar.end() }
        var pause: UInt32 = 5_000
        while true {
            let now = try answer { () throws(AgentError) in try agent.client.syncStatus(agent.paths) }
            guard let activity = now.remotes.first(where: { $0.remote == remote }) else {
                throw Failure(.notFound, "the vault has no remote \(remote)", hint: "omvault sync remote ls lists them")
            }
            if !activity.isAsked, let last = activity.last { return last.outcome }
            // The agent could not begin: it has no thread for it.
            guard activity.isAsked else { throw Failure(AgentError.busy) }
            bar.show(activity.counts)
            usleep(pause)
            pause = min(pause * 2, 100_000)
        }
    }

    private func answer(_ ask: () throws(AgentError) -> AgentSyncStatus?) throws(Failure) -> AgentSyncStatus {
        let answer: AgentSyncStatus?
        do throws(AgentError) { answer = try ask() } catch { throw Failure(error) }
        guard let answer else {
            throw Failure(
                .locked, "vault \"\(access.location.name.shown)\" was locked meanwhile; the exchange goes on at the next unlock",
                hint: "run the command again")
        }
        return answer
    }
}

extension VaultAccess {
    /// Opens the vault with the device key alone, for what sync knows without a password. No device has a name there.
    fileprivate func openWithDeviceKey() throws(Failure) -> Vault {
        let file = try file()
        return try run { () throws(VaultError) in try file.open(with: ClassKeys(vault: file.id, epoch: file.epoch)) }
    }

    /// Tells an agent that has the vault's keys that there is something to exchange. It does not wait for the exchange.
    func wakeSyncingAgent() {
        guard let agentPaths, !isAgentSilent, let socket = try? AgentSocket(Environment.text) else { return }
        // Without an agent there is nothing to tell.
        _ = try? AgentClient(socket).syncNow(agentPaths, remote: nil)
    }
}

extension Failure {
    init(vaultDoesNotSync location: VaultLocation) {
        self.init(
            .notFound, "vault \"\(location.name.shown)\" does not sync",
            hint: "omvault sync init makes it a vault that syncs; omvault device join joins the vault of another device")
    }
}
