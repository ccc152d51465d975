// Profiles as files: NAME.json, mode 0600, in a private folder. Each file is written as a whole.

internal import OMSystem

/// `$XDG_CONFIG_HOME/omvault/profiles/`.
public struct ProfileFolder: Sendable {
    /// The longest profile file. Real ones have a few hundred bytes.
    static let longestFile = 64 << 10
    private static let suffix = ".json"

    private let path: String
    /// The administrator's bounds, which limit every profile from this folder.
    public let ceiling: PolicyCeiling
    /// The mode of the folders above, if they are created.
    private let modeAbove: UInt32

    /// Names the folder. It need not exist.
    public init(_ path: String, ceiling: PolicyCeiling = .none) { self.init(path, ceiling: ceiling, above: 0o700) }

    init(_ path: String, ceiling: PolicyCeiling, above mode: UInt32) {
        (self.path, self.ceiling, modeAbove) = (path, ceiling, mode)
    }

    /// - Throws: ``AuthError/unknownProfile(_:)``, ``AuthError/profile(_:)``, ``AuthError/storage(_:)``.
    public func profile(_ name: ProfileName) throws(AuthError) -> Profile {
        guard let folder = try open(), let values = try values(name, in: folder) else { throw .unknownProfile(name) }
        return try Profile(name, values: values, ceiling: ceiling)
    }

    /// Adds `changes` to the profile, and creates the profile if it is missing. Nothing is written unless the result is valid.
    ///
    /// - Parameters:
    ///   - changes: Values as typed, such as `("MaxLoginAttempts", "5")`.
    ///   - unset: Keys that go back to their default.
    /// - Throws: ``AuthError/profile(_:)``, ``AuthError/busy``, ``AuthError/storage(_:)``.
    public func set(
        _ name: ProfileName, _ changes: [(key: String, value: String)], unset: [String] = []
    ) throws(AuthError) -> Profile {
        let keys = try Self.keys(changes.map(\.key) + unset)
        return try locked { (folder) throws(AuthError) in
            try write(try changed(name, changes, keys, in: folder), in: folder)
        }
    }

    /// The profile that ``set(_:_:unset:)`` would write. Nothing is written.
    package func preview(
        _ name: ProfileName, _ changes: [(key: String, value: String)], unset: [String] = []
    ) throws(AuthError) -> Profile {
        try changed(name, changes, try Self.keys(changes.map(\.key) + unset), in: try open())
    }

    private func changed(
        _ name: ProfileName, _ changes: [(key: String, value: String)], _ keys: Set<ProfileKey>, in folder: PrivateFolder?
    ) throws(AuthError) -> Profile {
        var values: [String: ProfileValue] = [:]
        if let folder, let found = try self.values(name, in: folder) { values = found }
        // The file may have the other spelling of a key. That one must not stay beside the new value.
        values = values.filter { entry in ProfileKey(spelled: entry.key).map { !keys.contains($0) } ?? true }
        for change in changes { values[change.key] = .text(change.value) }
        return try Profile(name, values: values, ceiling: ceiling)
    }

    /// Writes `profile`. It replaces any profile of the same name.
    ///
    /// - Throws: ``AuthError/busy``, ``AuthError/storage(_:)``.
    public func store(_ profile: Profile) throws(AuthError) {
        try locked { (folder) throws(AuthError) in _ = try write(profile, in: folder) }
    }

    /// Removes the profile, even a damaged one.
    ///
    /// - Throws: ``AuthError/unknownProfile(_:)``, ``AuthError/busy``, ``AuthError/storage(_:)``.
    public func remove(_ name: ProfileName) throws(AuthError) {
        guard try open() != nil else { throw .unknownProfile(name) }
        try locked { (folder) throws(AuthError) in
            guard try storing({ () throws(StorageError) in try folder.remove(Self.file(name)) }) else {
                throw .unknownProfile(name)
            }
        }
    }

    /// The names of all profiles, sorted. Files whose names are no profile names are left out.
    public func names() throws(AuthError) -> [ProfileName] {
        guard let folder = try open() else { return [] }
        let files = try storing { () throws(StorageError) in try folder.names() }
        return files.filter { $0.hasSuffix(Self.suffix) }
            .compactMap { try? ProfileName(String($0.dropLast(Self.suffix.count))) }
            .sorted { $0.text < $1.text }
    }

    private static func keys(_ spellings: [String]) throws(AuthError) -> Set<ProfileKey> {
        var keys: Set<ProfileKey> = []
        do throws(ProfileProblem) {
            for spelling in spellings {
                let key = try ProfileKey(known: spelling)
                guard keys.insert(key).inserted else { throw .repeatedKey(key) }
            }
        } catch { throw .profile(error) }
        return keys
    }

    private func locked<R>(_ body: (PrivateFolder) throws(AuthError) -> R) throws(AuthError) -> R {
        let folder = try storing { () throws(StorageError) in try PrivateFolder.make(path, above: modeAbove) }
        return try folder.lock(".lock").hold { () throws(AuthError) in try body(folder) }
    }

    private func write(_ profile: Profile, in folder: PrivateFolder) throws(AuthError) -> Profile {
        let bytes = FlatJSON.encode(
            Dictionary(uniqueKeysWithValues: profile.values.map { ($0.key.rawValue, $0.value) }))
        // The written file must be readable again.
        guard bytes.count <= Self.longestFile else { throw .profile(.malformed) }
        try storing { () throws(StorageError) in try folder.replace(Self.file(profile.name), holding: bytes) }
        return profile
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
