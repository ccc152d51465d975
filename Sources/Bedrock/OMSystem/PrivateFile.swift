// Files that only we can have written, and descriptors that close themselves.

internal import COMSystem
internal import Glibc

/// An open file of ours: regular, owned by this user, closed to everybody else, no symbolic link.
package struct PrivateFile: ~Copyable {
    package let descriptor: Int32

    /// - Parameter flags: added to `O_CLOEXEC | O_NOFOLLOW`.
    package init(_ path: String, _ flags: Int32) throws(StorageError) {
        descriptor = retryingInterrupts { open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600) }
        guard descriptor >= 0 else {
            if errno == ELOOP { throw .hazardous(.symbolicLink, path: path) }
            throw .last
        }
        // No close where this throws: from here on all of `self` is there, and `deinit` runs. A second close would take away
        // what another thread has opened meanwhile.
        try FileTrust.own.check(open: descriptor, .file, at: path)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The file, or nil when there is none.
    package static func ifPresent(_ path: String, _ flags: Int32) throws(StorageError) -> PrivateFile? {
        do throws(StorageError) { return try PrivateFile(path, flags) } catch {
            if error == .missing { return nil }
            throw error
        }
    }

    /// Checks a file by its name alone. SQLite's files must not be opened for that: closing any descriptor of a file drops
    /// every `fcntl` lock that this process holds on it, those of other connections too.
    ///
    /// - Returns: false when there is none.
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
            // Its last user took it away a moment ago.
            if errno == ENOENT { return false }
            throw .last
        }
        return status.st_nlink > 1
    }

    /// Whether the path still names the file that is open here.
    package func isStill(at path: String) -> Bool {
        var mine = stat()
        var named = stat()
        return fstat(descriptor, &mine) == 0 && lstat(path, &named) == 0 && mine.st_ino == named.st_ino
            && mine.st_dev == named.st_dev
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

    /// Reads from the start what fits into `target`, in one call.
    ///
    /// - Returns: how many bytes it read.
    package func read(into target: inout MutableSpan<UInt8>) throws(StorageError) -> Int {
        let got = target.withUnsafeMutableBytes { buffer in
            retryingInterrupts { pread(descriptor, buffer.baseAddress, buffer.count, 0) }
        }
        guard got >= 0 else { throw .last }
        return got
    }

    /// Writes all of `bytes` at `offset` and waits until the disk has them. A sync that failed is not tried again: the
    /// kernel has dropped the pages, so a second one would report success for bytes that are gone.
    package func writeDurably(_ bytes: Span<UInt8>, at offset: Int) throws(StorageError) {
        try write(bytes, at: offset)
        guard fdatasync(descriptor) == 0 else { throw .last }
    }

    /// Writes all of `bytes` at `offset`; the disk has them when the system finds the time.
    package func write(_ bytes: Span<UInt8>, at offset: Int) throws(StorageError) {
        try writeAll(bytes, to: descriptor, at: offset)
    }
}

/// A folder of ours with mode 0700.
public struct PrivateFolder: Hashable, Sendable {
    public let path: String

    /// - Throws: ``StorageError/missing``, ``StorageError/hazardous(_:path:)``.
    public init(_ path: String) throws(StorageError) {
        let descriptor = retryingInterrupts { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        guard descriptor >= 0 else {
            if errno == ELOOP { throw .hazardous(.symbolicLink, path: path) }
            throw .last
        }
        defer { close(descriptor) }
        try FileTrust.own.check(open: descriptor, .folder, at: path)
        // flock and fdatasync promise too little there to count attempts.
        guard om_is_on_network(descriptor) == 0 else { throw .hazardous(.onNetwork, path: path) }
        self.path = path
    }

    /// Makes the folder and those above it that are missing, then checks it. The folder is 0700.
    ///
    /// - Parameter mode: Of those above it, whatever the umask.
    public static func make(_ path: String, above mode: UInt32 = 0o700) throws(StorageError) -> PrivateFolder {
        var missing: [String] = []
        var rest = path
        while access(rest, F_OK) != 0, errno == ENOENT, let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")),
            slash != rest.startIndex
        {
            missing.append(rest)
            rest = String(rest[..<slash])
        }
        for folder in missing.reversed() {
            if mkdir(folder, 0o700) != 0 {
                guard errno == EEXIST else { throw .last }
            } else if folder != path, mode != 0o700 {
                guard chmod(folder, mode) == 0 else { throw .last }
            }
            try syncFolder(above: folder)
        }
        return try PrivateFolder(path)
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes the file whole or not at all: another process never sees a part of it.
    ///
    /// - Throws: ``StorageError/exists`` when somebody else was first.
    package func create(_ name: String, holding bytes: Span<UInt8>) throws(StorageError) {
        try make(name, .onlyNew, bytes)
    }

    /// Replaces the file, or makes it: another process sees the old bytes or the new ones.
    public func replace(_ name: String, holding bytes: [UInt8]) throws(StorageError) {
        try make(name, .replacing, bytes.span)
    }

    /// The file's bytes, or nil when there is none.
    ///
    /// - Throws: ``StorageError/corrupt`` for a file of more than `limit` bytes.
    public func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8]? {
        guard let file = try PrivateFile.ifPresent(file(name), O_RDONLY) else { return nil }
        let bytes = try file.read(limit + 1)
        guard bytes.count <= limit else { throw .corrupt }
        return bytes
    }

    /// Takes the file's name away.
    ///
    /// - Returns: false when there is none.
    public func remove(_ name: String) throws(StorageError) -> Bool {
        if unlink(file(name)) != 0 {
            if errno == ENOENT { return false }
            throw .last
        }
        try syncFolder(above: file(name))
        return true
    }

    /// The names in the folder, in no order.
    public func names() throws(StorageError) -> [String] {
        guard let stream = opendir(path) else { throw .last }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names.filter { $0 != "." && $0 != ".." }
    }

    /// A lock on the file `name`, which is made for it.
    public func lock(_ name: String) -> FileLock { FileLock(self, name) }

    private func make(_ name: String, _ naming: Draft.Naming, _ bytes: Span<UInt8>) throws(StorageError) {
        var draft = try Draft.make(for: file(name), naming)
        try FileTrust.own.check(open: draft.descriptor, .file, at: draft.path)
        try draft.write(bytes)
        try draft.finish()
    }
}

/// Makes a new name in the folder survive a power cut.
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

func retryingInterrupts<Number: SignedInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
