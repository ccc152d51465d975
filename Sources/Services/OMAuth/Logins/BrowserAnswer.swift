public import OMOnlineModel

/// A provider's answer to a login at the server's own pages.
public struct BrowserAnswer: ~Copyable, Sendable {
    public let answer: ProviderAnswer
    /// The user whom the server named. Nil if it named none.
    public let user: NamedUser?

    public init(_ answer: consuming ProviderAnswer, user: NamedUser?) {
        self.answer = answer
        self.user = user
    }

    consuming func takeAnswer() -> ProviderAnswer { answer }
}
