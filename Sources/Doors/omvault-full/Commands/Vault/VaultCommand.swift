internal import ArgumentParser

/// `omvault vault`: the commands about whole vaults.
struct VaultCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "List, make and rename vaults; choose the default.",
        discussion: """
            A user can have several vaults, each with its own password. A command works on the vault of --vault, else of the
            variable OMVAULT_VAULT, else on the default vault.
            """,
        subcommands: [VaultListCommand.self, VaultCreate.self, VaultDefault.self, VaultRename.self])
}

extension GlobalOptions {
    /// For commands that take a vault as an argument, or none.
    func refuseVault(_ way: String) throws {
        if vault != nil { throw ValidationError("--vault has no meaning here: \(way)") }
    }
}
