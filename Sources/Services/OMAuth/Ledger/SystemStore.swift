// The store that root asks: PAM, and `omvault login … --system`. A user's own ledger proves the user to himself only.

internal import Glibc
public import OMSecrets
internal import OMSystem

/// `/var/lib/omvault` and `/etc/omvault`, with a device key of their own: root's alone, whoever's environment this is.
public enum SystemStore {
    package static let state = "/var/lib/omvault"
    package static let device = "/var/lib/omvault/device"
    package static let profiles = "/etc/omvault/profiles"
    /// What bounds every profile of this machine; everybody may read it.
    public static let policy = "/etc/omvault/policy.json"

    /// Looks at every folder on the way, before anything in them is believed.
    ///
    /// Attack: a user's own ledger under the system's name, with a password that he knows; or a link to it.
    ///
    /// - Throws: ``AuthError/rootRequired``, ``AuthError/storage(_:)`` with the folder that somebody else could change.
    package static func check() throws(AuthError) {
        guard geteuid() == 0 else { throw .rootRequired }
        for path in [state, device, profiles] {
            do throws(StorageError) { try PrivateFolder.checkRootsOwn(path) } catch { throw AuthError(storage: error) }
        }
    }

    /// - Throws: as ``check()``.
    package static func authenticator(
        _ parameters: Argon2id.Parameters = .standard
    ) throws(AuthError) -> Authenticator {
        try check()
        return Authenticator(stateFolder: state, deviceFolder: device, parameters: parameters)
    }

    /// - Throws: as ``check()``.
    package static func profileFolder() throws(AuthError) -> ProfileFolder {
        try check()
        return ProfileFolder(profiles, ceiling: try PolicyCeiling.read(policy), above: 0o755)
    }
}

extension Authenticator {
    /// Makes the credential of `user` whatever there is of one: for root, who could take the whole store away as well.
    /// The old credential is removed first, so its slot is dead even if the machine stops in between.
    ///
    /// - Throws: as ``enroll(_:_:domain:password:)``.
    public func enrollReplacingWithoutOldPassword(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password
    ) throws(AuthError) -> VerifiedLogin {
        guard profile.offlineAuthAllowed else { throw .offlineNotAllowed }
        let key = LoginKey(user, profile, domain)
        do throws(AuthError) { _ = try remove(user, profile.name, domain: key.domain, server: key.server) } catch {
            guard error == .noCredential else { throw error }
        }
        return try enroll(user, profile, domain: domain, password: password)
    }

    /// Ends a lock-out: sets to zero what is counted against the credential of `user`. Row, mark and log are written as an
    /// attempt writes them, so a ledger from before is refused afterwards.
    ///
    /// - Returns: How many attempts were counted.
    /// - Throws: ``AuthError/noCredential`` where nothing is cached, or it was wiped; ``AuthError/rolledBack``,
    ///   ``AuthError/quarantined``, ``AuthError/otherDeviceKey``, ``AuthError/busy``, ``AuthError/storage(_:)``.
    package func unlock(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none
    ) throws(AuthError) -> Int {
        let key = LoginKey(user, profile, domain)
        let store = try open(key)
        try store.finishPendingWipes()
        let id = try store.find(key).id
        return try store.exclusively(id, unless: cancellation) { () throws(AuthError) in
            var counted: UInt32 = 0
            _ = try store.change(id, recording: { _ in counted > 0 ? [.unlocked(attempts: counted)] : [] }) {
                (row) throws(AuthError) in
                // Attack: a wipe that is due, and was not written because of a crash, is called off.
                guard case .live = row.verifier,
                    row.permission(under: LoginPolicy(profile, row.server), at: clock()) != .wipeDue
                else { throw .noCredential }
                counted = row.charged
                // Attack: a guesser uses up the comparisons behind a server's 401s, and an unlock gives him N + 1 more. They
                // never lock a login, so an unlock does not need to: only an online success gives them back.
                (row.charged, row.failed) = (0, 0)
            }
            return Int(counted)
        }
    }
}
