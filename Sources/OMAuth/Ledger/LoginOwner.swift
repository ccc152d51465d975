// Whose login an id is, for those who keep only the id.

/// The login behind an id such as ``VerifiedLogin/id``.
public struct LoginOwner: Hashable, Sendable {
    public let user: UserName
    public let profile: ProfileName
    public let domain: IdentityDomain
    /// When the credential was made, in seconds since 1970; each has its own unlocking key. Nil when there is none any more.
    public let enrolledAt: Int64?
}

extension Authenticator {
    /// - Returns: nil when the ledger of this device has no such login.
    /// - Throws: ``AuthError/quarantined``, ``AuthError/rolledBack``, ``AuthError/storage(_:)``.
    public func owner(of id: [UInt8]) throws(AuthError) -> LoginOwner? {
        guard id.count == LoginID.count, let store = try openAny(), let row = try store.load(LoginID(id)) else {
            return nil
        }
        let isLive = if case .live = row.credential { true } else { false }
        return LoginOwner(
            user: row.key.user, profile: row.key.profile, domain: row.key.domain,
            enrolledAt: isLive ? row.enrolledAt : nil)
    }
}
