// The login behind an id, for a caller that stores only the id.

/// The login behind an id such as ``VerifiedLogin/id``.
package struct LoginOwner: Hashable, Sendable {
    package let user: UserName
    package let profile: ProfileName
    package let domain: IdentityDomain
    /// When the credential was made, in seconds since 1970. Each credential has its own unlocking key. Nil if it no
    /// longer exists.
    package let enrolledAt: Int64?
}

extension Authenticator {
    /// - Returns: nil if the ledger of this device has no such login.
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

    /// The ids of the logins with these names, at every server. Ask before a removal: a deleted row names no server.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    package func ids(naming key: LoginKey) throws(AuthError) -> [[UInt8]] {
        guard let store = try openIfPresent() else { return [] }
        return try store.ids(naming: key)
    }

    /// The ids of the logins with these names, at every server, that have no credential. The caller locks the vaults
    /// that they opened. A login whose row is not trustworthy is left out.
    ///
    /// - Parameter before: What ``ids(naming:)`` returned before a removal.
    /// - Throws: ``AuthError/storage(_:)``.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    package func idsWithoutCredential(naming key: LoginKey, before: [[UInt8]] = []) throws(AuthError) -> [[UInt8]] {
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
