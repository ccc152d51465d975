internal import ArgumentParser
internal import OMShell

/// `omvault init`: a new vault, with a password and a recovery code. `omvault vault create` makes it in the same way.
struct InitCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a vault.",
        discussion: """
            Asks for a password and prints a recovery code, once. At a terminal you type the code back. The code opens the vault
            without the password, on another device too: keep it on paper.

              omvault init
              omvault init work --password-from file:password
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The vault's name, or a path; the default vault if not given.")
    var vault: String?

    @OptionGroup var options: NewVaultOptions

    func validate() throws {
        if vault != nil, global.vault != nil { throw ValidationError("give the vault as an argument or with --vault, not both") }
    }

    func run(_ context: CommandContext) throws {
        let folders = try context.userFolders()
        let location = try vault.map { name throws(Failure) in try VaultLocation(name, in: folders) } ?? context.vault(folders)
        try options.make(location, in: folders, context)
    }
}
