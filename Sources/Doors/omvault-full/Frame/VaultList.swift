// The vaults of a user's folder, by the names of their files.

internal import Glibc
internal import OMShell

enum VaultList {
    /// The names, sorted. None if the folder cannot be read.
    static func names(in folders: UserFolders) -> [String] {
        guard let stream = opendir(folders.vaults) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let file = String(decoding: bytes, as: UTF8.self)
            guard file.hasSuffix(".omv"), let vault = try? VaultLocation(String(file.dropLast(4)), in: folders) else { continue }
            // `a.omv.omv` has no vault's name: the command takes `a.omv` for a path.
            guard vault.path == "\(folders.vaults)/\(file)" else { continue }
            if isFile(vault.path) { names.append(vault.name) }
        }
        return names.sorted()
    }

    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The first few of them for a message, and how many more there are.
    static func words(_ names: [String]) -> String {
        let more = names.count - 5
        return names.prefix(5).map(\.shown).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}
