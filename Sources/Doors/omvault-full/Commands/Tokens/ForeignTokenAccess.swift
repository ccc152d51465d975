internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// What a question with a token or an assertion of another server needs: the program that asks, the client's proof, and the sources.
struct ForeignTokenAccess: ~Copyable {
    let provider: OnlineProvider
    private let secrets: SecretSources
    private let profile: Profile

    /// - Parameter given: The options with sources of tokens.
    init(
        _ profile: Profile, _ context: CommandContext, _ given: [(key: String, value: SecretSourceArgument?)] = []
    ) throws {
        var sources = given.filter { $0.value != nil }
        let (client, user) = (profile.oauthClientSource, profile.oauthUserAssertion)
        for (key, source) in [client, user.map { ($0.key, $0.source) }].compactMap(\.self) {
            sources.append((key.rawValue, SecretSource(source).map { SecretSourceArgument($0) }))
        }
        let secrets = try SecretSources(context, sources)
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        let provider: OnlineProvider
        if let name = client?.key.rawValue {
            provider = OnlineProvider(program: program, clientSecret: try secrets.read(name, prompt: name))
        } else {
            provider = OnlineProvider(program: program)
        }
        (self.profile, self.provider) = (profile, provider)
        self.secrets = secrets
    }

    /// The secret of a given option.
    borrowing func read(_ option: String) throws(Failure) -> SecretBytes { try secrets.read(option, prompt: option) }

    /// The form of the assertion in the profile's own source.
    ///
    /// - Throws: ``ExitStatus/config`` if the profile has none.
    func kind() throws(Failure) -> AssertionKind { try source().kind }

    /// The assertion in the profile's own source.
    borrowing func assertion() throws(Failure) -> SecretBytes { try read(source().key.rawValue) }

    private borrowing func source() throws(Failure) -> Profile.AssertionSource {
        guard let source = profile.oauthUserAssertion else {
            let key = ProfileKey.oauthUserJWT.rawValue
            throw Failure(
                .config, "profile \"\(profile.name.text)\" names no source of a user's token",
                hint: "omvault profile set \(profile.name.text.asShellWord) \(key)=file:/PATH")
        }
        return source
    }
}
