internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets

/// `omvault login check`: granted or denied, and nothing else.
struct LoginCheck: Verb {
    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case auto, online, offline

        var connectivity: ConnectivityMode {
            switch self {
            case .auto: .auto
            case .online: .online
            case .offline: .offline
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a user's password.",
        discussion: """
            online asks the profile's server and nobody else; offline looks at the cached credential and makes no
            connection; auto asks the server, and where it cannot be reached looks at the cached credential. A login
            online caches the credential anew, if that is allowed.

            Prints "granted ..." or "denied ..." and says the same in its exit code: 0 granted, 20 wrong password, 21 too
            early, 22 locked or blocked, 23 wiped, 24 nothing cached or expired, 30 damaged, 31 put back from a copy, 50
            the server was not reached, 51 it does not let the user in, 52 it gave no verdict or is not trusted.
            attempts_left is how many more wrong passwords are tolerated; the wrong one after them exceeds the limit.

              omvault login check ada --profile work
              omvault login check ada --profile work --mode offline
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginOptions
    @OptionGroup var stretch: StretchOptions

    @Option(help: ArgumentHelp("Where the password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: "auto, online or offline; the profile's ConnectivityMode, if not given.")
    var mode: Mode?

    func run(_ door: Door) throws {
        let access = try LoginAccess(door, system: login.system)
        let user = try UserName(login.user)
        let name = try access.profileName(login.profile)
        var way = mode?.connectivity ?? .auto
        var asked: LoginRequest?
        do {
            let profile = try access.profiles.profile(name)
            let request = LoginRequest(
                user, profile, domain: try login.identityDomain(profile), mode: mode?.connectivity)
            (way, asked) = (request.mode, request)
            let server = try LoginServer(profile, way, access)
            let secrets = try SecretSources(
                door, [("--password-from", passwordFrom)] + server.sources.map { (LoginServer.secretName, $0) })
            let provider = try server.provider(secrets)
            let password = try secrets.readLoginPassword("--password-from", prompt: "Password of \(user.text)")
            let authenticator = try access.authenticator(try stretch.parameters())
            let agent = SessionAgent(door, access)
            let receipt = try agent.following(request.login) { () throws(AuthError) in
                try authenticator.login(request, password: password, asking: provider)
            }
            try LoginReport(door.output).granted(receipt)
            agent.drop(receipt, request, provider)
        } catch let error as AuthError {
            try LoginReport(door.output).denied(error, user, name, way)
            let failure = Failure(
                error, under: asked?.profile,
                policy: asked.flatMap { try? access.authenticator().policy(of: $0.user, $0.profile, domain: $0.domain) })
            throw access.helpful(failure, user, asked?.profile, asked?.domain)
        } catch let error as AgentError {
            try LoginReport(door.output).denied(error, user, name, way)
            throw access.helpful(Failure(login: error), user, asked?.profile, asked?.domain)
        } catch let failure as Failure {
            throw access.helpful(failure, user, asked?.profile, asked?.domain)
        }
    }
}

/// The server of a profile, as far as a request may ask it.
struct LoginServer {
    /// What a client secret that cannot be read is called.
    static let secretName = ProfileKey.oauthClientSecret.rawValue

    private let mode: ConnectivityMode
    private let isSystem: Bool
    private let couldBeAnyUser: Bool
    /// Where the client's secret comes from: none or one.
    let sources: [SecretSourceArgument]
    private let isAsked: Bool

    /// Judges whether the request can come to anything, before anybody types a password.
    init(_ profile: Profile, _ mode: ConnectivityMode, _ access: LoginAccess) throws {
        (self.mode, isSystem, couldBeAnyUser) = (mode, access.isSystem, profile.couldAnyUserBeServer)
        var isAsked = profile.serverKind.isThere
        switch (mode, profile.serverKind) {
        case (.online, .none): throw AuthError.noServer
        case (.auto, .none), (.offline, .none):
            guard profile.offlineAuthAllowed else { throw AuthError.offlineNotAllowed }
        case (.offline, .unsupported): isAsked = false
        case (_, .unsupported(let type, let grant)):
            let kind = ([type.rawValue] + (grant.map { [$0.rawValue] } ?? [])).joined(separator: " with ")
            throw Failure(
                .unsupported, "this version does not speak with a server of type \(kind)",
                hint: Failure.offlineHint)
        case (_, .basic), (_, .oauthResourceOwner): break
        }
        self.isAsked = isAsked
        guard isAsked, let text = profile.oauthClientSecretSource else {
            sources = []
            return
        }
        let source = SecretSource(text)
        if access.isSystem, case .credential? = source {
            throw Failure(
                .config, "\(Self.secretName): cred: follows a variable, and with --system none is read",
                hint: "file:/PATH")
        }
        sources = source.map { [SecretSourceArgument($0)] } ?? []
    }

    /// - Returns: nil when nobody is to be asked.
    /// - Throws: ``AgentError`` for a program that is not there, or that others can change.
    func provider(_ secrets: borrowing SecretSources) throws -> OnlineProvider? {
        guard isAsked else { return nil }
        guard mode != .offline else { return try? asked(secrets) }
        return try asked(secrets)
    }

    private func asked(_ secrets: borrowing SecretSources) throws -> OnlineProvider {
        guard !isSystem || !couldBeAnyUser else { throw AuthError.online(.failed(.unsafeAddress)) }
        let program = try RunningAgent.program()
        do throws(AgentError) { try AgentProcess.check(program) } catch {
            // Who can take the program away could cut the network as well, with the same outcome: the cached credential is
            // checked, counted as ever. One that somebody else can change is a trap that is not stepped around, and what
            // root asks in the name of others is not decided by what is missing.
            guard case .programMissing = error, mode == .auto, !isSystem else { throw error }
            return OnlineProvider(program: nil)
        }
        guard !sources.isEmpty else { return OnlineProvider(program: program) }
        do throws(Failure) {
            return OnlineProvider(program: program, clientSecret: try secrets.read(Self.secretName, prompt: Self.secretName))
        } catch {
            // Without its secret the client would be refused, which is no server out of reach: nothing is cached over that.
            throw Failure(
                error.status, error.message,
                hints: error.hints + ["\(Self.secretName) says where the client's secret is; --mode offline does not need it"],
                details: error.details)
        }
    }
}
