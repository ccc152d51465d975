public import OMAuth

/// The answer to a question for an access token.
public enum TokenReply: ~Copyable, Sendable {
    /// `left` is the life that is left in seconds, or nil for a token without an end.
    case given(AccessToken, left: Int64?, TokenStatus)
    /// There is no such session, or it is idle.
    case none
    case refused(TokenRefusal)

    var isGiven: Bool {
        switch self {
        case .given: true
        case .none: false
        case .refused: false
        }
    }

    /// Whether there is no session any more.
    public var isOfNoSession: Bool {
        switch self {
        case .given: false
        case .none: true
        case .refused: false
        }
    }

    /// Whether the user has to agree first.
    public var isUnconfirmed: Bool {
        switch self {
        case .given: false
        case .none: false
        case .refused(let refusal): refusal == .unconfirmed
        }
    }
}
