/// An event that deletes parts of a login.
public enum ClearingEvent: String, CaseIterable, Hashable, Sendable {
    /// Wrong passwords exceeded the limit, and the policy is to wipe.
    case limitExceeded = "limit exceeded"
    /// A wrong password offline, within the limit.
    case wrongOffline = "wrong password offline"
    /// The server refused exactly the password that is cached.
    case rejectedCached = "401 for the cached password"
    /// The server refused another password, or the user.
    case rejectedOther = "401 for another password"
    /// 403, 423.
    case forbidden = "403 or 423"
    /// The provider says that the account is blocked.
    case blocked = "account blocked"
    case otherFailure = "any other online failure, cancel"
    case idleTimeOut = "idle time-out"
    case sessionTimeOut = "session time-out"
    case logout
    case logoutClear = "logout --clear"
}

extension ClearingEvent {
    /// The event's number in the log. The order of the cases is part of the log's format.
    var code: UInt8 { UInt8((Self.allCases.firstIndex(of: self) ?? 0) + 1) }

    init?(code: UInt64) {
        guard let found = Self.allCases.first(where: { UInt64($0.code) == code }) else { return nil }
        self = found
    }
}
