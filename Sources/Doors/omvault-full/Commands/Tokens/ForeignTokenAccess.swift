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
    private let context: CommandContext

    /// - Parameter given: Those options with sources of tokens.
    init(
        _ profile: Profile, _ access: LoginAccess, _ context: CommandContext,
        options given: [(key: String, value: SecretSourceArgument?)] = []
    ) throws {
        var sources = given.filter { $0.value != nil }
        let (client, user) = (profile.oauthClientSource, profile.oauthUserAssertion)
        for (key, source) in [client, user.map { ($0.key, $0.source) }].compactMap(\.self) {
            guard case .source(let source) = try ProfileSecret(key, source) else { continue }
            sources.append((key.rawValue, source))
        }
        let secrets = try SecretSources(context, sources)
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        let identity = try LoginIdentity.find(profile, access, context)
        let signer = try access.signer(for: profile, context)
        let secret: SecretBytes?
        if let client {
            secret = try Self.read(client.source, under: client.key, secrets, context)
        } else {
            secret = nil
        }
        provider = OnlineProvider(
            program: program, clientSecret: secret, showing: identity?.chain, signing: identity?.signer ?? signer,
            known: access.endpoints(of: profile))
        (self.profile, self.context) = (profile, context)
        self.secrets = secrets
    }

    /// The secret of a given option.
    borrowing func read(_ option: String) throws(Failure) -> SecretBytes { try secrets.read(option, prompt: option) }

    /// The form of the assertion in the profile's own source.
    ///
    /// - Throws: ``ExitStatus/config`` if the profile has none.
    func kind() throws(Failure) -> AssertionKind { try source().kind }

    /// The assertion in the profile's own source.
    borrowing func assertion() throws(Failure) -> SecretBytes {
        let own = try source()
        return try Self.read(own.source, under: own.key, secrets, context)
    }

    /// The secret at a place that the profile names under a key.
    private static func read(
        _ place: String, under key: ProfileKey, _ secrets: borrowing SecretSources, _ context: CommandContext
    ) throws(Failure) -> SecretBytes {
        let name = key.rawValue
        guard case .field(let path) = try ProfileSecret(key, place) else { return try secrets.read(name, prompt: name) }
        return try ProfileSecret.read(path, context, as: name)
    }

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
