// The online helper's door: `omvault-agent --online`. It connects the protocol to the providers and keeps no state.

internal import Glibc
internal import OMAgent
internal import OMOnline
internal import OMOnlineModel

enum OnlineHelperProgram {
    static func run() -> Never {
        guard AgentProcess.harden(hidesMemory: true) else {
            fatalError("omvault-agent: error: this system refuses to protect the process")
        }
        signal(SIGPIPE, SIG_IGN)
        // If hidden memory has no room for a secret, the secret goes into other memory. The attempt must not end the helper.
        signal(SIGXFSZ, SIG_IGN)
        OnlineHelper.run(ports: { $0.ports }) { question in
            do throws(OnlineRefusal) { return OnlineReply(try await ask(question)) } catch { return .refused(error) }
        }
    }

    private static func ask(_ question: borrowing OnlineQuestion) async throws(OnlineRefusal) -> OnlineGrant {
        if question.task == .profile {
            return OnlineGrant(of: try await ApplicationProfile.fetch(question.service))
        }
        switch question.service.kind {
        case .basic(let basic): return try await ask(HTTPBasicProvider(question.service, basic), question)
        case .oauth(let oauth): return try await ask(OAuthProvider(question.service, oauth), question)
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
        // This provider has no such question; the protocol refuses it.
        case .refresh, .profile: throw .failed(.unusableSession)
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
        case .logout: try await provider.logOut(question.session, clientSecret: question.clientSecret)
        case .profile: throw .failed(.unusableSession)
        }
    }
}

extension OnlineReply {
    fileprivate init(_ grant: consuming OnlineGrant) {
        let (lifetime, time, profile) = (grant.lifetime, grant.serverTime, grant.profile)
        self = .accepted(
            OnlineAcceptance(
                session: grant.takeSession(), lifetime: lifetime, serverTime: time, profile: profile))
    }
}
