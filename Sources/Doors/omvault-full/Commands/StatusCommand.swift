internal import ArgumentParser
internal import OMAgent
internal import OMAgentProtocol
internal import OMShell

/// `omvault status`: the vaults, and what of them is open.
struct StatusCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "List the vaults: which are open, and for how long.",
        discussion: """
            An open vault locks by itself: after a time without use, and at the latest after another time. The last column says
            what can be read without a password. After 'omvault lock' these are still the items of after-first-unlock;
            'omvault lock --forget' ends that. In plain rows and JSON this state is first-unlocked; the others are unlocked,
            locked and missing. A plain row has the vault, its state, how long until it locks without use, how long until it locks
            in any case, and the levels that can be read; a - stands for none.

              omvault status
              omvault status --exit-code && omvault get github:token
            """)

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Exit with 7 unless the vault is unlocked.")
    var exitCode = false

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let report = try StatusReport(vault: context.vaultGiven)
        try report.print(context.output)
        if exitCode, !report.isUnlocked { throw AlreadyReported(status: .locked) }
    }
}

extension StatusCommand {
    /// Answers a plain `status` into a pipe before the parser reads its declarations, which takes as long as the answer: a
    /// shell's prompt asks at each line.
    ///
    /// - Returns: Whether it was answered. If not, ``run(_:)`` says why.
    static func isAnswered(_ arguments: [String]) throws(Failure) -> Bool {
        guard arguments == ["status"], !StandardOutput.isTerminal, Environment.text("OMVAULT_FORMAT") == nil,
            let report = try? StatusReport(vault: Environment.text("OMVAULT_VAULT"))
        else { return false }
        try report.print(Output(format: .plain, isQuiet: false))
        return true
    }
}

extension AgentVaultState {
    var words: String {
        switch self {
        case .locked: "locked"
        case .firstUnlocked: "first-unlocked"
        case .unlocked: "unlocked"
        }
    }
}
