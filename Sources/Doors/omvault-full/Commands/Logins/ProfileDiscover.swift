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
            issuer's own origin only; any other needs --allow-origin too, but for those of a preset. KEY=VALUE sets further keys, as for 'omvault profile set'.

            --register registers a new client at the server, if the server lets clients do so; 'omvault client' manages it.

            --preset has what is known of a public server: its address, the scopes, and the name of the user. 'omvault profile preset ls'
            lists the presets. You register a client there yourself, and give its id.

              omvault profile discover work https://id.example.org --client-id omvault --grant OAuthResourceOwner
              omvault profile discover job https://id.example.org --client-id job --grant OAuthClientCredentials \\
                  OAuthClientSecret=file:/etc/job/secret OAuthScope=read
              omvault profile discover forge --preset gitlab --client-id 0123abcd
              omvault profile discover lab https://id.example.org --register
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile's name.", completion: .profiles)
    var name: String

    @Argument(help: "The issuer's address, spelled as the server spells it. A preset may name it.")
    var issuer: String?

    @Argument(help: ArgumentHelp("What else to set.", valueName: "key=value"))
    var values: [String] = []

    @Option(help: ArgumentHelp("The id of this client at the server.", valueName: "id"))
    var clientID: String?

    @Flag(help: "Register a new client at the server, in place of --client-id.")
    var register = false

    @OptionGroup var registration: ClientRegistrationOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    @Option(
        help: ArgumentHelp(
            "How the profile gets tokens: a value of OAuthAuthZGrantType.", valueName: "grant"),
        completion: .list(OAuthGrant.allCases.map(\.rawValue)))
    var grant = OAuthGrant.authorizationCode.rawValue

    @Option(help: ArgumentHelp("What is known of this server.", valueName: "preset"), completion: .presets)
    var preset: String?

    @Option(help: ArgumentHelp("Agree in advance to an endpoint at this origin; may be repeated.", valueName: "url"))
    var allowOrigin: [String] = []

    @OptionGroup var policy: PolicyOptions

    @Flag(help: systemStoreHelp)
    var system = false

    func validate() throws {
        guard (clientID != nil) != register else {
            throw ValidationError("give --client-id, or --register for a new client")
        }
        if register, system {
            throw ValidationError("--register keeps the client's secret in a user's vault, and --system opens none")
        }
        if !register, registration.isGiven { throw ValidationError("the options of a registration need --register") }
    }

    func run(_ context: CommandContext) throws {
        let name = try ProfileName(name)
        let preset = try self.preset.map(ProfilePreset.named)
        var values = values
        let issuer = try issuer(of: preset, &values)
        var typed = try ProfileChanges.typed(values, hint: "omvault profile discover --help")
        if let taken = typed.first(where: { ProfileKey(spelled: $0.key).map(Self.own.contains) ?? false }) {
            throw Failure(
                .usage, "'profile discover' sets \(taken.key) itself", hint: "omvault profile set changes it afterwards")
        }
        let access = try LoginAccess(context, system: system)
        let old = try access.profiles.names().contains(name) ? try access.profiles.profile(name) : nil
        if let preset {
            preset.describe(context.output)
            preset.describeSettings(context.output)
            let keys = typed.map { ProfileKey(spelled: $0.key) }
            typed += preset.settings.filter { !keys.contains($0.key) && !Self.own.contains($0.key) }
                .map { ($0.key.rawValue, $0.value) }
        }
        var changes: ProfileChanges
        let endpoints: [ServerEndpoint], server: ServerURL
        if let issuer {
            (changes, endpoints) = try IssuerDocument(issuer).ask(access) { document, grant in
                self.changes(name, issuer, document: document, grant: grant ?? self.grant, with: typed, over: old)
            }
            server = issuer
        } else {
            guard let preset, let token = preset[.oauthTokenEndpoint].flatMap(ServerURL.init) else {
                throw Failure(.usage, "no issuer given", hint: "omvault profile discover --help")
            }
            (changes, endpoints) = (self.changes(name, of: preset, with: typed, over: old), preset.endpoints)
            _ = try changes.preview(access)
            server = token
        }
        show(endpoints, context.output)
        let isImplicit = grant == OAuthGrant.implicit.rawValue
        guard endpoints.contains(where: { $0.kind == (isImplicit ? .authorization : .token) }) else {
            throw Failure(
                .remoteError, "the server names no \(isImplicit ? "authorization" : "token") endpoint at a safe address",
                hint: "an endpoint must have https, or http within this machine; ask the server's administrator")
        }
        let origins = try self.origins(of: endpoints, besides: server, agreed: preset?.origins ?? [], context)
        noteKept(of: old, server, besides: typed, context.output)
        try context.confirm(question(name, server, origins, isThere: old != nil))
        let key = ProfileKey.oauthEndpointOrigins.rawValue
        // Without a document the profile names each endpoint.
        if origins.isEmpty || issuer == nil {
            changes.unset.append(key)
        } else {
            changes.values.append((key, origins.joined(separator: ",")))
        }
        if register {
            let client = try ClientOfProfile(name, registration.sources, unlocking: unlock, context)
            try client.checkAbsent()
            let registered = try client.register(try changes.preview(access), registration)
            let given = try client.changes(registered)
            changes.values.removeAll { value in given.contains { $0.key == value.key } }
            changes.values += given
            let dropped = try client.unset(registered)
            changes.values.removeAll { dropped.contains($0.key) }
            changes.unset += dropped.filter { key in !changes.unset.contains(key) }
            if registered.address == nil {
                context.output.notice("the server gave no address of its own where this registration is managed")
            }
            context.output.notice("registered the client \(registered.id.shown)")
        }
        try changes.save(access, fetchesPolicy: !policy.noFetch, context.output)
        // The audience of this profile's assertions is one of them.
        let saved = try access.profiles.profile(name)
        if saved.clientProof.audience == .endpoint { try access.authenticator().storeEndpoints(endpoints, of: saved) }
    }

    /// The issuer: the typed one, else the preset's. Nil if the preset names each endpoint.
    ///
    /// - Parameter values: Gets the text in the issuer's place if that is KEY=VALUE.
    private func issuer(of preset: ProfilePreset?, _ values: inout [String]) throws(Failure) -> ServerURL? {
        var text = issuer
        if preset != nil, let given = text, ServerURL(given) == nil, given.contains("=") {
            values.insert(given, at: 0)
            text = nil
        }
        guard let text = text ?? preset?[.oauthIssuer] else {
            guard let form = preset?.issuerForm else { return nil }
            throw Failure(.usage, "the preset names no server: type the issuer of yours", hint: "its form is \(form)")
        }
        guard preset?[.oauthTokenEndpoint] == nil else {
            throw Failure(.usage, "the preset \(self.preset ?? "") names the server itself", hint: "leave the issuer out")
        }
        guard let issuer = ServerURL(text), !issuer.text.contains("?") else {
            throw Failure(
                .usage, "\"\(text.shown)\" is not the address of an issuer", hint: "the form is https://HOST[:PORT][/PATH]")
        }
        return issuer
    }

    /// The keys that this verb sets, or that say the same in another way.
    private static let own: Set<ProfileKey> = [
        .authServerType, .oauthGrantType, .oauthDiscoveryURL, .oauthIssuer, .oauthEndpointOrigins, .oauthClientID,
        .oauthTokenEndpoint, .oauthAuthorizationEndpoint, .oauthDeviceEndpoint, .openIDConnectDiscoveryURL,
        .openIDConnectConfiguration,
    ]

    // MARK: - The changes

    /// - Parameter old: The profile that is there. Its other settings stay.
    private func changes(
        _ name: ProfileName, _ issuer: ServerURL, document: String, grant: String, with typed: [(key: String, value: String)],
        over old: Profile?
    ) -> ProfileChanges {
        var own: [(ProfileKey, String)] = [
            (.authServerType, AuthServerType.oauth.rawValue), (.oauthGrantType, grant), (.oauthDiscoveryURL, document),
            (.oauthIssuer, issuer.text),
        ]
        own += client(of: name, typed)
        if needsRedirect(old, typed) { own.append((.oauthRedirectEndpoint, Self.loopback)) }
        // An address that the profile had would be asked instead of the document.
        return ProfileChanges(
            name: name, values: own.map { ($0.0.rawValue, $0.1) } + typed,
            unset: [ProfileKey.oauthTokenEndpoint, .openIDConnectConfiguration].map(\.rawValue))
    }

    /// A preset whose server has no document: the profile names each endpoint.
    private func changes(
        _ name: ProfileName, of preset: ProfilePreset, with typed: [(key: String, value: String)], over old: Profile?
    ) -> ProfileChanges {
        var own: [(ProfileKey, String)] = [
            (.authServerType, AuthServerType.oauth.rawValue), (.oauthGrantType, grant),
        ]
        own += client(of: name, typed)
        own += preset.settings.filter { Self.own.contains($0.key) }.map { ($0.key, $0.value) }
        if needsRedirect(old, typed) { own.append((.oauthRedirectEndpoint, Self.loopback)) }
        return ProfileChanges(
            name: name, values: own.map { ($0.0.rawValue, $0.1) } + typed,
            unset: [ProfileKey.oauthDiscoveryURL, .openIDConnectDiscoveryURL, .openIDConnectConfiguration, .oauthIssuer].map(
                \.rawValue))
    }

    /// The client's id and the source of its secret. Before the registration the id is "unregistered".
    private func client(of name: ProfileName, _ typed: [(key: String, value: String)]) -> [(ProfileKey, String)] {
        guard register else { return [(.oauthClientID, clientID ?? "")] }
        guard grant == OAuthGrant.clientCredentials.rawValue,
            !typed.contains(where: { ProfileKey(spelled: $0.key) == .oauthClientSecret })
        else { return [(.oauthClientID, "unregistered")] }
        return [(.oauthClientID, "unregistered"), (.oauthClientSecret, ClientOfProfile.secretPlace(of: name))]
    }

    /// Whether a login in a browser has no redirect address yet.
    private func needsRedirect(_ old: Profile?, _ typed: [(key: String, value: String)]) -> Bool {
        [OAuthGrant.authorizationCode, .implicit].map(\.rawValue).contains(grant) && old?.values[.oauthRedirectEndpoint] == nil
            && !typed.contains { ProfileKey(spelled: $0.key) == .oauthRedirectEndpoint }
    }

    /// The redirect address of a profile that names none: any free port of this machine, which RFC 8252 has servers allow.
    private static let loopback = "http://127.0.0.1"

    // MARK: - The user

    /// The endpoints that a login uses, or a question about its token. All others are only shown.
    private var used: Set<ServerEndpoint.Kind> {
        let others: Set<ServerEndpoint.Kind> =
            switch OAuthGrant(rawValue: grant) {
            case .authorizationCode: [.authorization, .device, .pushedRequest, .keySet, .userInfo, .endSession]
            case .deviceCode: [.device, .keySet, .userInfo]
            case .implicit: [.authorization, .pushedRequest, .keySet, .userInfo, .endSession]
            default: []
            }
        var all: Set<ServerEndpoint.Kind> = [.token, .revocation, .introspection]
        if grant == OAuthGrant.implicit.rawValue { all.remove(.token) }
        return others.union(register ? all.union([.clientRegistration]) : all)
    }

    /// The origins of the endpoints that a login uses, but for the issuer's own.
    ///
    /// - Parameter agreed: Those that a preset names.
    /// - Throws: ``ExitStatus/policy`` for an origin that no one agreed to, with `--yes`. Attack: an attacker changes the document on the day
    ///   on which a script with `--yes` sets the profile up. He would get the passwords.
    private func origins(
        of endpoints: [ServerEndpoint], besides server: ServerURL, agreed: [String], _ context: CommandContext
    ) throws(Failure) -> [String] {
        var found: [String] = []
        for endpoint in endpoints where used.contains(endpoint.kind) {
            guard let origin = ServerURL(endpoint.address)?.shortOrigin, origin != server.shortOrigin, !found.contains(origin)
            else { continue }
            found.append(origin)
        }
        var allowed = agreed
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
        of old: Profile?, _ server: ServerURL, besides typed: [(key: String, value: String)], _ output: Output
    ) {
        guard let old, old.serverOrigin != server.origin else { return }
        let given = Set(typed.compactMap { ProfileKey(spelled: $0.key) })
        let kept = [ProfileKey.oauthClientSecret, .customAuthHeaders].filter { old.values[$0] != nil && !given.contains($0) }
        guard !kept.isEmpty else { return }
        output.notice(
            "the profile keeps \(kept.map(\.rawValue).joined(separator: " and ")) of \(old.serverOrigin), which the new server gets"
        )
    }

    private func question(_ name: ProfileName, _ server: ServerURL, _ origins: [String], isThere: Bool) -> String {
        let others = origins.isEmpty ? "" : " and to \(origins.joined(separator: ", "))"
        let old = isThere ? "The profile is there, and these settings change it. " : ""
        let sent =
            switch OAuthGrant(rawValue: grant) {
            case .clientCredentials: "the client's secret"
            case .authorizationCode, .deviceCode, .implicit: "users and their tokens"
            default: "passwords and tokens"
            }
        return old + "Save these settings as profile \"\(name.text)\", which sends \(sent) to \(server.shortOrigin)\(others)?"
    }
}
