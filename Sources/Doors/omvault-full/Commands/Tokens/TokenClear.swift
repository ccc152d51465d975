internal import ArgumentParser
internal import OMAuth
internal import OMShell

/// `omvault token clear`: deletes an exchanged token.
struct TokenClear: Verb {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Delete the token that 'token exchange --store' kept.",
        discussion: """
            Every session under the profile ends too, and the server is asked to revoke the tokens. While the level of the token
            is locked and the agent does not have it, the server is not asked, and a notice says so. Nothing happens if there is no
            token.

              omvault token clear work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(ProfileName(profile))
        try profile.requireExchange()
        let wasThere = try CommandSessions(profile, access, context).clear()
        guard context.output.format == .json else { return try context.output.line("cleared") }
        var document = JSONDocument()
        document.field("result", .text("cleared"))
        document.field("profile", .text(profile.name.text))
        document.field("was_there", .flag(wasThere))
        try context.output.document(document)
    }
}
