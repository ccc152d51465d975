internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// `omvault profile discover`: makes a profile for an OAuth server from the server's own document.
struct ProfileDiscover: Verb {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Make a profile for an OAuth server from the address of its issuer.",
        discussion: """
            The issuer has a document that names its endpoints (OpenID Connect Discovery, else RFC 8414). This verb fetches it,
            shows the endpoints, and asks. The profile then has OAuthIssuer: a login believes only a document of exactly this
            issuer, and only endpoints at its origin and at those that you allowed here (OAuthEndpointOrigins). KEY=VALUE sets
            further keys, as for 'omvault profile set'.

              omvault profile discover work https://id.example.org --client-id omvault --grant OAuthResourceOwner
              omvault profile discover job https://id.example.org --client-id job --grant OAuthClientCredentials \\
                  OAuthClientSecret=file:/etc/job/secret OAuthScope=read
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile's name.", completion: .profiles)
    var name: String

    @Argument(help: "The issuer's address, spelled as the server spells it.")
    var issuer: String

    @Argument(help: ArgumentHelp("What else to set.", valueName: "key=value"))
    var values: [String] = []

    @Option(help: ArgumentHelp("The id of this client at the server.", valueName: "id"))
    var clientID: String

    @Option(
        help: ArgumentHelp(
            "How the profile gets tokens: a value of OAuthAuthZGrantType.", valueName: "grant"),
        completion: .list(OAuthGrant.allCases.map(\.rawValue)))
    var grant: String

    @OptionGroup var policy: PolicyOptions

    @Flag(help: systemStoreHelp)
    var system = false

    func run(_ context: CommandContext) throws {
        let name = try ProfileName(name)
        guard let issuer = ServerURL(issuer), !issuer.text.contains("?") else {
            throw Failure(
                .usage, "\"\(issuer.shown)\" is not the address of an issuer", hint: "the form is https://HOST[:PORT][/PATH]")
        }
        let typed = try ProfileChanges.typed(values, hint: "omvault profile discover --help")
        if let taken = typed.first(where: { ProfileKey(spelled: $0.key).map(Self.own.contains) ?? false }) {
            throw Failure(
                .usage, "'profile discover' sets \(taken.key) itself", hint: "omvault profile set changes it afterwards")
        }
        let access = try LoginAccess(context, system: system)
        var (changes, endpoints) = try ask(issuer, for: name, with: typed, access)
        let origins = Self.origins(of: endpoints, besides: issuer)
        show(endpoints, context.output)
        try context.confirm(question(name, issuer, origins, isThere: try access.profiles.names().contains(name)))
        let key = ProfileKey.oauthEndpointOrigins.rawValue
        if origins.isEmpty { changes.unset.append(key) } else { changes.values.append((key, origins.joined(separator: ","))) }
        try changes.save(access, fetchesPolicy: !policy.noFetch, context.output)
    }

    /// The keys that this verb sets, or that say the same in another way.
    private static let own: Set<ProfileKey> = [
        .authServerType, .oauthGrantType, .oauthDiscoveryURL, .oauthIssuer, .oauthEndpointOrigins, .oauthClientID,
        .oauthTokenEndpoint,
    ]

    // MARK: - The server

    /// Asks for the document at the places that the two standards name, in this order.
    ///
    /// - Returns: The changes that name the document, and the endpoints in it.
    private func ask(
        _ issuer: ServerURL, for name: ProfileName, with typed: [(key: String, value: String)], _ access: LoginAccess
    ) throws -> (ProfileChanges, [ServerEndpoint]) {
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        let provider = OnlineProvider(program: program)
        for place in Self.places(of: issuer) {
            let changes = changes(name, issuer, document: place, grant: grant, with: typed)
            let profile = try changes.preview(access)
            // Attack: another user of this machine listens at the server's port, and answers root.
            guard !access.isSystem || !profile.couldAnyUserBeServer else {
                throw Failure(AuthError.online(.failed(.unsafeAddress)), under: profile)
            }
            // The document does not depend on the grant, and this version may not have it yet.
            let asked = try self.changes(
                name, issuer, document: place, grant: OAuthGrant.resourceOwner.rawValue, with: typed
            ).preview(access)
            do throws(OnlineRefusal) {
                return (changes, try provider.endpoints(of: asked) ?? [])
            } catch {
                guard case .failed(.unexpectedAnswer, 404?, _) = error else { throw Failure(error, under: profile) }
            }
        }
        throw Failure(
            .remoteError, "the server has no document of the issuer \(issuer.text)",
            hint: "ask its administrator for the address of the issuer; or name its endpoints with 'omvault profile set'")
    }

    /// OpenID Connect appends its path to the issuer's, RFC 8414 puts it in front.
    private static func places(of issuer: ServerURL) -> [String] {
        let path = issuer.path.hasSuffix("/") ? String(issuer.path.dropLast()) : issuer.path
        return [
            "\(issuer.shortOrigin)\(path)/.well-known/openid-configuration",
            "\(issuer.shortOrigin)/.well-known/oauth-authorization-server\(path)",
        ]
    }

    private func changes(
        _ name: ProfileName, _ issuer: ServerURL, document: String, grant: String, with typed: [(key: String, value: String)]
    ) -> ProfileChanges {
        let own: [(ProfileKey, String)] = [
            (.authServerType, AuthServerType.oauth.rawValue), (.oauthGrantType, grant), (.oauthDiscoveryURL, document),
            (.oauthIssuer, issuer.text), (.oauthClientID, clientID),
        ]
        // An address that the profile had would be asked instead of the document.
        return ProfileChanges(
            name: name, values: own.map { ($0.0.rawValue, $0.1) } + typed,
            unset: [ProfileKey.oauthTokenEndpoint.rawValue])
    }

    // MARK: - The user

    /// The origins of the endpoints, but for the issuer's own.
    private static func origins(of endpoints: [ServerEndpoint], besides issuer: ServerURL) -> [String] {
        var found: [String] = []
        for endpoint in endpoints {
            guard let origin = ServerURL(endpoint.address)?.shortOrigin, origin != issuer.shortOrigin, !found.contains(origin)
            else { continue }
            found.append(origin)
        }
        return found
    }

    private func show(_ endpoints: [ServerEndpoint], _ output: Output) {
        for endpoint in endpoints { output.notice("\(endpoint.kind.name) = \(endpoint.address)") }
        if !endpoints.contains(where: { $0.kind == .token }) { output.notice("the server names no token endpoint") }
    }

    private func question(_ name: ProfileName, _ issuer: ServerURL, _ origins: [String], isThere: Bool) -> String {
        let others = origins.isEmpty ? "" : " and to \(origins.joined(separator: ", "))"
        let old = isThere ? " They change the existing profile." : ""
        return
            "Save these settings as profile \"\(name.text)\", which sends passwords and tokens to \(issuer.shortOrigin)\(others)?"
            + old
    }
}
