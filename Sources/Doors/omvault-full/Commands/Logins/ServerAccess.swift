// The server of a login: whether it may be asked, and the secret and the program for asking it.

internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMItems
internal import OMOnlineModel
internal import OMShell

/// The server of a profile, if a request may ask it.
struct ServerAccess {
    /// The name of the client's secret in messages.
    private let secretName: String

    private let profile: Profile
    private let access: LoginAccess
    private let context: CommandContext
    private let mode: ConnectivityMode
    private let isSystem: Bool
    private let couldBeAnyUser: Bool
    /// The source of the client's secret.
    private let source: SecretSourceArgument?
    /// The place of the client's secret in the default vault.
    private let field: FieldPath?
    private let isAsked: Bool
    /// The certificate that is shown, if the profile shows one and the server is asked.
    private let identity: LoginIdentity?

    /// - Parameter takesBrowser: Whether the request may be a login without a password here.
    /// - Throws: If the request cannot succeed, so that the user types no password for it.
    init(
        _ profile: Profile, _ mode: ConnectivityMode, in access: LoginAccess, _ context: CommandContext,
        takesBrowser: Bool = false
    ) throws {
        (self.profile, self.access, self.context) = (profile, access, context)
        (self.mode, isSystem, couldBeAnyUser) = (mode, access.isSystem, profile.couldAnyUserBeServer)
        let client = profile.oauthClientSource
        secretName = (client?.key ?? .oauthClientSecret).rawValue
        var isAsked = profile.serverKind.isThere
        switch (mode, profile.serverKind) {
        case (.online, .none): throw AuthError.noServer
        case (.auto, .none), (.offline, .none):
            guard profile.offlineAuthAllowed else { throw AuthError.offlineNotAllowed }
        case (.offline, .unsupported), (.offline, .oauthClientCredentials): isAsked = false
        case (_, .oauthClientCredentials):
            throw Failure(
                .unsupported,
                "a profile with \(OAuthGrant.clientCredentials.rawValue) logs no user in: its tokens are of the client itself",
                hint: "omvault token get \(profile.name.text.asShellWord) --no-agent prints one")
        case (.offline, .oauthBrowser): throw BrowserLoginRun.noOffline
        case (.offline, .oauthAssertion): throw AssertionLoginRun.noOffline
        case (_, .oauthTokenExchange):
            throw Failure(
                .unsupported,
                "a profile with \(OAuthGrant.tokenExchange.rawValue) has no login: it exchanges tokens of other servers",
                hint: "omvault token exchange \(profile.name.text.asShellWord) --subject-from SOURCE")
        case (_, .oauthAssertion):
            guard !access.isSystem, takesBrowser else {
                throw Failure(
                    .unsupported, "no password can be checked: users of this profile log in with an assertion of another server",
                    hint: "omvault login --profile \(profile.name.text.asShellWord)")
            }
        case (_, .oauthBrowser):
            guard !access.isSystem, takesBrowser else {
                throw Failure(
                    .unsupported, "no password can be checked: users of this profile log in at the server's own pages",
                    hint: "omvault login --profile \(profile.name.text.asShellWord)")
            }
        case (.offline, .certificate): throw CertificateLoginRun.noOffline
        case (_, .certificate):
            guard !access.isSystem, takesBrowser else {
                throw Failure(
                    .unsupported, "no password can be checked: users of this profile log in with a client certificate",
                    hint: "omvault login --profile \(profile.name.text.asShellWord)")
            }
        case (_, .unsupported) where profile.needsOracleServer: throw Failure(needingOracle: profile)
        case (_, .unsupported(let type, let grant)):
            let kind = ([type.rawValue] + (grant.map { [$0.rawValue] } ?? [])).joined(separator: " with ")
            throw Failure(
                .unsupported, "this version cannot log in to a server of type \(kind)",
                hint: Failure.offlineHint)
        case (_, .basic), (_, .oauthResourceOwner), (_, .oamms): break
        }
        self.isAsked = isAsked
        identity = isAsked && mode != .offline ? try LoginIdentity.find(profile, access, context) : nil
        switch try isAsked ? client.map({ ($0.key, $0.source) }).map(ProfileSecret.init) : nil {
        case .none: (source, field) = (nil, nil)
        case .field(let path)?:
            guard !access.isSystem else {
                throw Failure(
                    .config, "\(secretName): vault:ITEM:FIELD is in a user's vault, and --system opens none",
                    hint: "use file:/PATH")
            }
            (source, field) = (nil, path)
        case .source(let given)?:
            if access.isSystem, case .credential? = given.source {
                throw Failure(
                    .config, "\(secretName): cred:NAME needs an environment variable, and --system reads none",
                    hint: "use file:/PATH")
            }
            (source, field) = (given, nil)
        }
    }

    /// The source by its name: none or one.
    var sources: [(key: String, value: SecretSourceArgument?)] { source.map { [(secretName, $0)] } ?? [] }

    /// - Returns: Nil if no server is asked.
    /// - Throws: ``AgentError`` if the program is missing, or if other users can change it.
    func provider(_ secrets: borrowing SecretSources) throws -> OnlineProvider? {
        guard isAsked else { return nil }
        guard mode != .offline else { return try? asked(secrets) }
        return try asked(secrets)
    }

    private func asked(_ secrets: borrowing SecretSources) throws -> OnlineProvider {
        guard !isSystem || !couldBeAnyUser else { throw AuthError.online(.failed(.unsafeAddress)) }
        let program = try AgentLauncher.program()
        do throws(AgentError) { try AgentProcess.check(program) } catch {
            // Without the program no server can be reached. So in auto mode the cached credential is checked, and counted, as
            // without a network. A program that another user can change is refused. The system store refuses a missing one too.
            guard case .programMissing = error, mode == .auto, !isSystem else { throw error }
            return OnlineProvider(program: nil)
        }
        let own = mode == .offline ? nil : try access.signer(for: profile, context)
        // Both are identities of the default vault. For the certificate the agent has it open.
        let signer = identity?.signer ?? own
        let known = own == nil ? [] : access.endpoints(of: profile)
        if let field {
            // An offline login opens no vault. Without the secret the server is not asked.
            guard mode != .offline else { return OnlineProvider(program: nil) }
            return OnlineProvider(
                program: program, clientSecret: try ProfileSecret.read(field, context), showing: identity?.chain, signing: signer,
                known: known)
        }
        guard source != nil else {
            return OnlineProvider(program: program, showing: identity?.chain, signing: signer, known: known)
        }
        do throws(Failure) {
            return OnlineProvider(
                program: program, clientSecret: try secrets.read(secretName, prompt: secretName),
                showing: identity?.chain, signing: signer, known: known)
        } catch {
            // The server refuses a client without its secret. That does not count as an unreachable server, so the login ends
            // here and the cached credential is not used.
            throw Failure(
                error.status, error.message,
                hints: error.hints + [
                    "set \(secretName) to the source of the client's secret; --mode offline does not need it"
                ],
                details: error.details)
        }
    }
}
