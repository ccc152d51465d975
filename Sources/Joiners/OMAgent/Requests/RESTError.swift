public import OMAgentProtocol
public import OMAuth
public import OMOnlineModel
public import OMSystem

/// Why a request has no answer. Every answer of a server is a ``RESTResponse``, whatever its status.
public enum RESTError: Error, Hashable, Sendable {
    /// The method, a header or the address cannot be sent.
    case unusable
    /// There is no agent, or no helper could be started.
    case agent(AgentError)
    /// There is no valid session of this login.
    case noSession
    /// `RESTOrigins` does not name the server.
    case foreignOrigin
    /// The session has no access token for this request.
    case token(TokenRefusal)
    /// No answer came, or none that can be used.
    case failed(OnlineRefusal)
    /// A gate wants a token of its own, and there is no ``WebGateTokenSource``.
    case gateTokenNeeded
    /// The source gave no token for a gate.
    case gate(AuthError)
    /// The request was redirected more often than it allows.
    case tooManyRedirects
    /// A redirect that is not followed: to an address without encryption, or to none.
    case unsafeRedirect
    /// The body must be sent a second time, to another server or from a source that gives it once.
    case bodySpent
    /// The source of the body failed. The system's error number.
    case body(Int32)
    /// The caller cancelled the request.
    case cancelled

    /// The SDK's number, if it has one.
    public var sdkCode: Int? {
        switch self {
        case .noSession: 10023
        case .failed(let refusal), .token(.server(let refusal)): refusal.sdkCode
        case .cancelled: 10029
        case .unusable, .agent, .foreignOrigin, .token, .gateTokenNeeded, .gate, .tooManyRedirects, .unsafeRedirect, .bodySpent,
            .body:
            nil
        }
    }
}

/// ``OwnThread`` needs this for awaited calls.
extension RESTError: StorageErrorConvertible {
    public init(storage error: StorageError) { self = .agent(AgentError(storage: error)) }
}
