internal import ArgumentParser

struct CredentialAdd: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Store a credential or a property, in place of what stands under the key.",
        discussion: """
            What is not given is gone afterwards; 'update' keeps it. The version before stays in the history.

              omvault credential add https://host.example.com --username mona
              omvault credential add --property-key endpoint --value-from file:url.txt --label Endpoint
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var parts: CredentialPartOptions

    func run(_ context: CommandContext) throws {
        try parts.store(context, isWhole: true)
    }
}
