internal import ArgumentParser
internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// `omvault token get`: prints an access token.
struct TokenGet: Verb {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print an access token.",
        discussion: """
            The token is that of the session that 'omvault login' left in the agent. The agent gives it only if the profile had
            TokenRelease=allow or TokenRelease=confirm at that login; with confirm you are asked at the terminal each time. If the
            token does not live long enough, the agent gets another one from the server. 'get' never logs in.

            --id-token prints the ID token, which says who logged in. A login at the server's own pages has one.

            With --no-agent the profile must have OAuthClientCredentials, OAuthAssertion or OAuthTokenExchange. omvault reads the
            client's secret, or signs with the client's key in the vault, and reads the profile's assertion. It asks the server for
            a token, prints it and keeps nothing.

            The forms of --format: raw is the token alone, without a newline. header is a line for 'curl -H @-', curl one for
            'curl -K -', env one for a shell (ACCESS_TOKEN='...'). json has the scopes and the seconds that are left, too. In a
            pipe to curl the token is in no argument, where other users could read it.

              omvault token get work
              omvault token get work --min-valid 600 --scope calendar
              omvault token get work --id-token
              omvault token get backup --no-agent --format header | curl -H @- https://api.example.org/
            """)

    @OptionGroup var options: TokenGlobalOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    @OptionGroup var session: SessionUserOptions

    @Option(help: ArgumentHelp("The scopes that the token must have, with commas or blanks between them.", valueName: "list"))
    var scope: String?

    @Flag(help: "Ask the server for a token with exactly the scopes of --scope, and no others.")
    var exactScope = false

    @Option(
        help: ArgumentHelp("Ask the server for a token that only this server takes (RFC 8707).", valueName: "url"))
    var resource: String?

    @Option(help: ArgumentHelp("How many seconds the token must live at least; 60, if not given.", valueName: "sec"))
    var minValid: UInt32?

    @Flag(help: "Print the ID token of the login, in place of the access token.")
    var idToken = false

    @Flag(help: "Get another token from the server in any case.")
    var fresh = false

    @Flag(help: "Print the token at a terminal too.")
    var reveal = false

    @Flag(help: "Ask the server now and keep nothing. Only for OAuthClientCredentials, OAuthAssertion and OAuthTokenExchange.")
    var noAgent = false

    var global: GlobalOptions { options.shared }

    func run(_ context: CommandContext) throws {
        guard reveal || !StandardOutput.isTerminal else { throw Self.terminal }
        // As in the SDK, "*" is any token.
        let scopes = scope == "*" ? nil : try scope.map { try Self.scopes($0) }
        let narrowing = try narrowing(scopes)
        let given = try session.requested()
        let name = try ProfileName(profile)
        // Read before the profile and once more behind it, so that a change in between is noticed.
        let reading = try? context.userFolders().reading(ofProfile: name.text)
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(name)
        let isKnown = narrowing == nil && !idToken && access.reading(of: name) == reading
        let format = options.format ?? (context.output.format == .json ? .json : .raw)
        let life = minValid ?? Self.standardLife
        guard !noAgent else {
            guard given.user == nil, given.domain == nil else {
                throw Failure(usage: "--no-agent has no session, so there is no user")
            }
            guard !idToken else { throw Failure(usage: "--no-agent gets no ID token: no user logs in there") }
            guard narrowing == nil else {
                throw Failure(usage: "--no-agent asks for exactly the scopes of --scope, and for no resource")
            }
            return try ClientToken(profile, access, context).get(scopes, atLeast: Int64(life)).print(as: format, context.output)
        }
        guard !idToken || scope == nil && narrowing == nil && minValid == nil else {
            throw Failure(usage: "an ID token has no scopes and no resource, and its life is in it")
        }
        let question = TokenQuestion(
            scopes: scopes ?? ScopeSet(), atLeast: life, needsLife: minValid != nil, isFresh: fresh,
            narrowing: narrowing, isForIDToken: idToken)
        try SessionToken(profile, access, context).get(given, question, reading: isKnown ? reading : nil).take()
            .print(as: format, context.output)
    }

    private func narrowing(_ scopes: ScopeSet?) throws(Failure) -> TokenNarrowing? {
        guard !exactScope || scopes != nil else { throw Failure(usage: "--exact-scope needs the scopes in --scope") }
        guard exactScope || resource != nil else { return nil }
        guard let narrowing = TokenNarrowing(scopes: exactScope ? scopes ?? ScopeSet() : ScopeSet(), resource: resource) else {
            throw Failure(usage: "--resource is no address of at most 2048 printable characters without a #")
        }
        return narrowing
    }

    static let terminal = Failure(
        .usage, "a token is a secret, and standard output is a terminal",
        hint: "pipe it into the program that needs it; or --reveal prints it here")

    /// The default of `--min-valid`, in seconds.
    static let standardLife = TokenQuestion.standardLife

    static func scopes(_ text: String) throws(Failure) -> ScopeSet {
        let names = text.split { $0 == "," || $0 == " " }.map(String.init)
        guard let scopes = ScopeSet(names), !scopes.isEmpty else {
            throw Failure(usage: "--scope is not a list of 1 to 64 scopes with commas or blanks between them")
        }
        return scopes
    }
}
