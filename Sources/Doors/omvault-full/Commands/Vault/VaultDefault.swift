internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault vault default`
struct VaultDefault: Verb {
    static let configuration = CommandConfiguration(
        commandName: "default",
        abstract: "Show or choose the vault that a command without --vault means.",
        discussion: """
            Without NAME it prints the default vault: the one of the variable OMVAULT_VAULT, else the one that you chose, else
            "personal". NAME is one of your vaults; it is kept in the file default-vault in ~/.config/omvault.

              omvault vault default
              omvault vault default work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The vault that becomes the default.", completion: .vaults)
    var name: String?

    func validate() throws { try global.refuseVault("give NAME without --vault") }

    func run(_ context: CommandContext) throws {
        let folders = try context.userFolders()
        let file = DefaultVault(folders)
        guard let name else { return try show(file, context) }
        guard VaultLocation.isName(name) else {
            throw Failure(
                .usage, "\"\(name)\" is not the name of a vault",
                hint: "omvault vault ls shows the names; for a vault elsewhere set OMVAULT_VAULT to its path")
        }
        let access = try VaultAccess(context, vault: name)
        guard try access.run({ () throws(VaultError) in try VaultFile.exists(access.location.path) }) else {
            throw access.failure(.noVault)
        }
        try file.choose(name)
        context.noticeVariable(unless: name)
        try context.output.done(
            "\"\(name.shown)\" is the default vault", ["result": .text("default"), "vault": .text(name)])
    }

    private func show(_ file: DefaultVault, _ context: CommandContext) throws(Failure) {
        let variable = Environment.text("OMVAULT_VAULT")
        let chosen = variable == nil ? try file.chosen() : nil
        let vault = variable ?? chosen ?? DefaultVault.builtIn
        guard context.output.format == .json else { return try context.output.line(vault) }
        var document = JSONDocument()
        document.field("vault", .text(vault))
        document.field("from", .text(variable != nil ? "environment" : chosen != nil ? "file" : "built_in"))
        try context.output.document(document)
    }
}

extension CommandContext {
    /// Notes that the variable `OMVAULT_VAULT` names another vault than the default that was just chosen.
    func noticeVariable(unless name: String) {
        guard let variable = Environment.text("OMVAULT_VAULT"), variable != name else { return }
        output.notice("OMVAULT_VAULT is set, so commands here still mean \"\(variable.shown)\"")
    }
}
