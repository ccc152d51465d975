internal import ArgumentParser
internal import OMAuth
internal import OMSecrets
internal import OMStorage

/// `omvault login enroll`: provisions this device for a user without a server.
struct LoginEnroll: Verb {
    static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Cache a credential for a user without a server.",
        discussion: """
            A living credential is replaced only after its old password, which is counted like any attempt; in the
            system store root replaces it without. Where the profile has a server, the first login online caches the
            credential; only root enrolls there without asking it, in the system store.

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

    func run(_ door: Door) throws {
        let access = try LoginAccess(door, system: login.system)
        let user = try UserName(login.user)
        let profile = try access.profiles.profile(access.profileName(login.profile))
        let domain = try login.identityDomain(profile)
        guard profile.offlineAuthAllowed else { throw Failure(.offlineNotAllowed, under: profile) }
        // Whoever enrols in a store of his own would be let in under a password that the server has never seen.
        guard access.isSystem || !profile.serverKind.isThere else {
            throw Failure(
                .policy, "the profile \"\(profile.name.text)\" has a server: the first login online caches the credential",
                hint: "omvault login check \(user.text.shown) --profile \(profile.name.text) --mode online")
        }
        let authenticator = access.authenticator(try stretch.parameters())
        let (agent, key) = (SessionAgent(door, access), LoginKey(user, profile, domain))
        let secrets = try SecretSources(
            door, ["--old-password-from": oldPasswordFrom, "--password-from": passwordFrom])
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
            _ = try agent.following(key) { () throws(AuthError) in
                try authenticator.enroll(user, profile, domain: domain, password: password, oldPassword: old)
            }
        }
        agent.forget(key)
        try report(user, profile, door)
    }

    private func readNew(_ secrets: borrowing SecretSources, _ user: UserName) throws(Failure) -> Password {
        try secrets.readLoginPassword("--password-from", prompt: "New password of \(user.text)", isNew: true)
    }

    private func report(_ user: UserName, _ profile: Profile, _ door: Door) throws(Failure) {
        guard door.output.format == .json else {
            return door.output.notice(
                "enrolled \(user.text.shown) under profile \"\(profile.name.text)\": \(LoginPolicy(profile).limitWords)")
        }
        var document = JSONDocument()
        document.field("result", .text("enrolled"))
        document.field("user", .text(user.text))
        document.field("profile", .text(profile.name.text))
        document.field("tolerated", .number(profile.maxLoginAttempts))
        document.field("on_exceeded", .text(profile.onAttemptsExceeded.rawValue))
        try door.output.document(document)
    }
}

/// `omvault login rm`: the way out of a lock-out, damage or a rollback.
struct LoginRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove a user's cached credential, whatever state it is in.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginOptions

    func run(_ door: Door) throws {
        let access = try LoginAccess(door, system: login.system)
        let user = try UserName(login.user)
        let profile = try access.profileName(login.profile)
        try door.confirm("Remove the cached credential of \(user.text.shown) under \"\(profile.text)\"?")
        // The profile may be gone, or beyond reading; the rows still name themselves then.
        let policy = try? access.profiles.profile(profile)
        let domain = try login.domain.map { try IdentityDomain($0) } ?? policy?.domain ?? .none
        let key = LoginKey(profile: profile, user: user, server: policy?.serverIdentity ?? "", domain: domain)
        let authenticator = access.authenticator()
        let ids = (try? authenticator.ids(naming: key)) ?? []
        let removal = try authenticator.remove(user, profile, domain: domain, server: key.server)
        let agent = SessionAgent(door, access)
        agent.forget(naming: key)
        agent.lockOpened(naming: key, before: ids)
        try door.output.done(
            "removed the cached credential of \(user.text.shown)",
            ["result": .text("removed"), "user": .text(user.text), "profile": .text(profile.text)])
        var told: SetAside?
        if case .setAside(let aside) = removal {
            door.output.notice(aside.words)
            told = aside
        }
        access.tellSetAside(door.output, but: told)
        if removal == .pending {
            door.output.notice(
                "a process still reads an old state of the ledger; the next login command erases the rest")
        }
    }
}
