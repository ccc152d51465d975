internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// `omvault token exchange`: an access token in exchange for a token of another server.
struct TokenExchangeCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "exchange",
        abstract: "Exchange a token of another server for an access token.",
        discussion: """
            The profile must have OAuthTokenExchange (RFC 8693). Without --store the new token is printed as by 'token get', and
            nothing is kept; TokenRelease does not count, because you gave the other token yourself.

            With --store the token is not printed, and replaces the one that was kept. The agent has it, as after a login, and the ledger too, sealed at the level in
            KeychainDataProtection. 'token load' brings it back after a reboot, and 'token get' prints it if TokenRelease allows
            that. It ends with the server's expires_in, and at the latest after TokenExchangeTimeout seconds.

              omvault token exchange work --subject-from file:/run/ci/id-token --subject-type id_token
              omvault token exchange work --subject-from stdin --store < token
            """)

    @OptionGroup var options: TokenGlobalOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    @OptionGroup var exchange: ExchangeOptions

    @Option(help: "The name of the session with --store; the client's id, if not given.")
    var user: String?

    @Flag(help: "Keep the token, and do not print it.")
    var store = false

    @Flag(help: "Print the token at a terminal too.")
    var reveal = false

    var global: GlobalOptions { options.shared }

    func run(_ context: CommandContext) throws {
        guard store || reveal || !StandardOutput.isTerminal else { throw TokenGet.terminal }
        guard user == nil || store else { throw Failure(usage: "--user names the session that --store keeps") }
        guard !store || !reveal && options.format == nil else {
            throw Failure(usage: "--format and --reveal print the token, and --store does not print it")
        }
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(ProfileName(profile))
        try profile.requireExchange()
        try profile.requireOnline()
        // The ledger keeps no key, and without one the token is of no use.
        guard profile.senderConstraint == .none else { throw Failure.boundToken(withoutSession: profile) }
        let own = exchange.subjectFrom == nil ? profile.oauthUserAssertion?.kind : nil
        let question = try exchange.question(own: own), scopes = try exchange.scopes()
        let user = try user.map { try UserName($0) }
        // Before the server is asked: its answer would be lost.
        let key = store ? try KeptTokenKey(context, profile, access.authenticator()).get() : nil
        let sources = try ForeignTokenAccess(profile, access, context, options: exchange.sources)
        let subject = try exchange.subject(sources), actor = try exchange.actor(sources)
        let receipt: LoginReceipt
        do throws(AuthError) {
            receipt = try access.authenticator().exchange(
                subject, actor: actor, for: question, under: profile, user: user, scopes: scopes, asking: sources.provider)
        } catch {
            guard case .online(let refusal) = error else { throw Failure(error, under: profile) }
            if case .failed(.unusableAssertion, _, _) = refusal, let failure = exchange.unusable { throw failure }
            throw Failure(ofClient: refusal, under: profile)
        }
        guard let key else { return try print(receipt, profile, context) }
        try keep(receipt, under: profile, asking: sources.provider, key: key, in: access, context)
    }

    private func print(_ receipt: borrowing LoginReceipt, _ profile: Profile, _ context: CommandContext) throws(Failure) {
        let left = receipt.sessionExpires.map { $0 - ClockReading.now().sinceBoot }
        switch receipt.access {
        case .some(let token):
            guard left.map({ $0 > 0 }) ?? true else { throw Failure.deadToken }
            let format = options.format ?? (context.output.format == .json ? .json : .raw)
            try PrintedToken(token: token.duplicate(), left: left, state: .good).print(as: format, context.output)
        // The protocol refuses such an answer.
        case .none: throw Failure(ofClient: .failed(.helper), under: profile)
        }
    }

    private func keep(
        _ receipt: consuming LoginReceipt, under profile: Profile, asking provider: OnlineProvider, key: RememberingKey,
        in access: LoginAccess, _ context: CommandContext
    ) throws {
        let sessions = CommandSessions(profile, access, context, asking: provider)
        // An agent that has ended may have left a ticket.
        _ = try? AgentSessionClient(context, access).runningOrResumed()
        do throws(AuthError) { sessions.notice(try sessions.tokens.store(receipt, key: key).before) } catch {
            throw Failure(error, under: profile)
        }
        try KeptTokenReport(context.output).print("stored", receipt.details, expires: receipt.sessionExpires)
    }
}
