// The store that root asks: PAM, and `omvault login … --system`. A user's own ledger proves the user to himself only.

public import OMSecrets
internal import Glibc
internal import OMStorage

/// `/var/lib/omvault` and `/etc/omvault`, with a device key of their own: root's alone, whoever's environment this is.
public enum SystemStore {
    public static let state = "/var/lib/omvault"
    public static let device = "/var/lib/omvault/device"
    public static let profiles = "/etc/omvault/profiles"
    /// What bounds every profile of this machine; everybody may read it.
    public static let policy = "/etc/omvault/policy.json"

    /// Looks at every folder on the way, before anything in them is believed.
    ///
    /// Attack: a user's own ledger under the system's name, with a password that he knows; or a link to it.
    ///
    /// - Throws: ``AuthError/rootRequired``, ``AuthError/storage(_:)`` with the folder that somebody else could change.
    public static func check() throws(AuthError) {
        guard geteuid() == 0 else { throw .rootRequired }
        for path in [device, profiles] {
            do throws(StorageError) { try PrivateFolder.checkRootOwned(path) } catch { throw AuthError(storage: error) }
        }
    }

    /// - Throws: as ``check()``.
    public static func authenticator(
        _ parameters: Argon2id.Parameters = .standard
    ) throws(AuthError) -> Authenticator {
        try check()
        return Authenticator(stateFolder: state, deviceFolder: device, parameters: parameters)
    }

    /// - Throws: as ``check()``.
    public static func profileFolder() throws(AuthError) -> ProfileFolder {
        try check()
        return ProfileFolder(profiles, ceiling: try PolicyCeiling.read(policy))
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
}
