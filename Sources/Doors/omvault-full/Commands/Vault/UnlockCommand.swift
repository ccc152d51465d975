internal import ArgumentParser
internal import OMAgent
internal import OMShell

/// `omvault unlock`: unlocks a vault, which stays open in the agent.
struct UnlockCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Open a vault and keep it open in the agent.",
        discussion: """
            While the vault is open, your other commands need no password. It locks after a time without use (--idle), and after
            --hard seconds in any case. Starts the agent if none runs.

              omvault unlock
              omvault unlock --idle 120 --hard 3600
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("Seconds without use until it locks; 600 if not given.", valueName: "sec"))
    var idle: UInt32?

    @Option(help: ArgumentHelp("Seconds until it locks in any case; 43200 if not given.", valueName: "sec"))
    var hard: UInt32?

    func validate() throws {
        for (name, value) in [("--idle", idle), ("--hard", hard)] {
            if let value, !AgentServer.TimeOuts.isAllowed(value) {
                throw ValidationError("\(name) takes 1 to \(AgentServer.TimeOuts.longest) seconds")
            }
        }
        if unlock.noAgent { throw ValidationError("--no-agent is not possible here: the agent keeps the vault open") }
    }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        let agent = try access.startedAgent()
        let unlocked = try access.openSlot(secrets, unlock)
        let opened = try agent.handOver(unlocked.vault, idle: idle ?? 0, hard: hard ?? 0)
        try context.output.done(
            agent.unlockedWords(opened),
            [
                "result": .text("unlocked"), "vault": .text(access.location.name),
                "idle": .number(Int(opened.idleLeft)), "hard": .number(Int(opened.hardLeft)),
            ])
        // An agent that does not answer has nothing to tell.
        let remotes = (try? agent.client.syncStatus(agent.paths))?.remotes ?? []
        for remote in remotes where remote.state == .stopped {
            context.output.notice("remote \(remote.remote) is stopped: omvault sync status says why")
        }
    }
}
