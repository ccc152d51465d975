internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMShell

/// `omvault token load`: brings an exchanged token back from the ledger.
struct TokenLoad: Verb {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load the token that 'token exchange --store' kept.",
        discussion: """
            Prints "loaded" if the agent has the token now. Otherwise it ends with 10, and the message says which it is: none,
            expired, other_backend (MobileBackendID, MobileBackendVersion or OAuthIssuer is another one) or other_key (the vault is
            another one). Exchange a token again then. It asks no server.

              omvault token load work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(ProfileName(profile))
        try profile.requireExchange()
        let keys = KeptTokenKey(context, profile, access.authenticator())
        let sessions = CommandSessions(profile, access, context), key = Result { try keys.find() }
        let loaded: ExchangeState
        do throws(AuthError) { loaded = try sessions.tokens.load(key: try? key.get()) } catch {
            throw Failure(error, under: profile)
        }
        switch loaded {
        case .none: throw missing("none", "no exchanged token is kept for profile \"\(profile.name.text)\": none", profile)
        case .expired: throw missing("expired", "the time of the exchanged token is over: expired", profile)
        case .otherBackend:
            throw missing("other_backend", "the token that is kept is for another backend or issuer: other_backend", profile)
        case .otherKey: throw missing("other_key", "\(keys.ofOtherKey): other_key", profile)
        case .locked:
            _ = try key.get()
            throw keys.locked()
        case .idle: throw missing("none", "the session of the exchanged token was idle for too long: none", profile)
        case .notKept:
            throw sessions.failure
                ?? Failure(
                    .agent, "the agent does not take the token; it stays in the ledger", hint: "omvault agent status")
        case .loaded(let details, let expires):
            try KeptTokenReport(context.output).print("loaded", details, expires: expires)
        }
    }

    /// - Parameter cause: The word for programs.
    private func missing(_ cause: String, _ message: String, _ profile: Profile) -> Failure {
        Failure(
            .notFound, message, hint: "omvault token exchange \(profile.name.text.asShellWord) --subject-from SOURCE --store",
            details: ["cause": .text(cause)])
    }
}
