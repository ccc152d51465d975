/// What came of asking for an application profile beside a login.
public enum ProfileAnswer: Hashable, Sendable {
    /// There is no address to ask.
    case notAsked
    case given(ServerProfile)
    /// It could not be had, or not be used. Attack: somebody on the way drops this one connection, and with it the word
    /// that offline logins are not allowed. So it is told apart from a server that has nothing to say.
    case missing(OnlineRefusal)

    public var profile: ServerProfile? { if case .given(let profile) = self { profile } else { nil } }
}
