// Files that are read or written once from front to end, anywhere: a backup on somebody's USB stick.

internal import Glibc

/// A file that gets its name when it is whole and on the disk.
public struct DraftFile: ~Copyable {
    /// Where it stands until then; taken away by ``finish()`` and on every way out.
    public let draft: String
    private let path: String
    private let descriptor: Int32

    /// - Throws: ``StorageError/exists`` when something has the name already.
    public static func make(for path: String) throws(StorageError) -> DraftFile {
        guard try !FilePath.exists(path) else { throw .exists }
        StaleDrafts.remove(for: path)
        let draft = draftName(for: path)
        let descriptor = retryingInterrupts {
            open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard descriptor >= 0 else { throw .last }
        // Tells it from a draft that a killed process left. Where a file system has no locks, its age alone does.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        return DraftFile(draft: draft, path: path, descriptor: descriptor)
    }

    private init(draft: String, path: String, descriptor: Int32) {
        (self.draft, self.path, self.descriptor) = (draft, path, descriptor)
    }

    deinit {
        close(descriptor)
        unlink(draft)
    }

    public func write(_ bytes: [UInt8]) throws(StorageError) {
        var done = 0
        while done < bytes.count {
            let put = bytes.withUnsafeBytes { buffer in
                retryingInterrupts { Glibc.write(descriptor, buffer.baseAddress! + done, buffer.count - done) }
            }
            guard put > 0 else { throw .last }
            done += put
        }
    }

    /// Waits until the disk has the bytes. A sync that failed is not tried again, see ``PrivateFile``.
    public func sync() throws(StorageError) {
        guard fdatasync(descriptor) == 0 else { throw .last }
    }

    /// Gives the file its name.
    ///
    /// - Throws: ``StorageError/exists`` when somebody else was first: nothing is replaced.
    public consuming func finish() throws(StorageError) {
        if link(draft, path) != 0 {
            // Some file systems have no links.
            guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw .last }
            guard try !FilePath.exists(path) else { throw .exists }
            guard rename(draft, path) == 0 else { throw .last }
        }
        try syncFolder(above: path)
    }
}

/// A regular file of anybody's, read through a buffer.
public struct StreamFile: ~Copyable {
    private static let bufferCount = 1 << 20

    /// The bytes that it had when it was opened.
    public let count: Int
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var used = 0

    /// - Throws: ``StorageError/missing``, ``StorageError/hazardous(_:path:)`` for anything but a regular file.
    public static func open(_ path: String) throws(StorageError) -> StreamFile {
        let descriptor = retryingInterrupts { Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard descriptor >= 0 else { throw .last }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .hazardous(.notRegular, path: path)
        }
        return StreamFile(count: Int(status.st_size), descriptor: descriptor)
    }

    private init(count: Int, descriptor: Int32) { (self.count, self.descriptor) = (count, descriptor) }

    deinit { close(descriptor) }

    /// The next bytes: `count` of them, or fewer at the end.
    public mutating func read(_ count: Int) throws(StorageError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(count, Self.bufferCount))
        while bytes.count < count {
            if used == buffer.count {
                try fill()
                if buffer.isEmpty { break }
            }
            let taken = min(count - bytes.count, buffer.count - used)
            bytes += buffer[used..<used + taken]
            used += taken
        }
        return bytes
    }

    /// Back to the start.
    public mutating func rewind() throws(StorageError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .last }
        (buffer, used) = ([], 0)
    }

    private mutating func fill() throws(StorageError) {
        let descriptor = descriptor
        var bytes = [UInt8](repeating: 0, count: Self.bufferCount)
        let got = bytes.withUnsafeMutableBytes { target in
            retryingInterrupts { Glibc.read(descriptor, target.baseAddress, target.count) }
        }
        guard got >= 0 else { throw .last }
        (buffer, used) = (Array(bytes.prefix(got)), 0)
    }
}
