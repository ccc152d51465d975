internal import ArgumentParser
internal import OMAgent
internal import OMAuth

/// Whose session a verb of `omvault token` means.
struct SessionUserOptions: ParsableArguments {
    @Option(help: "The user; that of the only session, if not given.")
    var user: String?

    @Option(help: ArgumentHelp("The identity domain; that of the only session, if not given.", valueName: "domain"))
    var domain: String?

    /// Asks the server about the token of the session, and prints the answer.
    func printClaims(_ inquiry: TokenInquiry, of name: String, _ context: CommandContext) throws {
        let given = try requested()
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(ProfileName(name))
        let (claims, user) = try SessionToken(profile, access, context).claims(given, inquiry)
        try PrintedClaims(claims: claims, user: user, profile: profile).print(context.output)
    }

    func requested() throws -> RequestedUser { try RequestedUser(typed: user, domain: domain) }
}
