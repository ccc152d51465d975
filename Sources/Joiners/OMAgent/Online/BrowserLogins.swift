// Joins a login at the server's own pages to the online helper.

internal import OMAgentProtocol
public import OMAuth
internal import OMOnlineModel
internal import OMSecrets

extension OnlineProvider: BrowserProvider {
    /// How long a person has, in seconds, if the profile does not say.
    private static let personSeconds: Int64 = 180
    /// The same for a code that is entered on another device. The server's own time for the code is usually shorter.
    private static let deviceSeconds: Int64 = 1_800

    public func authorize(
        _ question: BrowserQuestion, prompting prompter: any BrowserPrompter, cancellation: Cancellation
    ) -> BrowserAnswer {
        do throws(OnlineRefusal) {
            let service = try OnlineService(question).showing(chain, for: question.profile)
            if case .certificate = service.kind { return try logIn(question, service, cancellation) }
            let listeners: LoopbackListeners?
            if question.kind == .loopback {
                listeners = try Self.listeners(for: service)
            } else {
                listeners = nil
            }
            let isDevice = question.kind == .device
            wasByDevice.withLock { $0 = isDevice }
            let seconds = question.profile.browserTimeOut ?? (isDevice ? Self.deviceSeconds : Self.personSeconds)
            let event = OnlineCancellation()
            let sockets: [Int32] =
                switch listeners {
                case .some(let listeners): listeners.descriptors
                case .none: []
                }
            let acceptance = try cancellation.watched({ event.cancel() }) {
                ask(
                    .authorize(
                        question.user?.text, within: UInt32(clamping: seconds), byDevice: isDevice, of: service,
                        clientSecret: clientSecret.duplicate()),
                    listening: sockets, prompting: prompter, event)
            }.get()
            let user = acceptance.user
            return BrowserAnswer(acceptance.takeTokens(), user: user)
        } catch { return BrowserAnswer(.refused(error), user: nil) }
    }

    /// Logs in by the certificate alone. The user is the one asked for, or has the name of the identity.
    private func logIn(
        _ question: BrowserQuestion, _ service: OnlineService, _ cancellation: Cancellation
    ) throws(OnlineRefusal) -> BrowserAnswer {
        guard let chain, let user = question.user ?? (try? UserName(chain.identity)) else { throw .failed(.unusableUser) }
        let event = OnlineCancellation()
        let acceptance = try cancellation.watched({ event.cancel() }) {
            ask(.login(user.text, password: SecretBytes(copying: []), of: service), event)
        }.get()
        let time = acceptance.serverTime
        return BrowserAnswer(
            .accepted(policy: nil, serverTime: time, session: acceptance.session),
            user: NamedUser(user.text, subject: user.text))
    }

    private static func listeners(for service: OnlineService) throws(OnlineRefusal) -> LoopbackListeners {
        guard case .oauth(let oauth) = service.kind, let redirect = oauth.browser?.redirect else {
            throw .failed(.unusableRedirect)
        }
        do throws(LoopbackListeners.Problem) { return try LoopbackListeners(for: redirect) } catch {
            switch error {
            case .portTaken: throw .failed(.redirectPortTaken)
            case .notLoopback: throw .failed(.unusableRedirect)
            case .system: throw .failed(.helper)
            }
        }
    }
}

extension OnlineService {
    /// The service to ask about a login at its own pages.
    fileprivate init(_ question: BrowserQuestion) throws(OnlineRefusal) {
        try self.init(question.profile, question.domain)
        if case .certificate = kind { return }
        guard isOfBrowser, case .oauth(let oauth) = kind else { throw .failed(.unsupportedGrant) }
        guard let scopes = question.scopes else { return }
        self = asking(oauth, question.profile.browserScopes(asking: scopes.names))
    }
}
