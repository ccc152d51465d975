// Joins a login to the online helper. It turns a profile into a question, and the helper's answer into the login's answer.

internal import OMAgentProtocol
public import OMAuth
public import OMOnlineModel
public import OMSecrets
internal import OMSystem

/// Asks the server of a profile, through a process that knows no key and ends with its answer.
///
///     let provider = OnlineProvider(program: "/usr/bin/omvault-agent")
///     let receipt = try await authenticator.login(request, password: password, asking: provider)
public final class OnlineProvider: Provider {
    private let client: OnlineClient?
    let clientSecret: SecretBytes
    /// The certificate for a profile that shows one.
    let chain: ClientChain?
    private let longest: UInt32
    /// Signs with the key of the certificate, and with the key that proves the client.
    private let signer: (any QuestionSigner)?
    /// The server's endpoints, as a document named them before.
    private let known: [ServerEndpoint]
    /// Whether the last login in a browser was by a code for another device.
    let wasByDevice = Guarded(false)
    /// The key to which the tokens of the last login are bound.
    private let tokenKey = Guarded<TokenKey?>(nil)

    /// - Parameters:
    ///   - program: The absolute path of the agent's program. Only this user and root may be able to change it or its folder.
    ///     If nil, there is none, and no server is asked.
    ///   - clientSecret: The secret of a profile with `OAuthClientSecret`. Nil for a public client.
    ///   - longest: The most milliseconds that a login may take, whatever the profile says.
    public convenience init(program: String?, clientSecret: consuming SecretBytes? = nil, longest: UInt32 = .max) {
        self.init(program: program, clientSecret: clientSecret, longest: longest, signing: nil)
    }

    /// - Parameters:
    ///   - chain: The certificate for a profile that shows one. Nil: none is shown.
    ///   - signer: Signs with the key of the certificate, and with the profile's `OAuthClientKey`. Nil without one.
    ///   - known: The server's endpoints, as a document named them before. An assertion for an endpoint's address needs them.
    package init(
        program: String?, clientSecret: consuming SecretBytes? = nil, longest: UInt32 = .max,
        showing chain: ClientChain? = nil, signing signer: (any QuestionSigner)?, known: [ServerEndpoint] = []
    ) {
        (self.longest, self.chain, self.signer, self.known) = (longest, chain, signer, known)
        client = program.map { OnlineClient(program: $0) }
        self.clientSecret = clientSecret ?? SecretBytes(copying: [])
    }

    public func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking prompter: any LoginPrompter,
        cancellation: Cancellation
    ) -> ProviderAnswer {
        let service: OnlineService
        do throws(OnlineRefusal) {
            service = try OnlineService(login).within(longest: longest).showing(chain, for: login.profile)
        } catch { return .refused(error) }
        let event = OnlineCancellation()
        var reply = cancellation.watched({ event.cancel() }) {
            ask(
                .login(
                    login.user.text, password: password.bytes.duplicate(), of: service,
                    clientSecret: clientSecret.duplicate()),
                event)
        }
        for _ in 0..<Self.mostRounds {
            switch consume reply {
            case .asked(let questions, let state):
                // Attack: the helper of a service without questions was taken over and asks for other secrets.
                guard case .oamms = service.kind else { return .refused(.failed(.helper)) }
                guard let answers = Self.answers(to: questions, prompter) else { return .refused(.failed(.challenge)) }
                reply = cancellation.watched({ event.cancel() }) {
                    ask(
                        .answer(
                            answers.duplicate(), to: state.duplicate(), user: login.user.text,
                            password: password.bytes.duplicate(), of: service),
                        event)
                }
            case .accepted(let acceptance): return Self.accepted(acceptance, login)
            case .refused(let refusal): return .refused(refusal)
            }
        }
        switch consume reply {
        case .refused(let refusal): return .refused(refusal)
        case .accepted(let acceptance): return Self.accepted(acceptance, login)
        case .asked: return .refused(.failed(.challenge))
        }
    }

    /// How often a server may ask for answers in one login: at the registration and at the login itself.
    private static let mostRounds = 2

    /// The answers, each followed by a line feed. Nil if the person gives none.
    private static func answers(to questions: [String], _ prompter: any LoginPrompter) -> SecretBytes? {
        var answers = SecretBuffer()
        for question in questions {
            guard let answer = prompter.answer(SecretQuestion(question)) else { return nil }
            let isLine = answer.withBytes { bytes in bytes.indices.allSatisfy { bytes[$0] != UInt8(ascii: "\n") } }
            guard isLine else { return nil }
            answers.append(answer)
            answers.append(UInt8(ascii: "\n"))
        }
        return answers.finish()
    }

    private static func accepted(_ acceptance: consuming OnlineAcceptance, _ login: ProviderQuestion) -> ProviderAnswer {
        let (time, lifetime) = (acceptance.serverTime, acceptance.lifetime)
        let (policy, policyProblem) = Self.policy(acceptance.profile, login.profile)
        return .accepted(
            policy: policy, policyProblem: policyProblem, serverTime: time, session: acceptance.session,
            access: acceptance.access, lifetime: lifetime)
    }

    /// Fetches the policy of a profile's server without a login, for example when a profile is set up.
    ///
    /// - Returns: nil if the profile has no address for a policy.
    /// - Throws: ``AuthError/policyMissing(_:)``.
    public func policy(of profile: Profile) throws(AuthError) -> ServerPolicy? {
        try policy(of: profile, OnlineCancellation())
    }

    func policy(of profile: Profile, _ event: OnlineCancellation) throws(AuthError) -> ServerPolicy? {
        guard profile.hasServerPolicy else { return nil }
        let service: OnlineService
        do throws(OnlineRefusal) { service = try OnlineService(profile, .none).showing(chain, for: profile) } catch {
            throw .policyMissing(.notFetched(error))
        }
        switch ask(.profile(of: service), event) {
        case .refused(let refusal): throw .policyMissing(.notFetched(refusal))
        case .accepted(let acceptance):
            let (policy, policyProblem) = Self.policy(acceptance.profile, profile)
            guard let policy else { throw .policyMissing(policyProblem ?? .notAsked) }
            return policy
        // The protocol refuses questions here.
        case .asked: throw .policyMissing(.notFetched(.failed(.helper)))
        }
    }

    /// Whether a profile's server has a document that names its endpoints.
    package static func namesEndpoints(_ profile: Profile) -> Bool {
        (try? OnlineService(profile, .none))?.namesEndpoints ?? true
    }

    /// Fetches the endpoints that a profile's server names in a document of its own, without a login.
    ///
    /// - Returns: nil if the profile alone names the endpoints, or has no server.
    package func endpoints(of profile: Profile) throws(OnlineRefusal) -> [ServerEndpoint]? {
        if case .none = profile.serverKind { return nil }
        let service = try OnlineService(profile, .none).showing(chain, for: profile)
        guard service.namesEndpoints else { return nil }
        let acceptance = try ask(.endpoints(of: service), OnlineCancellation()).get()
        // Attack: the helper was taken over, and gives a text that is no address to show. A profile could not have it.
        guard let endpoints = acceptance.endpoints, endpoints.allSatisfy({ ServerURL($0.address) != nil }) else {
            throw .failed(.helper)
        }
        return endpoints
    }

    /// A policy counts only if every part of it is understood.
    private static func policy(_ answer: ProfileAnswer, _ profile: Profile) -> (ServerPolicy?, PolicyProblem?) {
        switch answer {
        case .notAsked: return (nil, profile.hasServerPolicy ? .notAsked : nil)
        // The answer was not an application profile.
        case .missing(.failed(.unusableProfile, nil, _)): return (nil, .notUnderstood)
        case .missing(let refusal): return (nil, .notFetched(refusal))
        case .given(let given):
            if let policy = try? ServerPolicy(given, application: profile.applicationName) { return (policy, nil) }
            return (nil, given.isFor(profile.applicationName) ? .notUnderstood : .otherApplication)
        }
    }

    /// The data that the agent needs to continue the session of a login.
    ///
    /// - Returns: nil if the profile names no server, or if a part is too long for the protocol.
    func serverPart(
        of request: LoginRequest, session: consuming SecretBytes?, access: consuming AccessToken?, expires: Int64?
    ) -> NewSession.ServerPart? {
        guard let service = (try? OnlineService(request.question).showing(chain, for: request.profile)).map(knowing),
            service.fitsWire,
            clientSecret.count <= OnlineQuestion.maximumSecret
        else { return nil }
        return NewSession.ServerPart(
            service: wasByDevice.withLock { $0 } ? service.byDevice() : service, clientSecret: clientSecret.duplicate(),
            logout: Self.logoutTime(request.profile),
            session: session ?? SecretBytes(copying: []), access: access, expires: expires,
            vault: service.identities.isEmpty ? nil : signer?.vault,
            tokenKey: service.isBoundToKey ? tokenKey.withLock { $0 } : nil)
    }

    /// The service with the endpoints that are known, where the profile does not name them.
    private func knowing(_ service: OnlineService) -> OnlineService {
        guard case .oauth(let oauth) = service.kind, oauth.proof.endpoints.isEmpty, oauth.proof.audience == .endpoint else {
            return service
        }
        return service.knowing(known)
    }

    /// Ends a session at its server that the caller does not keep.
    ///
    /// - Returns: Why the session continues at the server. Nil if it does not.
    public func end(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal? {
        let service: OnlineService
        do throws(OnlineRefusal) { service = try OnlineService(request.question).showing(chain, for: request.profile) } catch {
            return error
        }
        let deadlines = OnlineDeadlines(
            connect: service.deadlines.connect, total: min(Self.logoutTime(request.profile), service.deadlines.total))
        let question = OnlineQuestion.logout(
            session, of: service.within(deadlines), clientSecret: clientSecret.duplicate())
        switch ask(question, OnlineCancellation()) {
        case .accepted: return nil
        case .refused(let refusal): return refusal
        case .asked: return .failed(.helper)
        }
    }

    /// In milliseconds.
    private static func logoutTime(_ profile: Profile) -> UInt32 {
        UInt32(clamping: (profile.logoutTimeOut ?? profile.totalTimeOut) * 1_000)
    }

    func ask(
        _ question: consuming OnlineQuestion, listening: [Int32] = [], prompting prompter: (any BrowserPrompter)? = nil,
        _ event: OnlineCancellation
    ) -> OnlineReply {
        guard let client else { return .refused(.unreachable(.noHelper)) }
        var key: TokenKey?
        if question.service.isBoundToKey, question.task.bringsTokens {
            // Each login has a key of its own. Only the agent gets it, with the session.
            key = TokenKey.make()
            guard key != nil else { return .refused(.failed(.helper)) }
            tokenKey.withLock { $0 = key }
        }
        do throws(AgentError) {
            return try client.ask(
                question.about(knowing(question.service)).bound(to: key), listening: listening, prompting: prompter,
                signing: signer,
                cancellation: event)
        } catch {
            return .refused(.failed(.helper))
        }
    }
}

extension OnlineService {
    /// With the certificate, if the profile shows one.
    ///
    /// - Throws: ``OnlineFailure/unusableCertificate`` if it must be shown, and there is none.
    func showing(_ chain: ClientChain?, for profile: Profile) throws(OnlineRefusal) -> OnlineService {
        guard profile.presentsClientCertificate else { return self }
        guard let chain else {
            guard profile.serverKind != .certificate else { throw .failed(.unusableCertificate) }
            return self
        }
        return showing(chain)
    }

    fileprivate func within(longest: UInt32) -> OnlineService {
        within(OnlineDeadlines(connect: min(deadlines.connect, longest), total: min(deadlines.total, longest)))
    }

    /// The service to ask about `login`.
    fileprivate init(_ login: ProviderQuestion) throws(OnlineRefusal) {
        try self.init(login.profile, login.domain)
        // No user logs in there.
        guard !isOfClient else { throw .failed(.unsupportedGrant) }
    }

    /// The server of a profile, for an application that asks it in its own process.
    ///
    /// - Throws: ``OnlineRefusal/failed(_:status:retryAfter:)`` if the profile names no server that can be asked.
    public init(_ profile: Profile, _ domain: IdentityDomain = .none) throws(OnlineRefusal) {
        self.init(
            try Self.kind(profile), domain: Self.domain(profile, domain),
            headers: profile.serverHeaders.map { Header($0.name, $0.value) },
            trusted: try Self.trusted(profile),
            profile: profile.serverKind.isWithoutPassword ? nil : profile.profileURL?.text,
            deadlines: OnlineDeadlines(
                connect: UInt32(clamping: profile.connectTimeOut * 1_000),
                total: UInt32(clamping: profile.totalTimeOut * 1_000)))
    }

    private static func kind(_ profile: Profile) throws(OnlineRefusal) -> Kind {
        switch profile.serverKind {
        case .basic:
            guard let login = profile.loginURL else { throw .failed(.unsafeAddress) }
            return .basic(Self.addresses(profile, login))
        case .certificate:
            guard let login = profile.loginURL else { throw .failed(.unsafeAddress) }
            return .certificate(Self.addresses(profile, login))
        case .oauthResourceOwner: return try oauth(profile, .resourceOwner)
        case .oauthClientCredentials: return try oauth(profile, .clientCredentials)
        case .oauthBrowser: return try oauth(profile, browserGrant(profile))
        case .oauthAssertion: return try oauth(profile, .assertion)
        case .oauthTokenExchange: return try oauth(profile, .tokenExchange)
        case .oamms:
            guard let server = profile.oammsServer else { throw .failed(.unsafeAddress) }
            return .oamms(
                OAMMSService(
                    server.text, serviceDomain: profile.oammsServiceDomain ?? "", application: profile.applicationName))
        case .none, .unsupported: throw .failed(.unsupportedGrant)
        }
    }

    private static func browserGrant(_ profile: Profile) -> OAuthService.Grant {
        switch profile.oauthGrant {
        case .deviceCode: .deviceCode
        case .implicit: .implicit
        default: .authorizationCode
        }
    }

    private static func addresses(_ profile: Profile, _ login: ServerURL) -> BasicService {
        BasicService(
            login: login.text, logout: profile.logoutURL?.text, requiredTokens: profile.requiredTokens,
            sendsHeadersAtLogout: profile.sendCustomHeadersInLogout)
    }

    private static func oauth(_ profile: Profile, _ grant: OAuthService.Grant) throws(OnlineRefusal) -> Kind {
        let endpoint: OAuthService.Endpoint
        if let token = profile.oauthTokenEndpoint {
            endpoint = .token(token.text, revocation: profile.oauthRevocationEndpoint?.text)
        } else if let configuration = profile.openIDConfiguration {
            endpoint = .configuration(configuration.text)
        } else if let document = profile.oauthDocument {
            endpoint = .discovery(document.text)
        } else if grant == .implicit {
            endpoint = .pages(revocation: profile.oauthRevocationEndpoint?.text)
        } else {
            throw .failed(.unsafeAddress)
        }
        let browser = profile.browserLogin
        return .oauth(
            OAuthService(
                endpoint, clientID: profile.oauthClientID ?? "",
                scopes: grant.isOfBrowser ? profile.browserScopes() : profile.oauthScopes,
                includesClientHeader: profile.oauthIncludesClientHeader, grant: grant,
                issuer: profile.oauthIssuer ?? profile.openIDConfiguration?.issuer.text,
                origins: profile.oauthEndpointOrigins, browser: browser, proof: profile.clientProof,
                tokenEndpoints: profile.tokenEndpoints, clientAssertion: profile.oauthClientAssertion?.kind,
                constraint: profile.senderConstraint))
    }

    private static func domain(_ profile: Profile, _ domain: IdentityDomain) -> Domain? {
        let name = domain == .none ? profile.identityDomain : domain.text
        let header = profile.identityDomainHeader
        return name.map { Domain($0, header: header.inHeader ? header.name : nil) }
    }

    private static func trusted(_ profile: Profile) throws(OnlineRefusal) -> [UInt8]? {
        guard let path = profile.trustedCA else { return nil }
        // If this file is missing, no other authorities may be trusted instead.
        do throws(StorageError) { return try TrustedAuthorities.read(path) } catch { throw .failed(.unusableTrust) }
    }
}
