// Files that only this user can have written, and that close themselves.

internal import Glibc

/// An open file of this user: regular, closed to all other users, not a symbolic link.
package struct PrivateFile: ~Copyable {
    package let descriptor: Int32

    /// - Parameter flags: The flags of `open`. This adds `O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK`.
    package init(_ path: String, _ flags: Int32) throws(StorageError) {
        descriptor = retryingInterrupts { open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600) }
        guard descriptor >= 0 else {
            if errno == ELOOP { throw .hazardous(.symbolicLink, path: path) }
            throw .last
        }
        // No close if this throws: all of `self` is set here, so `deinit` runs. A second close could close a descriptor
        // that another thread has opened meanwhile.
        try FileTrust.own.check(open: descriptor, .file, at: path)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The file, or nil if there is none.
    package static func ifPresent(_ path: String, _ flags: Int32) throws(StorageError) -> PrivateFile? {
        do throws(StorageError) { return try PrivateFile(path, flags) } catch {
            if error == .missing { return nil }
            throw error
        }
    }

    /// Checks a file by its name alone. SQLite's files must not be opened for that. Closing any descriptor of a file
    /// drops every `fcntl` lock of this process on it, those of other connections too.
    ///
    /// - Returns: false if there is no file.
    package static func inspect(_ path: String) throws(StorageError) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return false }
            throw .last
        }
        try FileTrust.own.check(status, .file, at: path)
        return true
    }

    package static func hasSecondName(_ path: String) throws(StorageError) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            // The last process that used the file has just deleted it.
            if errno == ENOENT { return false }
            throw .last
        }
        return status.st_nlink > 1
    }

    /// Whether `path` still names this open file.
    package func isStill(at path: String) -> Bool {
        guard let mine = FileNumber(open: descriptor) else { return false }
        return mine == FileNumber(path)
    }

    /// Reads up to `count` bytes from the start.
    package func read(_ count: Int) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                retryingInterrupts { pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(filled)) }
            }
            guard got >= 0 else { throw .last }
            if got == 0 { break }
            filled += got
        }
        return Array(bytes.prefix(filled))
    }

    /// Reads from the start as much as fits into `target`, in one call.
    ///
    /// - Returns: How many bytes it read.
    package func read(into target: inout MutableSpan<UInt8>) throws(StorageError) -> Int {
        let got = target.withUnsafeMutableBytes { buffer in
            retryingInterrupts { pread(descriptor, buffer.baseAddress, buffer.count, 0) }
        }
        guard got >= 0 else { throw .last }
        return got
    }

    /// Writes all of `bytes` at `offset` and waits until the disk has them. A failed sync is not tried again. The
    /// kernel has dropped the pages by then, so a second sync would report success for lost bytes.
    package func writeDurably(_ bytes: Span<UInt8>, at offset: Int) throws(StorageError) {
        try write(bytes, at: offset)
        guard fdatasync(descriptor) == 0 else { throw .last }
    }

    /// Writes all of `bytes` at `offset`. The system decides when the disk gets them.
    package func write(_ bytes: Span<UInt8>, at offset: Int) throws(StorageError) {
        try writeAll(bytes, to: descriptor, at: offset)
    }
}

/// Syncs the folder of `path`, so that a new name in it survives a power cut.
package func syncFolder(above path: String) throws(StorageError) {
    let folder = FilePath.folder(of: path)
    let descriptor = retryingInterrupts { open(folder, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .last }
}

/// Writes all of `bytes` at `offset`.
func writeAll(_ bytes: Span<UInt8>, to descriptor: Int32, at offset: Int) throws(StorageError) {
    var written = 0
    while written < bytes.count {
        let put = bytes.withUnsafeBytes { buffer in
            retryingInterrupts {
                pwrite(descriptor, buffer.baseAddress! + written, buffer.count - written, off_t(offset + written))
            }
        }
        guard put > 0 else { throw .last }
        written += put
    }
}

package func retryingInterrupts<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
