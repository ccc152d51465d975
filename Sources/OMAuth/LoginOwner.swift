// Whose login an id is, for those who keep only the id.

internal import OMStorage

/// The login behind an id such as ``VerifiedLogin/id``.
public struct LoginOwner: Hashable, Sendable {
    public let user: UserName
    public let profile: ProfileName
    /// When the credential was made, in seconds since 1970; each has its own unlocking key. Nil when there is none any more.
    public let enrolledAt: Int64?
}

extension Authenticator {
    /// - Returns: nil when the ledger of this device has no such login.
    /// - Throws: ``AuthError/quarantined``, ``AuthError/rolledBack``, ``AuthError/storage(_:)``.
    public func owner(of id: [UInt8]) throws(AuthError) -> LoginOwner? {
        let folder = try places.deviceFolder()
        let device = try storing { () throws(StorageError) in try folder?.load() }
        let ledger = try storing { () throws(StorageError) in try Ledger.open(places.ledger) }
        guard let folder, let device, let ledger, id.count == LoginID.count else { return nil }
        guard let row = try LoginStore(ledger, folder, device, clock).load(LoginID(id)) else { return nil }
        let isLive = if case .live = row.credential { true } else { false }
        return LoginOwner(user: row.key.user, profile: row.key.profile, enrolledAt: isLive ? row.enrolledAt : nil)
    }
}
