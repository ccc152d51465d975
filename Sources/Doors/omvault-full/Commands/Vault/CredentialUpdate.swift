internal import ArgumentParser

struct CredentialUpdate: Verb {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change parts of a credential or a property, or store a new one.",
        discussion: """
              omvault credential update https://host.example.com --password-from tty
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var parts: CredentialPartOptions

    func run(_ context: CommandContext) throws {
        try parts.store(context, isWhole: false)
    }
}
