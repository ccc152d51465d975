// The presets of omvault, and those of this machine's administrator: docs/reference/profiles.md, "Presets".

internal import OMJSON
internal import OMSystem

/// All presets, sorted by name.
package struct ProfilePresets: Sendable {
    package let all: [ProfilePreset]

    /// The names of those that the administrator of this machine added or replaced.
    package let ownNames: Set<String>

    package subscript(name: String) -> ProfilePreset? { all.first { $0.name == name } }

    /// Reads the administrator's presets. One with the name of a preset of omvault takes its place.
    ///
    /// - Parameter owner: The user who must own the file and its folder, and who alone may change them: root.
    /// - Throws: ``AuthError/profile(_:)`` with ``ProfileProblem/presets``, ``AuthError/storage(_:)``.
    package static func read(_ path: String, owner: UInt32 = 0) throws(AuthError) -> ProfilePresets {
        let bytes: [UInt8]?
        do throws(StorageError) { bytes = try TrustedFile.read(path, owner: owner, limit: 64 << 10) } catch {
            throw error == .corrupt ? .profile(.presets) : .storage(error)
        }
        do throws(ProfileProblem) {
            let own = try bytes.map(presets) ?? []
            let names = Set(own.map(\.name))
            let others = try builtIn().filter { !names.contains($0.name) }
            return ProfilePresets(all: (own + others).sorted { $0.name < $1.name }, ownNames: names)
        } catch { throw .profile(error) }
    }

    /// omvault's own.
    static func builtIn() throws(ProfileProblem) -> [ProfilePreset] { try presets(PackageResources.presets_json) }

    static func presets(_ bytes: [UInt8]) throws(ProfileProblem) -> [ProfilePreset] {
        guard let members = (try? JSON(parsing: bytes.span))?.members else { throw .presets }
        var presets: [ProfilePreset] = []
        for (name, json) in members { presets.append(try ProfilePreset(name, json)) }
        return presets
    }
}
