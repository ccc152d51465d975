// Checks of folders that only root, or only root and one user, can have changed.

internal import Glibc

extension PrivateFolder {
    /// Checks every existing part of an absolute `path`, from `/` on. Each must be a folder that root owns and that no
    /// other user can write to.
    ///
    /// - Throws: ``StorageError/hazardous(_:path:)`` with the first part that fails.
    package static func checkRootOwned(_ path: String) throws(StorageError) {
        try checkParts(of: path, user: 0, allowsSticky: false)
    }

    /// Like ``checkRootOwned(_:)``, but parts may also belong to `user`. Above the last part, a sticky folder of root
    /// is fine, such as `/tmp`: other users can neither rename nor remove files there that are not theirs.
    package static func checkOwned(_ path: String, by user: UInt32) throws(StorageError) {
        try checkParts(of: path, user: user, allowsSticky: true)
    }

    private static func checkParts(of path: String, user: UInt32, allowsSticky: Bool) throws(StorageError) {
        precondition(FilePath.isAbsolute(path), "a folder is named from the root on")
        let names = [""] + FilePath.names(in: path)
        var part = ""
        for (index, name) in names.enumerated() {
            part = part == "/" ? "/\(name)" : "\(part)/\(name)"
            var status = stat()
            guard lstat(part, &status) == 0 else {
                // A missing part is created later, in a folder that was checked here.
                if errno == ENOENT { return }
                throw .last
            }
            let isSticky = status.st_mode & S_ISVTX != 0 && status.st_uid == 0
            if allowsSticky, isSticky, index < names.count - 1 { status.st_mode &= ~0o022 }
            try FileTrust.writable(by: [0, user]).check(status, .folder, at: part)
        }
    }

    /// Checks a folder of omvault's own in the same way. No user except root may read it either. A missing folder
    /// passes: it is created later, in a folder that was checked.
    ///
    /// - Throws: ``StorageError/hazardous(_:path:)``.
    package static func checkRootsOwn(_ path: String) throws(StorageError) {
        try checkRootOwned(FilePath.folder(of: path))
        do throws(StorageError) { _ = try PrivateFolder(path) } catch {
            guard error == .missing else { throw error }
        }
    }
}
