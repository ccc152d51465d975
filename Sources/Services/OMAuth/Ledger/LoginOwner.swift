// Whose login an id is, for those who keep only the id.

/// The login behind an id such as ``VerifiedLogin/id``.
package struct LoginOwner: Hashable, Sendable {
    package let user: UserName
    package let profile: ProfileName
    package let domain: IdentityDomain
    /// When the credential was made, in seconds since 1970; each has its own unlocking key. Nil when there is none any more.
    package let enrolledAt: Int64?
}

extension Authenticator {
    /// - Returns: nil when the ledger of this device has no such login.
    /// - Throws: ``AuthError/quarantined``, ``AuthError/rolledBack``, ``AuthError/storage(_:)``.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    package func owner(of id: [UInt8]) throws(AuthError) -> LoginOwner? {
        guard id.count == LoginID.count, let store = try openIfPresent(), let row = try store.load(LoginID(id)) else {
            return nil
        }
        return LoginOwner(
            user: row.key.user, profile: row.key.profile, domain: row.key.domain,
            enrolledAt: row.isLive ? row.enrolledAt : nil)
    }

    /// The ids of the logins of these names, of whatever server. To be asked before a removal: a row that is gone names no
    /// server.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func ids(naming key: LoginKey) throws(AuthError) -> [[UInt8]] {
        guard let store = try openIfPresent() else { return [] }
        return try store.ids(naming: key)
    }

    /// The ids of the logins of these names, of whatever server, that have no credential or none any more: what they opened
    /// is to be closed. One whose row cannot be relied on is none of them.
    ///
    /// - Parameter before: What ``ids(naming:)`` was before a removal.
    /// - Throws: ``AuthError/storage(_:)``.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func idsWithoutCredential(naming key: LoginKey, before: [[UInt8]] = []) throws(AuthError) -> [[UInt8]] {
        guard let store = try openIfPresent() else { return before }
        return Set(try store.ids(naming: key) + before).filter { id in
            do throws(AuthError) { return try store.load(LoginID(id))?.isLive != true } catch { return false }
        }
    }
}

extension LoginStore {
    fileprivate borrowing func ids(naming key: LoginKey) throws(AuthError) -> [[UInt8]] {
        try keys(naming: key).union([key]).map { $0.id(under: device).bytes }
    }
}

extension LoginRow {
    fileprivate var isLive: Bool {
        if case .live = verifier { true } else { false }
    }
}
