internal import ArgumentParser

struct CredentialAdd: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Store a credential or a property; replaces what the key had.",
        discussion: """
            Removes the parts that you do not give; 'omvault credential update' keeps them. The history keeps the earlier version.
            For a website's login of your own use 'omvault add'.

              omvault credential add https://host.example.com --username mona
              omvault credential add --property-key endpoint --value-from file:url.txt --label Endpoint
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var parts: CredentialPartOptions

    func run(_ context: CommandContext) throws {
        try parts.store(context, isWhole: true)
    }
}
