/// How an access token fits the life that its caller asked for.
public enum TokenStatus: UInt8, Sendable {
    case good = 0
    /// It is the newest one, and the server gives none that lives long enough.
    case shortLived = 1
    /// It lives, but not for long enough, and the server could not be reached for another one.
    case unrenewed = 2
}
