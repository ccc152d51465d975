internal import Glibc

/// The device and inode of a file. No other file has both at the same time.
package struct FileNumber: Equatable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    /// - Returns: nil if there is no file at `path`. A symbolic link is not followed.
    package init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }
}
