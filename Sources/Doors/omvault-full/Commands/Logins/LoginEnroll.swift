internal import ArgumentParser
internal import OMAuth
internal import OMSecrets
internal import OMShell

/// `omvault login enroll`: caches a credential for a user without a server.
struct LoginEnroll: Verb {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Cache a credential for a user without a server.",
        discussion: """
            To replace a credential, give its old password; a wrong one counts. In the system store root replaces it without the old
            password. If the profile has a server, the first login online caches the credential; only root can enroll there
            without the server, in the system store.

              omvault login enroll ada --profile work
              omvault login enroll ada --profile work --old-password-from tty
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginOptions
    @OptionGroup var stretch: StretchOptions

    @Option(help: ArgumentHelp("Where the new password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Where the old password comes from, to replace a credential.", valueName: "source"))
    var oldPasswordFrom: SecretSourceArgument?

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context, system: login.system)
        let user = try UserName(login.user)
        let profile = try access.profiles.profile(access.profileName(login.profile))
        let domain = try login.identityDomain(profile)
        guard profile.offlineAuthAllowed else { throw Failure(.offlineNotAllowed, under: profile) }
        // Attack: a user enrols in the user's own store, and gets in with a password that the server has never seen.
        guard access.isSystem || !profile.serverKind.isThere else {
            throw Failure(
                .policy, "the profile \"\(profile.name.text)\" has a server: the first login online caches the credential",
                hint: "omvault login check \(user.text.shown) --profile \(profile.name.text) --mode online")
        }
        let authenticator = access.authenticator(try stretch.parameters())
        let (agent, key) = (AgentSessionClient(context, access), LoginKey(user, profile, domain))
        let secrets = try SecretSources(
            context, ["--old-password-from": oldPasswordFrom, "--password-from": passwordFrom])
        if oldPasswordFrom == nil {
            let password = try readNew(secrets, user)
            if access.isSystem {
                _ = try authenticator.enrollReplacingWithoutOldPassword(
                    user, profile, domain: domain, password: password)
            } else {
                _ = try authenticator.enroll(user, profile, domain: domain, password: password)
            }
        } else {
            let old = try secrets.readLoginPassword("--old-password-from", prompt: "Old password of \(user.text)")
            let password = try readNew(secrets, user)
            _ = try agent.applyingRefusal(key) { () throws(AuthError) in
                try authenticator.enroll(user, profile, domain: domain, password: password, oldPassword: old)
            }
        }
        agent.endSession(key)
        try report(user, profile, context)
    }

    private func readNew(_ secrets: borrowing SecretSources, _ user: UserName) throws(Failure) -> Password {
        try secrets.readLoginPassword("--password-from", prompt: "New password of \(user.text)", isNew: true)
    }

    private func report(_ user: UserName, _ profile: Profile, _ context: CommandContext) throws(Failure) {
        guard context.output.format == .json else {
            return context.output.notice(
                "enrolled \(user.text.shown) under profile \"\(profile.name.text)\": \(LoginPolicy(profile).limitWords)")
        }
        var document = JSONDocument()
        document.field("result", .text("enrolled"))
        document.field("user", .text(user.text))
        document.field("profile", .text(profile.name.text))
        document.field("tolerated", .number(profile.maxLoginAttempts))
        document.field("on_exceeded", .text(profile.onAttemptsExceeded.rawValue))
        try context.output.document(document)
    }
}
