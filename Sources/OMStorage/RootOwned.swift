// Folders that only root can have changed.

internal import Glibc

extension PrivateFolder {
    /// Checks every part of an absolute `path` that is there, from `/` on: a folder, root's, and nobody else's to write.
    ///
    /// - Throws: ``StorageError/hazardous(_:path:)`` with the first part that is not.
    public static func checkRootOwned(_ path: String) throws(StorageError) {
        precondition(path.hasPrefix("/"), "a folder of root's is named from the root on")
        var part = ""
        for name in [""] + path.split(separator: "/").map(String.init) {
            part = part == "/" ? "/\(name)" : "\(part)/\(name)"
            var status = stat()
            guard lstat(part, &status) == 0 else {
                // What is not there yet will be made in a folder that was checked.
                if errno == ENOENT { return }
                throw .last
            }
            if status.st_mode & S_IFMT == S_IFLNK { throw .hazardous(.symbolicLink, path: part) }
            try TrustedFile.check(status, S_IFDIR, .notAFolder, part, 0)
        }
    }

    /// Checks a folder of omvault's own in the same way, and that nobody but root can look into it. One that is not there is
    /// made later, in a folder that was checked.
    ///
    /// - Throws: ``StorageError/hazardous(_:path:)``.
    public static func checkRootsOwn(_ path: String) throws(StorageError) {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try checkRootOwned(String(path[..<slash])) }
        do throws(StorageError) { _ = try PrivateFolder(path) } catch {
            guard error == .missing else { throw error }
        }
    }
}
