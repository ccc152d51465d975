internal import ArgumentParser

/// Whose session a verb of `omvault token` means.
struct SessionUserOptions: ParsableArguments {
    @Option(help: "The user; that of the only session, if not given.")
    var user: String?

    @Option(help: ArgumentHelp("The identity domain; that of the only session, if not given.", valueName: "domain"))
    var domain: String?

    func requested() throws -> RequestedUser { try RequestedUser(typed: user, domain: domain) }
}
