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
            issuer, and only endpoints at its origin and at those that you allowed here (OAuthEndpointOrigins). --yes agrees to the
            issuer's own origin only; any other needs --allow-origin too. KEY=VALUE sets further keys, as for 'omvault profile set'.

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

    @Option(help: ArgumentHelp("Agree in advance to an endpoint at this origin; may be repeated.", valueName: "url"))
    var allowOrigin: [String] = []

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
        let old = try access.profiles.names().contains(name) ? try access.profiles.profile(name) : nil
        var (changes, endpoints) = try ask(issuer, for: name, over: old, with: typed, access)
        show(endpoints, context.output)
        guard endpoints.contains(where: { $0.kind == .token }) else {
            throw Failure(
                .remoteError, "the server names no token endpoint at a safe address",
                hint: "an endpoint must have https, or http within this machine; ask the server's administrator")
        }
        let origins = try self.origins(of: endpoints, besides: issuer, context)
        noteKept(of: old, issuer, besides: typed, context.output)
        try context.confirm(question(name, issuer, origins, isThere: old != nil))
        let key = ProfileKey.oauthEndpointOrigins.rawValue
        if origins.isEmpty { changes.unset.append(key) } else { changes.values.append((key, origins.joined(separator: ","))) }
        try changes.save(access, fetchesPolicy: !policy.noFetch, context.output)
        // The audience of this profile's assertions is one of them.
        let saved = try access.profiles.profile(name)
        if saved.clientProof.audience == .endpoint { try access.authenticator().storeEndpoints(endpoints, of: saved) }
    }

    /// The keys that this verb sets, or that say the same in another way.
    private static let own: Set<ProfileKey> = [
        .authServerType, .oauthGrantType, .oauthDiscoveryURL, .oauthIssuer, .oauthEndpointOrigins, .oauthClientID,
        .oauthTokenEndpoint, .oauthAuthorizationEndpoint, .oauthDeviceEndpoint, .openIDConnectDiscoveryURL,
    ]

    // MARK: - The server

    /// Asks for the document at the places that the two standards name, in this order.
    ///
    /// - Returns: The changes that name the document, and the endpoints in it.
    private func ask(
        _ issuer: ServerURL, for name: ProfileName, over old: Profile?, with typed: [(key: String, value: String)],
        _ access: LoginAccess
    ) throws -> (ProfileChanges, [ServerEndpoint]) {
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        let provider = OnlineProvider(program: program)
        var problem: Failure?
        for place in Self.places(of: issuer) {
            let changes = changes(name, issuer, document: place, grant: grant, with: typed, over: old)
            // Refused before any request: values that make no profile.
            _ = try changes.preview(access)
            // The document does not depend on the grant, and this version may not have it yet.
            let asked = try self.changes(
                name, issuer, document: place, grant: OAuthGrant.resourceOwner.rawValue, with: typed, over: old
            ).preview(access)
            // Attack: another user of this machine listens at the server's port, and answers root.
            guard !access.isSystem || !asked.couldAnyUserBeServer else {
                throw Failure(AuthError.online(.failed(.unsafeAddress)), under: asked)
            }
            do throws(OnlineRefusal) {
                return (changes, try provider.endpoints(of: asked) ?? [])
            } catch {
                // The server answered, so the other place may have the document.
                guard case .failed(let failure, let status, _) = error, !failure.isOurs else {
                    throw Failure(error, under: asked)
                }
                if status != 404 { problem = problem ?? Self.failure(error, of: issuer, under: asked) }
            }
        }
        throw problem
            ?? Failure(
                .remoteError, "the server has no document of the issuer \(issuer.text)",
                hint: "ask its administrator for the address of the issuer; or name its endpoints with 'omvault profile set'")
    }

    private static func failure(_ refusal: OnlineRefusal, of issuer: ServerURL, under profile: Profile) -> Failure {
        guard case .failed(.untrustedDiscovery, nil, _) = refusal else { return Failure(refusal, under: profile) }
        return Failure(
            .remoteError, "the server's document is not of the issuer \(issuer.text)",
            hint: "type the issuer exactly as the server spells it, with or without a slash at its end")
    }

    /// OpenID Connect appends its path to the issuer's, RFC 8414 puts it in front.
    private static func places(of issuer: ServerURL) -> [String] {
        let path = issuer.path.hasSuffix("/") ? String(issuer.path.dropLast()) : issuer.path
        return [
            "\(issuer.shortOrigin)\(path)/.well-known/openid-configuration",
            "\(issuer.shortOrigin)/.well-known/oauth-authorization-server\(path)",
        ]
    }

    /// - Parameter old: The profile that is there. Its other settings stay.
    private func changes(
        _ name: ProfileName, _ issuer: ServerURL, document: String, grant: String, with typed: [(key: String, value: String)],
        over old: Profile?
    ) -> ProfileChanges {
        var own: [(ProfileKey, String)] = [
            (.authServerType, AuthServerType.oauth.rawValue), (.oauthGrantType, grant), (.oauthDiscoveryURL, document),
            (.oauthIssuer, issuer.text), (.oauthClientID, clientID),
        ]
        // Any free port of this machine: what RFC 8252 has servers allow.
        if grant == OAuthGrant.authorizationCode.rawValue, old?.values[.oauthRedirectEndpoint] == nil,
            !typed.contains(where: { ProfileKey(spelled: $0.key) == .oauthRedirectEndpoint })
        {
            own.append((.oauthRedirectEndpoint, Self.loopback))
        }
        // An address that the profile had would be asked instead of the document.
        return ProfileChanges(
            name: name, values: own.map { ($0.0.rawValue, $0.1) } + typed,
            unset: [ProfileKey.oauthTokenEndpoint.rawValue])
    }

    /// The redirect address of a profile that names none.
    private static let loopback = "http://127.0.0.1"

    // MARK: - The user

    /// The endpoints that a login uses. All others are only shown.
    private var used: Set<ServerEndpoint.Kind> {
        switch OAuthGrant(rawValue: grant) {
        case .authorizationCode: [.token, .revocation, .authorization, .device, .pushedRequest, .keySet, .userInfo]
        case .deviceCode: [.token, .revocation, .device, .keySet, .userInfo]
        default: [.token, .revocation]
        }
    }

    /// The origins of the endpoints that a login uses, but for the issuer's own.
    ///
    /// - Throws: ``ExitStatus/policy`` for an origin that no one agreed to, with `--yes`. Attack: an attacker changes the document on the day
    ///   on which a script with `--yes` sets the profile up. He would get the passwords.
    private func origins(
        of endpoints: [ServerEndpoint], besides issuer: ServerURL, _ context: CommandContext
    ) throws(Failure) -> [String] {
        var found: [String] = []
        for endpoint in endpoints where used.contains(endpoint.kind) {
            guard let origin = ServerURL(endpoint.address)?.shortOrigin, origin != issuer.shortOrigin, !found.contains(origin)
            else { continue }
            found.append(origin)
        }
        var allowed: [String] = []
        for text in allowOrigin {
            guard let origin = ServerURL(text), origin.isOrigin else {
                throw Failure(usage: "--allow-origin \(text.shown) is not an address without a path")
            }
            allowed.append(origin.shortOrigin)
        }
        let refused = found.filter { !allowed.contains($0) }
        guard refused.isEmpty || !context.assumesYes else {
            throw Failure(
                .policy, "endpoints have other origins than the issuer's: \(refused.joined(separator: ", "))",
                hint: "if you trust them: " + refused.map { "--allow-origin \($0)" }.joined(separator: " "))
        }
        return found
    }

    private func show(_ endpoints: [ServerEndpoint], _ output: Output) {
        for endpoint in endpoints {
            output.notice(
                "\(endpoint.kind.name) = \(endpoint.address)\(used.contains(endpoint.kind) ? "" : " (no login uses it)")")
        }
    }

    /// Names the values of another server that stay in the profile, and that the new server would get.
    private func noteKept(
        of old: Profile?, _ issuer: ServerURL, besides typed: [(key: String, value: String)], _ output: Output
    ) {
        guard let old, old.serverOrigin != issuer.origin else { return }
        let given = Set(typed.compactMap { ProfileKey(spelled: $0.key) })
        let kept = [ProfileKey.oauthClientSecret, .customAuthHeaders].filter { old.values[$0] != nil && !given.contains($0) }
        guard !kept.isEmpty else { return }
        output.notice(
            "the profile keeps \(kept.map(\.rawValue).joined(separator: " and ")) of \(old.serverOrigin), which the new server gets"
        )
    }

    private func question(_ name: ProfileName, _ issuer: ServerURL, _ origins: [String], isThere: Bool) -> String {
        let others = origins.isEmpty ? "" : " and to \(origins.joined(separator: ", "))"
        let old = isThere ? "The profile is there, and these settings change it. " : ""
        let sent =
            switch OAuthGrant(rawValue: grant) {
            case .clientCredentials: "the client's secret"
            case .authorizationCode, .deviceCode: "users and their tokens"
            default: "passwords and tokens"
            }
        return old + "Save these settings as profile \"\(name.text)\", which sends \(sent) to \(issuer.shortOrigin)\(others)?"
    }
}
