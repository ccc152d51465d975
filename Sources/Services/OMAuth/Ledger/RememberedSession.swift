/// What the ledger has of a session.
package enum RememberedSession: ~Copyable, Sendable {
    /// There is none that counts: none was kept, it timed out or was idle for too long, its profile was changed, or it was put back.
    case none
    /// It was sealed with the key of another vault, and this one never opens it.
    case otherKey
    /// The level that it is kept at is locked.
    case locked
    /// - Parameters:
    ///   - left: Seconds until it times out. Nil without such a time.
    ///   - since: When the user logged in, in seconds since 1970.
    case live(LoginReceipt, SessionRowKey, left: Int64?, since: Int64)
}
