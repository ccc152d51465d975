// The administrator's bounds for this machine. They limit every server and every user's profile.

internal import OMSystem

/// The bounds of `/etc/omvault/policy.json`. Nothing raises them.
public struct PolicyCeiling: Hashable, Sendable {
    /// The most attempts that a server may allow if the administrator sets no number.
    public static let defaultAttempts = 10

    /// The most wrong passwords that are tolerated. If nil, ``defaultAttempts`` for a server and no bound for a profile.
    public let maxLoginAttempts: Int?
    /// If false, no offline login works on this machine.
    public let offlineAuthAllowed: Bool
    /// In seconds. Nil means no bound.
    public let offlineCredentialMaxAge: Int64?

    /// The bounds if the administrator wrote no policy.
    public static let none = PolicyCeiling()

    public init(maxLoginAttempts: Int? = nil, offlineAuthAllowed: Bool = true, offlineCredentialMaxAge: Int64? = nil) {
        (self.maxLoginAttempts, self.offlineAuthAllowed) = (maxLoginAttempts, offlineAuthAllowed)
        self.offlineCredentialMaxAge = offlineCredentialMaxAge
    }

    /// Reads the policy. Returns ``none`` if there is no such file.
    ///
    /// - Parameter owner: The user who must own the file and its folder, and who alone may change them: root.
    /// - Throws: ``AuthError/profile(_:)`` with ``ProfileProblem/ceiling``, ``AuthError/storage(_:)``.
    public static func read(_ path: String, owner: UInt32 = 0) throws(AuthError) -> PolicyCeiling {
        let bytes: [UInt8]?
        do throws(StorageError) { bytes = try TrustedFile.read(path, owner: owner, limit: 64 << 10) } catch {
            throw error == .corrupt ? .profile(.ceiling) : .storage(error)
        }
        guard let bytes else { return none }
        do throws(ProfileProblem) { return try PolicyCeiling(json: bytes) } catch { throw .profile(.ceiling) }
    }

    init(json bytes: [UInt8]) throws(ProfileProblem) {
        var given: [ProfileKey: ProfileValue] = [:]
        for (spelling, value) in try FlatJSON.decode(bytes) {
            guard let key = ProfileKey(rawValue: spelling), Self.keys.contains(key) else { throw .ceiling }
            given[key] = try key.canonical(value)
        }
        let age = given[.offlineCredentialMaxAge].flatMap(Profile.digits) ?? 0
        self.init(
            maxLoginAttempts: given[.maxLoginAttempts].flatMap(Profile.digits).map { Int($0) },
            offlineAuthAllowed: given[.offlineAuthAllowed] != .bool(false),
            offlineCredentialMaxAge: age == 0 ? nil : age)
    }

    private static let keys: Set<ProfileKey> = [.maxLoginAttempts, .offlineAuthAllowed, .offlineCredentialMaxAge]
}
