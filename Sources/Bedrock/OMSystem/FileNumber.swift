internal import Glibc

/// The device and inode of a file. No other file has both at the same time.
package struct FileNumber: Equatable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    /// The file that is open.
    package init?(open descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file that `path` leads to, through links.
    package init?(following path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }

    /// - Returns: nil if there is no file at `path`. A symbolic link is not followed.
    package init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
