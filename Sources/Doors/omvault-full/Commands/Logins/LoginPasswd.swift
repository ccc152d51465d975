internal import ArgumentParser
internal import OMAuth
internal import OMSecrets
internal import OMShell

/// `omvault login passwd`: changes the password of a login without a server.
struct LoginPasswd: Verb {
    static let configuration = CommandConfiguration(
        commandName: "passwd",
        abstract: "Change the password of a login without a server.",
        discussion: """
            A wrong old password counts. Vaults that this login opens then open with the new password. If the profile has a server,
            change the password there; the next login online caches the new one.

              omvault login passwd ada --profile laptop
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginOptions
    @OptionGroup var stretch: StretchOptions

    @Option(help: ArgumentHelp("Where the old password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Where the new password comes from.", valueName: "source"))
    var newPasswordFrom: SecretSourceArgument?

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context, system: login.system)
        let user = try UserName(login.user)
        let profile = try access.profiles.profile(access.profileName(login.profile))
        let domain = try login.identityDomain(profile)
        guard !profile.serverKind.isThere else {
            throw Failure(
                .policy, "the profile \"\(profile.name.text)\" has a server: change the password there",
                hint: "then cache the new password: omvault login \(user.text.shown) --profile \(profile.name.text)")
        }
        guard profile.offlineAuthAllowed else { throw Failure(.offlineNotAllowed, under: profile) }
        let authenticator = access.authenticator(try stretch.parameters())
        let secrets = try SecretSources(
            context, ["--password-from": passwordFrom, "--new-password-from": newPasswordFrom])
        let old = try secrets.readLoginPassword("--password-from", prompt: "Password of \(user.text)")
        let new = try secrets.readLoginPassword(
            "--new-password-from", prompt: "New password of \(user.text)", isNew: true)
        let key = LoginKey(user, profile, domain)
        let agent = AgentSessionClient(context, access)
        _ = try agent.applyingRefusal(key) { () throws(AuthError) in
            try authenticator.changePassword(user, profile, domain: domain, from: old, to: new)
        }
        // The present session was opened with the old password.
        agent.endSession(key)
        try context.output.done(
            "changed the password of \(user.text.shown) under profile \"\(profile.name.text)\"; the new one also opens the vaults "
                + "that have a slot of this login",
            ["result": .text("changed"), "user": .text(user.text), "profile": .text(profile.name.text)])
    }
}
