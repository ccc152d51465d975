// Folders that only root, or only root and one user, can have changed.

internal import Glibc

extension PrivateFolder {
    /// Checks every part of an absolute `path` that is there, from `/` on: a folder, root's, and nobody else's to write.
    ///
    /// - Throws: ``StorageError/hazardous(_:path:)`` with the first part that is not.
    package static func checkRootOwned(_ path: String) throws(StorageError) {
        try checkParts(of: path, user: 0, allowsSticky: false)
    }

    /// The same of a path whose parts may also be `user`'s. Above the last part a sticky folder of root's, such as `/tmp`, is
    /// fine: others can neither rename nor remove what is not theirs there.
    package static func checkOwned(_ path: String, by user: UInt32) throws(StorageError) {
        try checkParts(of: path, user: user, allowsSticky: true)
    }

    private static func checkParts(of path: String, user: UInt32, allowsSticky: Bool) throws(StorageError) {
        precondition(path.hasPrefix("/"), "a folder is named from the root on")
        let names = [""] + FilePath.names(in: path)
        var part = ""
        for (index, name) in names.enumerated() {
            part = part == "/" ? "/\(name)" : "\(part)/\(name)"
            var status = stat()
            guard lstat(part, &status) == 0 else {
                // What is not there yet will be made in a folder that was checked.
                if errno == ENOENT { return }
                throw .last
            }
            let isSticky = status.st_mode & S_ISVTX != 0 && status.st_uid == 0
            if allowsSticky, isSticky, index < names.count - 1 { status.st_mode &= ~0o022 }
            try FileTrust.writable(by: [0, user]).check(status, .folder, at: part)
        }
    }

    /// Checks a folder of omvault's own in the same way, and that nobody but root can look into it. One that is not there is
    /// made later, in a folder that was checked.
    ///
    /// - Throws: ``StorageError/hazardous(_:path:)``.
    package static func checkRootsOwn(_ path: String) throws(StorageError) {
        try checkRootOwned(FilePath.folder(of: path))
        do throws(StorageError) { _ = try PrivateFolder(path) } catch {
            guard error == .missing else { throw error }
        }
    }
}
