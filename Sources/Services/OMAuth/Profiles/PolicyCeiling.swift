// What the administrator of this machine allows at most, whatever a server or a user's profile says.

internal import OMSystem

/// The bounds of `/etc/omvault/policy.json`. Nothing raises them.
public struct PolicyCeiling: Hashable, Sendable {
    /// What a server may say where the administrator says nothing.
    public static let defaultAttempts = 10

    /// The most wrong passwords that are tolerated; nil: ``defaultAttempts`` for a server, no bound for a profile.
    public let maxLoginAttempts: Int?
    /// False: no offline login on this machine.
    public let offlineAuthAllowed: Bool
    /// Seconds; nil: no bound.
    public let offlineCredentialMaxAge: Int64?

    /// What holds where the administrator wrote no policy.
    public static let none = PolicyCeiling()

    public init(maxLoginAttempts: Int? = nil, offlineAuthAllowed: Bool = true, offlineCredentialMaxAge: Int64? = nil) {
        (self.maxLoginAttempts, self.offlineAuthAllowed) = (maxLoginAttempts, offlineAuthAllowed)
        self.offlineCredentialMaxAge = offlineCredentialMaxAge
    }

    /// Reads the policy; ``none`` when there is no such file.
    ///
    /// - Parameter owner: Who must own the file and its folder, which nobody else may be able to change: root.
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
