internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMShell

/// `omvault token clear`: deletes an exchanged token.
struct TokenClear: Verb {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Delete the token that 'token exchange --store' kept.",
        discussion: """
            Its session ends too, and the server is asked to revoke the token. Nothing happens if there is none.

              omvault token clear work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(ProfileName(profile))
        try profile.requireExchange()
        let login: LoginKey?
        do throws(AuthError) { login = try access.authenticator().clearExchange(profile) } catch {
            throw Failure(error, under: profile)
        }
        if let login { AgentSessionClient(context, access).endSession(login) }
        guard context.output.format == .json else { return try context.output.line("cleared") }
        var document = JSONDocument()
        document.field("result", .text("cleared"))
        document.field("profile", .text(profile.name.text))
        document.field("was_there", .flag(login != nil))
        try context.output.document(document)
    }
}
