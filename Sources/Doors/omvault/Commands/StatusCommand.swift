internal import ArgumentParser
internal import OMAgent

/// `omvault status`: which vaults are open.
struct StatusCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which vaults are open, and for how long.",
        discussion: """
            A vault is unlocked, locked or first-unlocked. First-unlocked means: it was unlocked and locked again, and items of the
            level after-first-unlock are still readable.

              omvault status
              omvault status --exit-code && omvault get github:token
            """)

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Exit with 7 unless the vault is unlocked.")
    var exitCode = false

    func run(_ context: CommandContext) throws {
        let report = try StatusReport(vault: context.vaultGiven)
        try report.print(context.output)
        if exitCode, !report.isUnlocked { throw AlreadyReported(status: .locked) }
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
