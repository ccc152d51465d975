// Files that only one user can have written and every user may read, such as an administrator's file in /etc.

internal import Glibc

package enum TrustedFile {
    /// The administrator's bounds for every profile of this machine. Every user may read it.
    package static let policy = "/etc/omvault/policy.json"

    /// The bytes of the file, or nil if there is none.
    ///
    /// The file and its folder must belong to `owner`, and no other user may write to them. Otherwise another user
    /// could delete the file, and what it forbids would be allowed.
    ///
    /// - Throws: ``StorageError/hazardous(_:path:)``; ``StorageError/corrupt`` if the file has more than `limit` bytes.
    package static func read(_ path: String, owner: UInt32, limit: Int) throws(StorageError) -> [UInt8]? {
        let folderPath = FilePath.folder(of: path)
        guard folderPath != "/", folderPath != "." else { throw .missing }
        let folder = open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard folder >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ELOOP || errno == ENOTDIR { throw .hazardous(.symbolicLink, path: folderPath) }
            throw .last
        }
        defer { close(folder) }
        try FileTrust.writable(by: [owner]).check(open: folder, .folder, at: folderPath)
        let file = retryingInterrupts {
            openat(folder, FilePath.name(of: path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        }
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ELOOP { throw .hazardous(.symbolicLink, path: path) }
            throw .last
        }
        defer { close(file) }
        try FileTrust.writable(by: [owner]).check(open: file, .file, at: path)
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var filled = 0
        while filled < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                retryingInterrupts { Glibc.read(file, buffer.baseAddress! + filled, buffer.count - filled) }
            }
            guard got >= 0 else { throw .last }
            if got == 0 { break }
            filled += got
        }
        guard filled <= limit else { throw .corrupt }
        return Array(bytes.prefix(filled))
    }
}
