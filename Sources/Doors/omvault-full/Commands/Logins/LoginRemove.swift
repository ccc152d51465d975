internal import ArgumentParser
internal import OMAuth
internal import OMShell
internal import OMStorage

/// `omvault login rm`: the way out of a lock-out, damage or a rollback.
struct LoginRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove a user's cached credential, whatever state it is in.",
        discussion: """
            Also deletes what is remembered of the user, and ends the session.

              omvault login rm ada --profile work
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginOptions

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context, system: login.system)
        let user = try UserName(login.user)
        let profile = try access.profileName(login.profile)
        try context.confirm("Remove the cached credential of \(user.text.shown) under \"\(profile.text)\"?")
        // The profile may be missing or unreadable. The ledger's rows still have their names then.
        let policy = try? access.profiles.profile(profile)
        let domain = try login.domain.map { try IdentityDomain($0) } ?? policy?.domain ?? .none
        let key = LoginKey(profile: profile, user: user, server: policy?.serverIdentity ?? "", domain: domain)
        let authenticator = access.authenticator()
        let ids = (try? authenticator.ids(naming: key)) ?? []
        let agent = AgentSessionClient(context, access)
        let asleep = policy.flatMap { try? authenticator.rememberedSessions($0) } ?? []
        let isAsleep = asleep.contains(key) && agent.sessions(RequestedUser(user: user, domain: domain), profile).isEmpty
        let removal = try remove(key, authenticator)
        if isAsleep {
            context.output.notice(
                "the remembered session was deleted without its server, where its tokens live on; 'omvault logout' revokes them")
        }
        agent.endSessions(naming: key)
        agent.lockOpened(naming: key, before: ids)
        try context.output.done(
            "removed the cached credential of \(user.text.shown)",
            ["result": .text("removed"), "user": .text(user.text), "profile": .text(profile.text)])
        var renamed: DamagedFile?
        if case .ledgerRenamed(let aside) = removal {
            context.output.notice(aside.words)
            renamed = aside
        }
        access.noticeDamagedLedgers(context.output, except: renamed)
        if removal == .pending {
            context.output.notice(
                "another process still reads an old state of the ledger; the next login command erases the remaining bytes")
        }
    }

    private func remove(_ key: LoginKey, _ authenticator: Authenticator) throws(Failure) -> Authenticator.Removal {
        do throws(AuthError) {
            return try authenticator.remove(key.user, key.profile, domain: key.domain, server: key.server)
        } catch {
            let failure = Failure(error)
            guard error == .noCredential else { throw failure }
            let option = login.system ? " --system" : ""
            throw failure.with(hints: ["omvault login status\(option) lists the credentials that are cached"])
        }
    }
}
