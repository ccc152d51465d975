public import OMOnlineModel

/// A question for the access token of a session.
public struct TokenQuestion: Hashable, Sendable {
    /// The longest life that can be asked for, in seconds. No token counts as longer.
    package static let longest: UInt32 = 315_360_000
    /// The least life of a token in seconds, for a caller that names none.
    package static let standardLife: UInt32 = 60

    /// The scopes that the token must have. None for any token.
    public let scopes: ScopeSet
    /// How many seconds the token must live at least.
    public let atLeast: UInt32
    /// Whether a token that lives shorter is useless even if the server cannot be reached.
    public let needsLife: Bool
    /// Whether the server is asked for another token in any case.
    public let isFresh: Bool
    /// A token with exactly these scopes, or for a resource, which the server gives for the refresh token. Nil for the session's
    /// own token.
    public let narrowing: TokenNarrowing?
    /// Whether the user agreed to this question. Under the same user id no process can prove that.
    public let isAgreed: Bool
    /// Whether the ID token of the login is asked for, in place of the access token. Scopes and life then do not count.
    public let isForIDToken: Bool
    /// Whether the token goes only into a request of this agent's own helper, and not to the caller. No frame says this.
    private(set) var isForRequest = false

    public init(
        scopes: ScopeSet = ScopeSet(), atLeast: UInt32, needsLife: Bool = false, isFresh: Bool = false,
        narrowing: TokenNarrowing? = nil, isAgreed: Bool = false, isForIDToken: Bool = false
    ) {
        self.scopes = scopes
        self.atLeast = min(atLeast, Self.longest)
        self.needsLife = needsLife
        self.isFresh = isFresh
        self.narrowing = narrowing
        self.isAgreed = isAgreed
        self.isForIDToken = isForIDToken
    }

    /// The same question, for a request.
    var forRequest: TokenQuestion {
        var question = self
        question.isForRequest = true
        return question
    }

    /// The same question, after the user agreed to it.
    public var agreed: TokenQuestion {
        TokenQuestion(
            scopes: scopes, atLeast: atLeast, needsLife: needsLife, isFresh: isFresh, narrowing: narrowing,
            isAgreed: true, isForIDToken: isForIDToken)
    }
}
