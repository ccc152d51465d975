// The store of root, for PAM and `omvault login … --system`. A user's own ledger can prove the user to this user only.

internal import Glibc
public import OMSecrets
internal import OMSystem

/// `/var/lib/omvault` and `/etc/omvault`, with their own device key. They belong to root only, and no environment
/// variable moves them.
public enum SystemStore {
    package static let state = "/var/lib/omvault"
    package static let device = "/var/lib/omvault/device"
    package static let profiles = "/etc/omvault/profiles"
    /// The file with the bounds for every profile of this machine. Every user may read it.
    public static let policy = TrustedFile.policy
    /// The file with the presets of this machine. Every user may read it.
    package static let presets = "/etc/omvault/presets.json"

    /// Checks every folder on the way before it trusts anything in them.
    ///
    /// Attack: a user puts a ledger with a known password, or a link to one, under the system's name. Only root may be
    /// able to change the folders.
    ///
    /// - Throws: ``AuthError/rootRequired``, ``AuthError/storage(_:)`` with the folder that another user could change.
    package static func check() throws(AuthError) {
        guard geteuid() == 0 else { throw .rootRequired }
        for path in [state, device, profiles] {
            do throws(StorageError) { try PrivateFolder.checkRootsOwn(path) } catch { throw AuthError(storage: error) }
        }
    }

    /// - Throws: Like ``check()``.
    package static func authenticator(
        _ parameters: Argon2id.Parameters = .standard
    ) throws(AuthError) -> Authenticator {
        try check()
        return Authenticator(stateFolder: state, deviceFolder: device, parameters: parameters)
    }

    /// - Throws: Like ``check()``.
    package static func profileFolder() throws(AuthError) -> ProfileFolder {
        try check()
        return ProfileFolder(profiles, ceiling: try PolicyCeiling.read(policy), above: 0o755)
    }
}

extension Authenticator {
    /// Makes the credential of `user`, whether there is one or not. This is for root, who could also delete the whole
    /// store. The old credential is removed first, so its slot is dead even if the machine stops in between.
    ///
    /// - Throws: Like ``enroll(_:_:domain:password:)``.
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

    /// Ends a lock-out: it resets the attempts that are counted against the credential of `user`. Row, mark and log are
    /// written like for an attempt, so an older ledger is refused afterwards.
    ///
    /// - Returns: How many attempts were counted.
    /// - Throws: ``AuthError/noCredential`` if none is cached, or if it was wiped; ``AuthError/rolledBack``,
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
                // Attack: a wipe is due that a crash left unwritten, and an unlock would cancel it. So the unlock is refused.
                guard case .live = row.verifier,
                    row.permission(under: LoginPolicy(profile, row.server), at: clock()) != .wipeDue
                else { throw .noCredential }
                counted = row.charged
                // Attack: an attacker uses up the comparisons behind a server's 401s, and an unlock would give N + 1
                // more. Comparisons never lock a login, so an unlock need not reset them. Only an online success does.
                (row.charged, row.failed) = (0, 0)
            }
            return Int(counted)
        }
    }
}
