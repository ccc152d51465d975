// What the user reads of a server's answer. Nothing of it is the server's own words.

internal import OMAgent
internal import OMAuth
internal import OMOnlineModel

extension UnreachableCause {
    var words: String {
        switch self {
        case .refused: "the connection was refused"
        case .noRoute: "there is no way to it"
        case .nameNotFound: "its name is not known"
        case .timedOut: "it did not answer in time"
        case .closed: "the connection ended before TLS was established"
        case .gateway: "something before it says that it is not there"
        case .noHelper: "\(AgentProcess.programName), which would ask it, is not beside omvault"
        }
    }
}

extension UntrustedCause {
    var words: String {
        switch self {
        case .certificate: "its certificate is expired, signed by an authority that is not trusted, or not made for servers"
        case .name: "its certificate is for another name"
        case .handshake: "it speaks no TLS that is safe"
        }
    }
}

extension OnlineFailure {
    var words: String {
        switch self {
        case .serverError, .oauthServerError: "it has an error of its own"
        case .tooManyRequests: "it is asked too often"
        case .unexpectedAnswer: "its answer is not one of a login"
        case .brokenAnswer: "its answer is broken"
        case .answerTooLarge: "its answer is too long"
        case .redirected: "it sends the login elsewhere"
        case .downgraded: "it sends the login to a connection without protection"
        case .tokenMissing: "its answer lacks what RequiredTokens asks for"
        case .noChallenge: "it lets everybody in, password or not"
        case .otherChallenge: "it asks for another proof than a password by HTTP Basic; none was sent"
        case .unsafeAddress:
            "the address is not https and not safe without it, or cannot be read in one way only; nothing was sent"
        case .unusableHeaders: "CustomAuthHeaders cannot be sent"
        case .unusableUser: "the user's name cannot be sent: it holds a colon or a control character"
        case .unusableTrust: "TrustedCA holds no certificate, is not there, or others than you and root can change it"
        case .unusableSession: "the session is none of this server's"
        case .untrustedDiscovery: "its discovery document is for another issuer, or names no token endpoint that may be asked"
        case .unusableProfile: "what ProfileURL answers cannot be used"
        case .helper: "the process that asks it could not, or ended"
        case .cancelled: "the login was given up"
        case .noLogout: "no address is known where it ends sessions"
        case .invalidClient: "it does not know OAuthClientID, or refuses its secret"
        case .unauthorizedClient: "OAuthClientID may not log users in with a password"
        case .invalidScope: "it refuses OAuthScope"
        case .invalidRequest: "it does not understand the request"
        case .unsupportedGrant: "it does not take passwords"
        case .unsupportedResponse: "it does not give this kind of answer"
        case .temporarilyUnavailable: "it is busy for a while"
        case .invalidGrant: "it gives no tokens, for another reason than the password"
        case .otherOAuthError, .unnamedOAuthError: "it refuses with an error that says nothing about the password"
        }
    }

    var status: ExitStatus {
        switch self {
        case .unsafeAddress, .unusableHeaders, .unusableTrust: .config
        case .unusableUser: .usage
        case .unusableSession, .noLogout: .general
        case .helper: .agent
        case .cancelled: .aborted
        default: .remoteError
        }
    }
}

extension PolicyProblem {
    /// Behind "the server's policy".
    var words: String {
        switch self {
        case .notFetched(let refusal): "could not be fetched (\(Failure(refusal).message))"
        case .notUnderstood: "is not understood, so nothing of it is used"
        case .otherApplication: "is for another ApplicationName than the profile's, so nothing of it is used"
        case .older(let epoch): "has epoch \(epoch), which is lower than the one known"
        case .notAsked: "was not asked for"
        }
    }

    /// What the user can do about it.
    var hint: String {
        switch self {
        case .otherApplication: "ApplicationName must be the one that the policy at ProfileURL names"
        case .notFetched, .notUnderstood, .older, .notAsked:
            "ProfileURL must be the address of the server's policy, as docs/profiles.md has it"
        }
    }

    /// In machine-readable answers.
    var name: String {
        switch self {
        case .notFetched(let refusal): refusal.name
        case .notUnderstood: "not_understood"
        case .otherApplication: "other_application"
        case .older: "older"
        case .notAsked: "not_asked"
        }
    }
}
