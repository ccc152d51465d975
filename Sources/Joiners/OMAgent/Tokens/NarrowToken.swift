internal import OMAuth
internal import OMOnlineModel
internal import OMSystem

/// An access token beside a session's own, with fewer scopes or for a resource. Only the store uses it, under its lock.
final class NarrowToken {
    /// The most of them in one session.
    static let maximum = 16

    let narrowing: TokenNarrowing
    let access: AccessToken
    /// In seconds since boot. Nil for a token without an end.
    let expires: Int64?

    init(_ narrowing: TokenNarrowing, _ access: consuming AccessToken, expires: Int64?) {
        (self.narrowing, self.expires) = (narrowing, expires)
        self.access = access
    }

    /// In seconds. Nil for a token without an end.
    func left(at clock: ClockReading) -> Int64? { expires.map { $0 - clock.sinceBoot } }
}
