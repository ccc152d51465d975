internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMSecrets
internal import OMShell

/// `omvault login USER`: logs in, asks again after a wrong answer, and remembers what the profile allows.
struct LoginStart: Verb {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Log a user in; 'omvault login USER' is short for it.",
        discussion: """
            The agent keeps a session of the login until 'omvault logout' or a time-out. While the session is valid, nothing is
            asked, unless you give --force, a mode, a password or --remember.

            If the profile allows Auto Login and you chose it, omvault submits the remembered password. Otherwise it asks for what is
            missing, and asks again after a wrong password, MaxLoginAttempts times (three times if no limit is set). Each wrong
            password counts. Then the command ends with 20. Press Enter to use the remembered password, if there is one.

            With --unlock the password also opens the vault that has a slot of this login ('omvault key add-slot --type login'), in
            the agent. It has to be typed, or come from --password-from.

            If users of the profile log in at the server's own pages (OAuthAuthorizationCode, OAuthDeviceCode, OpenIDConnect10),
            your browser opens them, and no password is asked for. Without a display, or with --device, a code is shown that you
            enter in a browser on any device. USER is then not needed: the server names the user.

            OAuthImplicit needs --insecure (33 without): the token comes in the address of the browser, which keeps it in its
            history. RFC 9700 says that this grant must not be used.

            If users of the profile log in with an assertion (OAuthAssertion), it comes from the source in the profile. Without USER
            the server names the user; if it names none, the session has the client's id.

            If users log in with a client certificate (CertificateBasedAuthentication), nothing is asked for. USER names the
            session; without it the session has the name of the identity.

            With --password-from, or without a terminal, there is one attempt. Output and exit codes are those of 'login check'.

              omvault login ada --profile work
              omvault login --remember auto
              omvault login ada --unlock --vault work
              omvault login start check            # a user who is called check
              omvault login --profile sso          # in a browser
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var stretch: StretchOptions

    @Argument(help: "The user's name; the remembered one if not given.")
    var user: String?

    @Option(help: profileHelp, completion: .profiles)
    var profile: String?

    @Option(help: ArgumentHelp("The identity domain; the profile's, if not given.", valueName: "domain"))
    var domain: String?

    @Option(help: "auto, online or offline; the profile's ConnectivityMode if not given.")
    var mode: LoginCheck.Mode?

    @Option(help: ArgumentHelp("Where the password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: "From now on: auto (log in without asking), credentials, user or nothing, as far as the profile allows.")
    var remember: RememberArgument?

    @Flag(help: "Log in again, although a session is valid.")
    var force = false

    @Flag(help: "Open the vault in the agent too, with its slot of this login.")
    var unlock = false

    @OptionGroup var browser: BrowserOptions

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context)
        let agent = AgentSessionClient(context, access)
        let given = try RequestedUser(typed: user, domain: domain)
        var asked = AskedLogin(
            profileName: try access.profileName(profile), user: given.user, domain: given.domain, mode: mode?.connectivity)
        let opening = unlock ? try LoginVaultOpening(context) : nil
        do {
            let profile = try access.profiles.profile(asked.profileName)
            (asked.profile, asked.mode) = (profile, mode?.connectivity ?? profile.connectivityMode)
            let isOfAssertion = profile.serverKind == .oauthAssertion
            if let other = browser.given.first(where: { !isOfAssertion || $0 != "--scopes" }), profile.serverKind != .oauthBrowser
            {
                throw Failure(usage: "\(other) is for profiles whose users log in at the server's own pages")
            }
            try browser.check(profile)
            agent.endOutdated(given, profile)
            // The login replaces the session that the ledger remembers, and its tokens are revoked only if the agent has it.
            _ = try? LedgerSessions(profile, access, context).restore()
            // With --unlock no session is used: a session holds no key for a slot, and the user typed no password.
            if !force, !unlock, mode == nil, passwordFrom == nil, remember == nil, let session = agent.valid(given, profile),
                try browser.areCovered(by: session)
            {
                return try LoginReport(context.output).alreadyLoggedIn(session)
            }
            let others = [
                ("--password-from", passwordFrom != nil), ("--remember", remember != nil), ("--unlock", unlock),
            ].filter { $0.1 }.map { $0.0 }
            if isOfAssertion {
                return try AssertionLoginRun(profile, browser, mode: asked.mode, others: others, in: access, context).run(given)
            }
            if profile.serverKind == .oauthBrowser {
                return try BrowserLoginRun(profile, browser, mode: asked.mode, others: others, in: access, context).run(given)
            }
            if profile.serverKind == .certificate {
                return try CertificateLoginRun(profile, mode: asked.mode, others: others, in: access, context).run(given)
            }
            let preferences = try remember?.preferences(profile)
            let flow = try LoginFlow(
                profile, asked.mode, in: access, context, stretch: try stretch.parameters(),
                passwords: ["--password-from": passwordFrom])
            let keySource = RememberingKeySource(context, profile, flow.authenticator)
            let key = try keySource.key()
            let receipt = try logIn(flow, as: given, &asked, remembering: key, preferring: preferences, context)
            try flow.finish(receipt, whyNoKey: key == nil ? keySource.whyNoKey : nil, opening: opening)
        } catch { throw try access.denied(asked, error, context.output) }
    }

    /// Asks until an answer is right, or the command may not ask again. Applies the effects of each refusal.
    ///
    /// - Parameter asked: Receives the names that the user typed.
    private func logIn(
        _ flow: borrowing LoginFlow, as given: RequestedUser, _ asked: inout AskedLogin,
        remembering key: RememberingKey?, preferring preferences: RememberPreferences?, _ context: CommandContext
    ) throws -> LoginReceipt {
        let (profile, agent) = (flow.profile, flow.agent)
        let isOneAttempt = !flow.secrets.isAsked("--password-from")
        let prompter = TerminalPrompter(
            context, given, asksPreferences: preferences == nil, takesRemembered: !unlock,
            password: isOneAttempt ? try flow.secrets.readLoginPassword("--password-from", prompt: "Password") : nil,
            onRefusal: { error, user, domain in agent.applyRefusal(error, LoginKey(user, profile, domain)) })
        // The login throws the same error again, and it is reported then.
        let known = (try? flow.authenticator.remembered(profile)).flatMap { given.mayBe($0) ? $0 : nil }
        do throws(AuthError) {
            return try flow.authenticator.login(
                profile, mode: asked.mode, prompting: prompter, asking: flow.provider, remembering: key,
                preferring: preferences,
                submitsAutoLogin: passwordFrom == nil && !unlock && !isOneAttempt && known != nil)
        } catch {
            if let failure = prompter.failure { throw failure }
            // If only one attempt was possible, its own error says more.
            var error = prompter.refusal ?? error
            if !prompter.asksAgain, case .tooManyAttempts(let last) = error { error = last }
            // If there was no answer, the refusal was of the remembered user's auto login.
            asked.user = prompter.user ?? given.user ?? known?.user
            asked.domain = prompter.domain ?? given.domain ?? known?.domain
            if let user = asked.user { agent.applyRefusal(error, LoginKey(user, profile, asked.domain ?? .none)) }
            throw error
        }
    }
}
