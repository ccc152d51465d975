internal import Glibc

/// What tells a file from every other one that exists at the same time.
package struct FileNumber: Equatable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    /// - Returns: nil when there is no file at `path`. A link counts as itself.
    package init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }
}
