// The one rule for "may this file be trusted?": its kind, its owner, and what other users can do with it.

package import Glibc

/// The owner and mode that a file or folder must have before this process reads from it or writes to it.
package enum FileTrust {
    /// It belongs to this user, and no other user has any access.
    case own
    /// It belongs to one of `owners`, and no other user can write to it. Every user may read it.
    case writable(by: Set<uid_t>)

    package enum Kind {
        case file, folder
    }

    /// Checks what `stat` reported. A symbolic link is never trusted.
    ///
    /// - Throws: ``StorageError/hazardous(_:path:)``.
    package func check(_ status: stat, _ kind: Kind, at path: String) throws(StorageError) {
        let (format, wrong): (mode_t, FileHazard) = kind == .file ? (S_IFREG, .notRegular) : (S_IFDIR, .notAFolder)
        guard status.st_mode & S_IFMT == format else {
            throw .hazardous(status.st_mode & S_IFMT == S_IFLNK ? .symbolicLink : wrong, path: path)
        }
        switch self {
        case .own:
            guard status.st_uid == geteuid() else { throw .hazardous(.otherOwner, path: path) }
            guard status.st_mode & 0o077 == 0 else { throw .hazardous(.openToOthers, path: path) }
        case .writable(let owners):
            guard owners.contains(status.st_uid) else { throw .hazardous(.otherOwner, path: path) }
            guard status.st_mode & 0o022 == 0 else { throw .hazardous(.writableByOthers, path: path) }
        }
    }

    /// Checks an open file or folder.
    ///
    /// - Returns: What `fstat` reported.
    @discardableResult
    package func check(open descriptor: Int32, _ kind: Kind, at path: String) throws(StorageError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .last }
        try check(status, kind, at: path)
        return status
    }
}
