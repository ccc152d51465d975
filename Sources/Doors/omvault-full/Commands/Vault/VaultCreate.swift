internal import ArgumentParser
internal import OMShell

/// `omvault vault create`
struct VaultCreate: Verb {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a vault of another name.",
        discussion: """
            The same as 'omvault init NAME': it asks for a password and prints a recovery code, once. The default vault stays the
            default; 'omvault vault default NAME' changes that.

              omvault vault create work
              omvault vault create work --password-from file:password
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The vault's name, or a path.")
    var name: String

    @OptionGroup var options: NewVaultOptions

    func validate() throws { try global.refuseVault("NAME is the new vault") }

    func run(_ context: CommandContext) throws {
        let folders = try context.userFolders()
        try options.make(try VaultLocation(name, in: folders), in: folders, context)
    }
}
