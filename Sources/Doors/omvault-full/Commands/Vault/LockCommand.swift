internal import ArgumentParser
internal import OMAgent
internal import OMAgentProtocol
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault lock`: makes the agent wipe the keys.
struct LockCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Close a vault that the agent keeps open.",
        discussion: """
            Wipes the keys of the level when-unlocked. Items of the level after-first-unlock stay readable until the agent ends;
            --forget wipes their keys too.

              omvault lock
              omvault lock --all --forget
            """)

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Lock every vault that is open.")
    var all = false

    @Flag(help: "Wipe the keys of after-first-unlock too, and the ticket of 'policy set afu-ticket'.")
    var forget = false

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        // A vault that does not exist must not be reported as locked.
        guard try all || access.run({ () throws(VaultError) in try VaultFile.exists(access.location.path) }) else {
            throw access.failure(.noVault)
        }
        let what = all ? "every vault" : "vault \"\(access.location.name.shown)\""
        var isLocked = false
        let lock = { (client: AgentClient) throws(AgentError) in
            // A ticket outlives the agent that wrote it, and a newer agent does not know it. The tickets are deleted before
            // the lock, so that no process resumes one meanwhile, and after it, since an unlock may have written one.
            let deleteTickets = {
                guard forget else { return }
                if all { client.deleteTickets(of: nil) } else if let id = try? access.file().id { client.deleteTickets(of: id) }
            }
            deleteTickets()
            defer { deleteTickets() }
            try client.lock(all ? nil : access.agentPaths, forgets: forget)
            isLocked = true
        }
        do throws(AgentError) { _ = try AgentClient.forEach(Environment.text, lock) } catch {
            guard isLocked else { throw error }
            let failure = Failure(error)
            throw Failure(
                failure.status, "locked \(what) in one agent, but not in another: \(failure.message)", hints: failure.hints)
        }
        guard isLocked else {
            return try context.output.done("no agent is running, so no vault was open", ["result": .text("locked")])
        }
        try context.output.done("locked \(what)", ["result": .text("locked")])
    }
}
