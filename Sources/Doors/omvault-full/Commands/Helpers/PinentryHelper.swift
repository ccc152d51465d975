internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell

/// `omvault helper pinentry`: answers gpg-agent's question for a passphrase from the vault.
struct PinentryHelper: Verb {
    static let configuration = CommandConfiguration(
        commandName: "pinentry",
        abstract: "Answer gpg-agent's questions for passphrases.",
        discussion: """
            gpg-agent starts the program that pinentry-program in gpg-agent.conf names. Name a script that starts this command. It
            answers with the password of the item whose shown field url is gpg: and the keygrip of the key. OMVAULT_PINENTRY_ITEM
            names an item for all keys without one; set it in the script. All other questions go to a pinentry that asks you: a new
            passphrase, that of a file, the PIN of a card, a passphrase that was wrong, a key without an item, and every question
            while the vault is locked.

              omvault add gpg --type login --plain url=gpg:KEYGRIP
              printf '#!/bin/sh\\nexec %s helper pinentry -- "$@"\\n' "$(command -v omvault)" > ~/bin/pinentry-omvault
              chmod 700 ~/bin/pinentry-omvault
              echo "pinentry-program $HOME/bin/pinentry-omvault" >> ~/.gnupg/gpg-agent.conf
              gpgconf --kill gpg-agent
              omvault helper pinentry --fallback pinentry-curses
            """)

    /// The variable that names the item, for a program that gives no option.
    static let itemVariable = "OMVAULT_PINENTRY_ITEM"

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(
        help: ArgumentHelp(
            "The pinentry for all other questions; none refuses them. Without it \(PinentryProgram.variable), or pinentry.",
            valueName: "program"))
    var fallback: String?

    @Argument(help: "Arguments for that pinentry. gpg-agent gives them.")
    var arguments: [String] = []

    func run(_ context: CommandContext) throws {
        guard !StandardOutput.isTerminal else {
            throw HelperToken.refusedAtTerminal("a passphrase", instead: "omvault get prints one here")
        }
        try StandardInput.claim()
        // gpg-agent waits for the answer, and its terminal is not this one.
        var silent = global
        silent.noInput = true
        let quiet = try CommandContext(silent)
        var server = PinentryServer(
            fallback: fallback == "none" ? nil : (fallback ?? PinentryProgram.standard, arguments),
            secret: { question in try? secret(for: question, quiet) })
        server.run()
    }

    /// The passphrase for a question. Nil or an error: a person is asked.
    private func secret(for question: PinentryServer.Question, _ context: CommandContext) throws -> SecretBytes? {
        guard let grip = question.keygrip else { return nil }
        let items = try SiteItems(context, unlock)
        if let item = items.item(withURL: "gpg:\(grip)") { return try items.password(of: item) }
        guard let name = Environment.text(Self.itemVariable) else { return nil }
        return try secret(of: ItemReference(argument: name), context)
    }

    /// The value of the item that the variable names.
    private func secret(of reference: ItemReference, _ context: CommandContext) throws -> SecretBytes {
        let (name, access) = (try reference.itemName(), try VaultAccess(context))
        let secrets = try SecretSources(context, unlock.sources)
        let path: FieldPath
        if reference.field != nil, !reference.meansMainField {
            path = try reference.path()
        } else {
            let item = try access.read(.item(name), secrets, unlock).item()
            path = FieldPath(name, try MainField(of: item).required())
        }
        return try access.read(.secret(path, revision: nil), secrets, unlock).secret()
    }
}
