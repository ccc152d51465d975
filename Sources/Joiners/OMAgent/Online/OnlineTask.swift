package import OMOnlineModel

/// The task of a question to a service.
package enum OnlineTask: Hashable, Sendable {
    /// Logs in with a password.
    case login(user: String)
    /// Continues a login with the answers to the server's questions. Only the Mobile and Social service asks some.
    case answer(user: String)
    /// Asks whether the session still counts.
    case check
    /// Gets new tokens. Only OAuth has them.
    case refresh
    /// Gets another access token, beside the session's own. Only OAuth has it.
    case narrow(TokenNarrowing)
    /// Ends a session. If the server wants the password again, it comes from `user`.
    case logout(user: String?)
    /// Fetches the application profile from its address.
    case profile
    /// Fetches the endpoints from the document in which the server names them.
    case endpoints
    /// Gets an access token of the client itself. Only OAuth's client credentials grant has it.
    case grant
    /// Registers this client at the server, or asks about its registration. Only OAuth has it.
    case client(ClientStep)
    /// Logs a user in at the server's own pages.
    ///
    /// - Parameters:
    ///   - user: The name that the server must give. Nil: any.
    ///   - seconds: How long the person has for it.
    ///   - byDevice: Whether the person enters a code in any browser. Otherwise a browser on this machine brings the answer.
    case authorize(user: String?, seconds: UInt32, byDevice: Bool)
    /// Asks whether the session's access token counts. Only OAuth has it.
    case introspect
    /// Asks for the claims about the session's user. Only OAuth has it.
    case userInfo
    /// Sends a browser on to the page where the server ends its own session. The server is not asked.
    ///
    /// - Parameters:
    ///   - path: Of the one-time address.
    ///   - user: The user whose browser is sent on.
    case endSession(page: String, path: String, user: UInt32)
    /// Gets an access token in exchange for a token of another server. Only OAuth has it.
    case exchange(TokenExchange)
    /// Logs a user in with an assertion of another server. Only OAuth's assertion grants have it.
    ///
    /// - Parameters:
    ///   - user: The name that the server must give, if it names the user. Nil: any.
    ///   - kind: Nil for a JWT that the client's key signs for this question.
    ///   - keepsSession: Whether the tokens become a session. If not, the answer has the access token alone.
    case assertion(user: String?, AssertionKind?, keepsSession: Bool)
    /// Asks for a page without the client certificate, and with it.
    case tryCertificate

    /// The user whose password the question brings.
    var user: String? {
        switch self {
        case .login(let user), .answer(let user): user
        case .logout(let user): user
        default: nil
        }
    }

    /// Whether the answer says who the user is.
    var namesUser: Bool {
        switch self {
        case .authorize, .assertion(_, _, keepsSession: true): true
        default: false
        }
    }

    /// The most seconds of ``authorize(user:seconds:byDevice:)``.
    static let longestSeconds: UInt32 = 3_600

    /// How many seconds the question may wait for a person.
    var personSeconds: UInt32 {
        if case .authorize(_, let seconds, _) = self { seconds } else { 0 }
    }

    /// Whether the answer brings the first tokens of a session, or a token without one.
    var bringsTokens: Bool {
        switch self {
        case .login, .grant, .authorize, .exchange, .assertion: true
        case .answer, .check, .refresh, .narrow, .logout, .profile, .endpoints, .client, .introspect, .userInfo, .endSession,
            .tryCertificate:
            false
        }
    }

    /// Whether the client's key signs the assertion that is the grant.
    var mintsGrant: Bool { if case .assertion(_, nil, _) = self { true } else { false } }

    /// Whether it logs a user in at the server's own pages.
    var startsInBrowser: Bool { if case .authorize = self { true } else { false } }

    /// Whether the answer has a client's registration.
    var bringsClient: Bool {
        switch self {
        case .client(.remove): false
        case .client: true
        default: false
        }
    }

    /// How long a one-time address waits for the browser, in milliseconds.
    static let redirectTime: Int64 = 60_000

    /// Whether the answer is what a server says about a token.
    var hasClaims: Bool { self == .introspect || self == .userInfo }

    /// Whether answering connects to a server.
    var connects: Bool { if case .endSession = self { false } else { true } }

    /// Whether a question to this service can have the task.
    func fits(_ service: OnlineService) -> Bool {
        switch (self, service.kind) {
        case (.profile, _): true
        case (.tryCertificate, .certificate): service.chain != nil
        case (.tryCertificate, _): false
        case (.endpoints, _): service.namesEndpoints
        case (.grant, _): service.isOfClient
        case (.client, .oauth): true
        case (.client, _): false
        // No user logs in there.
        case _ where service.isOfClient: false
        case (.authorize(_, let seconds, let byDevice), _):
            service.isOfBrowser && (1...Self.longestSeconds).contains(seconds) && !(byDevice && service.isImplicit)
        case (.exchange, .oauth(let oauth)): oauth.grant == .tokenExchange
        case (.assertion, .oauth(let oauth)): oauth.grant == .assertion && (!mintsGrant || oauth.proof.key != nil)
        case (.exchange, _), (.assertion, _): false
        // No password is typed here for such a server.
        case (.login, _) where service.takesNoPassword: false
        case (.endSession, _): service.isOfBrowser
        case (.refresh, .oauth), (.narrow, .oauth), (.introspect, .oauth), (.userInfo, .oauth), (.answer, .oamms): true
        case (.refresh, _), (.narrow, _), (.introspect, _), (.userInfo, _), (.answer, _): false
        case (.login, _), (.check, _), (.logout, _): true
        }
    }
}
