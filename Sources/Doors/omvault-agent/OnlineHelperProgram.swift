// The online helper's door: `omvault-agent --online`. It connects the protocol to the providers and keeps no state.

internal import Glibc
internal import OMAgent
internal import OMOnline
internal import OMOnlineModel
internal import OMSecrets

enum OnlineHelperProgram {
    static func run() -> Never {
        guard AgentProcess.harden(hidesMemory: true) else {
            fatalError("omvault-agent: error: this system refuses to protect the process")
        }
        signal(SIGPIPE, SIG_IGN)
        // If hidden memory has no room for a secret, the secret goes into other memory. The attempt must not end the helper.
        signal(SIGXFSZ, SIG_IGN)
        OnlineHelper.run(ports: { $0.service.ports(with: $0.address) }) { question, person in
            do throws(OnlineRefusal) { return try await ask(question, person) } catch { return .refused(error) }
        }
    }

    private static func ask(
        _ question: borrowing OnlineQuestion, _ person: HelperConversation
    ) async throws(OnlineRefusal) -> OnlineReply {
        let signer = OuterSigner(person)
        switch (question.service.kind, question.task) {
        case (_, .endpoints):
            return OnlineReply(OnlineGrant(of: try await EndpointDocument.fetch(question.service, signer: signer)))
        case (.oamms(let oamms), _): return try await ask(OAMMSProvider(question.service, oamms), question)
        case (_, .profile): return OnlineReply(OnlineGrant(of: try await ApplicationProfile.fetch(question.service)))
        case (.basic(let basic), _):
            return OnlineReply(try await ask(HTTPBasicProvider(question.service, basic, signer: signer), question))
        case (.certificate(let addresses), .tryCertificate):
            return OnlineReply(
                try await CertificateTrialProvider(question.service, at: addresses.login, signer: signer).run())
        case (.certificate(let addresses), _):
            return OnlineReply(try await ask(CertificateProvider(question.service, addresses, signer: signer), question))
        case (.oauth(let oauth), .authorize(let user, _, let byDevice)):
            return OnlineReply(
                try await authorize(
                    user, byDevice: byDevice, question, with: person,
                    at: BrowserLoginProvider(
                        question.service, oauth, signer: signer, keyThumbprint: question.keyThumbprint)))
        case (.oauth(let oauth), .client(let step)):
            let registrar = ClientRegistrar(question.service, oauth)
            return OnlineReply(try await registrar.ask(step, token: question.session, statement: question.answers))
        case (.oauth(let oauth), .endSession(let page, let path, let user)):
            let redirect = try EndSessionRedirect(to: page, at: path, for: oauth, idToken: question.session)
            try await redirect.serve(user: user, listening: person.listening)
            return .accepted(OnlineAcceptance(session: nil))
        case (.oauth(let oauth), _):
            return OnlineReply(try await ask(OAuthProvider(question.service, oauth, signer: signer), question))
        }
    }

    private static func ask(
        _ provider: HTTPBasicProvider, _ question: borrowing OnlineQuestion
    ) async throws(OnlineRefusal) -> OnlineGrant {
        switch question.task {
        case .login(let user): try await provider.logIn(user, password: question.password)
        case .check: try await provider.check(question.session)
        case .logout(nil): try await provider.logOut(question.session)
        case .logout(let user?):
            try await provider.logOut(question.session, user: user, password: question.password)
        // The provider has no other question; the protocol refuses it.
        default: throw .failed(.unusableSession)
        }
    }

    private static func ask(
        _ provider: CertificateProvider, _ question: borrowing OnlineQuestion
    ) async throws(OnlineRefusal) -> OnlineGrant {
        switch question.task {
        case .login: try await provider.logIn()
        case .check: try await provider.check(question.session)
        case .logout: try await provider.logOut(question.session)
        // The provider has no other question; the protocol refuses it.
        default: throw .failed(.unusableSession)
        }
    }

    private static func ask(
        _ provider: OAuthProvider, _ question: borrowing OnlineQuestion
    ) async throws(OnlineRefusal) -> OnlineGrant {
        switch question.task {
        case .login(let user):
            try await provider.logIn(user, password: question.password, clientSecret: question.clientSecret)
        case .check: try await provider.check(question.session, clientSecret: question.clientSecret)
        case .refresh: try await provider.refresh(question.session, clientSecret: question.clientSecret)
        case .narrow(let narrowing):
            try await provider.narrow(question.session, to: narrowing, clientSecret: question.clientSecret)
        case .logout: try await provider.logOut(question.session, clientSecret: question.clientSecret)
        case .grant: try await provider.grant(clientSecret: question.clientSecret)
        case .introspect: try await provider.introspect(question.session, clientSecret: question.clientSecret)
        case .userInfo: try await provider.userInfo(question.session)
        case .exchange(let asked):
            try await provider.exchange(
                question.subject, actor: question.actor, for: asked, clientSecret: question.clientSecret)
        case .assertion(let user, let kind, let keepsSession):
            try await provider.logIn(
                user, assertion: question.subject, kind, keepsSession: keepsSession, clientSecret: question.clientSecret)
        // The provider has no other question; the protocol refuses it.
        default: throw .failed(.unusableSession)
        }
    }

    private static func authorize(
        _ user: String?, byDevice: Bool, _ question: borrowing OnlineQuestion, with person: HelperConversation,
        at provider: BrowserLoginProvider
    ) async throws(OnlineRefusal) -> OnlineGrant {
        do throws(OnlineRefusal) {
            guard byDevice else {
                if question.service.isImplicit {
                    return try await provider.logInByImplicitGrant(
                        listening: person.listening, user: user, with: Person(person))
                }
                return try await provider.logIn(
                    listening: person.listening, user: user, clientSecret: question.clientSecret, with: Person(person))
            }
            return try await provider.logInByDevice(user: user, clientSecret: question.clientSecret, with: Person(person))
        } catch {
            // Only the end of the person's time cancels this task.
            guard case .failed(.cancelled, _, _) = error else { throw error }
            throw .failed(.notFinished)
        }
    }

    private static func ask(
        _ provider: OAMMSProvider, _ question: borrowing OnlineQuestion
    ) async throws(OnlineRefusal) -> OnlineReply {
        switch question.task {
        case .login(let user): return OnlineReply(try await provider.logIn(user, password: question.password))
        case .answer(let user):
            return OnlineReply(
                try await provider.answer(
                    question.answers, to: question.session, user: user, password: question.password))
        case .check: return OnlineReply(try await provider.check(question.session))
        // This service ends a session without the password.
        case .logout: return OnlineReply(try await provider.logOut(question.session))
        case .profile: return OnlineReply(OnlineGrant(of: try await provider.applicationProfile()))
        // The provider has no other question; the protocol refuses it.
        default: throw .failed(.unusableSession)
        }
    }
}

/// The person at the other end, for the provider.
private struct Person: BrowserConversation {
    private let helper: HelperConversation

    init(_ helper: HelperConversation) { self.helper = helper }

    func show(_ step: BrowserStep) async throws(OnlineRefusal) { try helper.show(step) }

    func pasted() async throws(OnlineRefusal) -> SecretBytes? { try await helper.pasted() }

    func hasFinished() { helper.hasFinished() }

    var isGone: Bool { helper.isGone }
}

/// The keys of the user and of the session, at the other end.
private struct OuterSigner: IdentitySigner {
    private let helper: HelperConversation

    init(_ helper: HelperConversation) { self.helper = helper }

    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes { try await helper.sign(purpose) }
}

extension OnlineReply {
    fileprivate init(_ reply: consuming OAMMSProvider.Reply) {
        switch consume reply {
        case .granted(let grant): self.init(grant)
        case .asked(let questions, let state): self = .asked(questions, state: state)
        }
    }

    fileprivate init(_ grant: consuming OnlineGrant) {
        let (lifetime, time, profile, endpoints) = (grant.lifetime, grant.serverTime, grant.profile, grant.endpoints)
        let (user, client, trial) = (grant.user, grant.client, grant.trial)
        var grant = grant
        let access = grant.takeAccess(), idToken = grant.takeIDToken(), claims = grant.takeClaims(), scopes = grant.scopes
        self = .accepted(
            OnlineAcceptance(
                session: grant.takeSession(), access: access, scopes: scopes, idToken: idToken, claims: claims,
                lifetime: lifetime, serverTime: time, profile: profile, endpoints: endpoints, user: user, client: client,
                trial: trial))
    }
}
