package import OMAgentProtocol
internal import OMSystem

extension UserFolders {
    /// What there is to read of a profile. Nil if the name is a path, or if the files cannot be read safely.
    package func reading(ofProfile name: String) -> ProfileReading? {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(0) else { return nil }
        do throws(StorageError) {
            // ProfileFolder refuses a longer file.
            guard let profile = try PrivateFolder(profiles).read("\(name).json", limit: 64 << 10) else { return nil }
            let bounds = try TrustedFile.read(TrustedFile.policy, owner: 0, limit: 64 << 10)
            return ProfileReading(profile: profile, bounds: bounds)
        } catch { return nil }
    }
}
