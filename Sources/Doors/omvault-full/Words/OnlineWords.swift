// Messages about a server's answer. They never contain text from the server.

internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

extension UnreachableCause {
    var words: String {
        switch self {
        case .refused: "the connection was refused"
        case .noRoute: "there is no route to it"
        case .nameNotFound: "its name was not found"
        case .timedOut: "it did not answer in time"
        case .closed: "the connection ended before TLS was established"
        case .gateway: "a gateway in front of it says that it is down"
        case .noHelper: "\(AgentProcess.programName), the program that asks it, is not beside omvault"
        }
    }
}

extension UntrustedCause {
    var words: String {
        switch self {
        case .certificate: "its certificate is expired, signed by an authority that is not trusted, or not made for servers"
        case .name: "its certificate is for another name"
        case .handshake: "it does not speak a safe version of TLS"
        }
    }
}

extension OnlineFailure {
    var words: String {
        switch self {
        case .serverError, .oauthServerError: "it reports an error of its own"
        case .tooManyRequests: "it gets too many requests"
        case .unexpectedAnswer: "its answer is not the answer to a login"
        case .brokenAnswer: "its answer is broken"
        case .answerTooLarge: "its answer is too long"
        case .redirected: "it redirects the login to another address"
        case .downgraded: "it redirects the login to an address without encryption"
        case .tokenMissing: "its answer lacks a token that RequiredTokens names"
        case .noChallenge: "it lets users in without a password"
        case .otherChallenge: "it does not ask for a password by HTTP Basic; none was sent"
        case .unsafeAddress:
            "the address is ambiguous, or it is not https and not safe without it; nothing was sent"
        case .unusableHeaders: "CustomAuthHeaders cannot be sent"
        case .unusableUser: "the user's name cannot be sent: it holds a colon or a control character"
        case .unusableTrust: "TrustedCA holds no certificate, does not exist, or users other than you and root can change it"
        case .unusableSession: "the session does not belong to this server"
        case .untrustedDiscovery: "its discovery document is for another issuer, or has no token endpoint at a safe address"
        case .foreignEndpoint: "its discovery document has an endpoint at an origin that OAuthEndpointOrigins does not name"
        case .otherUser: "it names another user than the one who was to log in; the tokens were given back"
        case .noLoginPage: "it names no page for this kind of login at a safe address"
        case .noProofKey: "its discovery document says that it does not take PKCE with S256"
        case .wrongAnswers: "too many answers that are not of this login came to the redirect address"
        case .unusableIDToken: "its ID token is missing, not signed by its keys, or not for this login"
        case .unusableKeySet: "the issuer or the keys of its ID tokens are not known"
        case .otherIssuer: "the answer in the browser is from another issuer"
        case .codeExpired: "the code expired before the login was finished"
        case .unusableName: "it gives the user no name that can be shown"
        case .unusableProfile: "the answer from ProfileURL cannot be used"
        case .helper: "the process that asks it failed or ended"
        case .cancelled: "the login was cancelled"
        case .noLogout: "the profile has no address that ends sessions"
        case .noService: "it has no such service or application"
        case .challenge: "it asks a question that was not answered, or not answered right"
        case .handleRefused: "it refuses the registration of this application that it gave itself"
        case .unusablePassword: "the password cannot be sent: this kind of server takes only UTF-8, and no empty password"
        case .invalidClient: "it does not know OAuthClientID, or refuses its secret"
        case .unauthorizedClient: "it does not allow OAuthClientID to log users in with a password"
        case .invalidScope: "it refuses OAuthScope"
        case .invalidRequest: "it does not understand the request"
        case .unsupportedGrant: "it does not accept passwords"
        case .unsupportedResponse: "it does not give this kind of answer"
        case .temporarilyUnavailable: "it is busy for a while"
        case .invalidGrant: "it gives no tokens, for a reason other than the password"
        case .unnamedUser: "it does not say who logged in"
        case .unusableRedirect: "OAuthRedirectEndpoint is no address of this machine, so the browser's answer cannot come"
        case .redirectPortTaken:
            "the port of OAuthRedirectEndpoint cannot be used: another program listens there, or it is below 1024"
        case .notFinished: "the login was not finished in time"
        case .unusableAssertion: "the token or assertion is empty, too long, or not of its form; nothing was sent"
        case .invalidTarget: "it gives no token for this --resource or --audience"
        case .assertionRefused: "it does not take the token or assertion"
        case .insecureGrant: "OAuthImplicit needs --insecure: its token is in the address and the history of the browser"
        case .tokenInQuery: "the browser brought a token in the query of the address, which goes into logs; it was not taken"
        case .unkeptTokens: "the ledger of logins could not take the newest tokens of the session, so no program gets them"
        case .unusableClientKey:
            "the identity of OAuthClientKey or ClientCertificate is not in the vault, or its key cannot sign for this server"
        case .lockedClientKey: "the vault with the identity is locked, so nothing can be signed"
        case .noKeyAlgorithm: "it takes no signature that the key of OAuthClientKey can make"
        case .noPushedRequests: "the profile or the server demands pushed requests, and the other side does not take them"
        case .requestExpired: "the request that was pushed to it expired before it was used"
        case .certificateRefused: "it refuses the client certificate"
        case .certificateNotAsked: "it did not ask for the client certificate, so that proves nothing"
        case .noCertificateNeeded: "it lets clients in without a certificate"
        case .oldTLS: "it does not speak TLS 1.3, and the client certificate is shown only there"
        case .unusableCertificate: "there is no client certificate to show, or TLS does not take its key"
        case .foreignBinding: "its access token is not bound to the client certificate; the tokens were given back"
        case .noRegistration: "it registers no clients"
        case .registrationRefused: "it does not register a client with these values"
        case .redirectRefused: "it does not register a client with this redirect address"
        case .tokenNotBound: "it gave tokens that are not bound to a key, and the profile demands that"
        case .tokenBound: "it gave tokens that are bound to a key, and the profile has none"
        case .proofRefused: "it does not take the proof of the session's key"
        case .nonceRepeated: "it asks for a nonce in the proof of the session's key again and again, or gives none"
        case .tokenRefused: "it does not take the access token"
        case .inactiveToken: "it says that the access token does not count, or not any more"
        case .noEndpoint: "it names no address for this question, or none that is safe"
        case .otherSubject: "it answers about another user than that of the session"
        case .otherOAuthError, .unnamedOAuthError: "it answers with an error that says nothing about the password"
        }
    }

    var status: ExitStatus {
        switch self {
        case .unsafeAddress, .unusableHeaders, .unusableTrust: .config
        case .unusableUser, .unusablePassword: .usage
        case .unusableSession, .noLogout: .general
        case .helper: .agent
        case .foreignEndpoint: .policy
        case .cancelled, .codeExpired, .notFinished, .requestExpired: .aborted
        case .otherUser, .certificateRefused, .certificateNotAsked: .remoteAuth
        case .unusableRedirect, .unusableClientKey, .unusableCertificate: .config
        case .lockedClientKey: .locked
        case .otherUser, .tokenRefused, .assertionRefused, .invalidTarget: .remoteAuth
        case .unusableAssertion: .config
        case .unkeptTokens: .io
        case .insecureGrant: .unsafeAlgorithm
        case .inactiveToken: .notFound
        case .noEndpoint: .unsupported
        case .redirectPortTaken: .busy
        default: .remoteError
        }
    }
}

extension PolicyProblem {
    /// The problem, as the words after "the server's policy".
    var words: String {
        switch self {
        case .notFetched(let refusal): "could not be fetched (\(Failure(refusal).message))"
        case .notUnderstood: "cannot be read, so it is not used"
        case .otherApplication: "is for another ApplicationName than the profile's, so it is not used"
        case .older(let epoch): "has epoch \(epoch), which is lower than the epoch known here"
        case .notAsked: "was not fetched"
        }
    }

    /// The hint for the user.
    var hint: String {
        switch self {
        case .otherApplication: "set ApplicationName to the name in the policy at ProfileURL"
        case .notFetched, .notUnderstood, .older, .notAsked:
            "ProfileURL must be the address of the server's policy, as docs/reference/profiles.md describes it"
        }
    }

    /// The name in machine-readable answers.
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
