// Profiles as files: NAME.json, 0600, in a folder of our own, replaced whole or not at all.

internal import OMStorage

/// `$XDG_CONFIG_HOME/omvault/profiles/`.
public struct ProfileFolder: Sendable {
    /// A profile file is at most this long; ours have a few hundred bytes.
    static let longestFile = 64 << 10
    private static let suffix = ".json"

    private let path: String

    /// Names the folder; it need not be there.
    public init(_ path: String) { self.path = path }

    /// - Throws: ``AuthError/unknownProfile(_:)``, ``AuthError/profile(_:)``, ``AuthError/storage(_:)``.
    public func profile(_ name: ProfileName) throws(AuthError) -> Profile {
        guard let folder = try open(), let values = try values(name, in: folder) else { throw .unknownProfile(name) }
        return try Profile(name, values: values)
    }

    /// Adds `changes` to the profile, which is made if it is not there; nothing is written unless all of it is valid.
    ///
    /// - Parameter changes: Values as typed, such as `("MaxLoginAttempts", "5")`.
    /// - Throws: ``AuthError/profile(_:)``, ``AuthError/busy``, ``AuthError/storage(_:)``.
    public func set(_ name: ProfileName, _ changes: [(key: String, value: String)]) throws(AuthError) -> Profile {
        let folder = try storing { () throws(StorageError) in try PrivateFolder.make(path) }
        return try folder.lock(".lock").hold { () throws(AuthError) in
            var values = try values(name, in: folder) ?? [:]
            for change in changes { values[change.key] = .text(change.value) }
            let profile = try Profile(name, values: values)
            let effective = profile.values.keys.map { ($0.rawValue, profile.effective($0)) }
            let bytes = FlatJSON.encode(Dictionary(uniqueKeysWithValues: effective))
            try storing { () throws(StorageError) in try folder.replace(Self.file(name), holding: bytes) }
            return profile
        }
    }

    /// The profiles that are there, by name; files that are not named like one are left out.
    public func names() throws(AuthError) -> [ProfileName] {
        guard let folder = try open() else { return [] }
        let files = try storing { () throws(StorageError) in try folder.names() }
        return files.filter { $0.hasSuffix(Self.suffix) }
            .compactMap { try? ProfileName(String($0.dropLast(Self.suffix.count))) }
            .sorted { $0.text < $1.text }
    }

    private func open() throws(AuthError) -> PrivateFolder? {
        do throws(StorageError) { return try PrivateFolder(path) } catch {
            if error == .missing { return nil }
            throw AuthError(storage: error)
        }
    }

    private func values(_ name: ProfileName, in folder: PrivateFolder) throws(AuthError) -> [String: ProfileValue]? {
        let bytes: [UInt8]?
        do throws(StorageError) { bytes = try folder.read(Self.file(name), limit: Self.longestFile) } catch {
            throw error == .corrupt ? .profile(.malformed) : AuthError(storage: error)
        }
        guard let bytes else { return nil }
        do throws(ProfileProblem) { return try FlatJSON.decode(bytes) } catch { throw .profile(error) }
    }

    private static func file(_ name: ProfileName) -> String { name.text + suffix }
}
