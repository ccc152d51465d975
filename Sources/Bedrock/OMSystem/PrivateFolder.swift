internal import COMSystem
internal import Glibc

/// A folder of this user with mode 0700.
package struct PrivateFolder: Hashable, Sendable {
    package let path: String

    /// - Throws: ``StorageError/missing``, ``StorageError/hazardous(_:path:)``.
    package init(_ path: String) throws(StorageError) {
        let descriptor = retryingInterrupts { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        guard descriptor >= 0 else {
            if errno == ELOOP { throw .hazardous(.symbolicLink, path: path) }
            throw .last
        }
        defer { close(descriptor) }
        try FileTrust.own.check(open: descriptor, .folder, at: path)
        // On a network file system, flock and fdatasync promise too little to count attempts.
        guard om_is_on_network(descriptor) == 0 else { throw .hazardous(.onNetwork, path: path) }
        self.path = path
    }

    /// Creates the folder with mode 0700 and the missing folders above it. Then it checks the folder.
    ///
    /// - Parameter mode: The mode of the created folders above it, whatever the umask.
    package static func make(_ path: String, above mode: UInt32 = 0o700) throws(StorageError) -> PrivateFolder {
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

    /// Creates the file with all of its bytes or not at all. Another process never sees a part of it.
    ///
    /// - Throws: ``StorageError/exists`` if there is a file already.
    package func create(_ name: String, holding bytes: Span<UInt8>) throws(StorageError) {
        try make(name, .onlyNew, bytes)
    }

    /// Replaces or creates the file. Another process sees all of the old bytes or all of the new ones.
    package func replace(_ name: String, holding bytes: [UInt8]) throws(StorageError) {
        try make(name, .replacing, bytes.span)
    }

    /// The file's bytes, or nil if there is no file.
    ///
    /// - Throws: ``StorageError/corrupt`` for a file of more than `limit` bytes.
    package func read(_ name: String, limit: Int) throws(StorageError) -> [UInt8]? {
        guard let file = try PrivateFile.ifPresent(file(name), O_RDONLY) else { return nil }
        let bytes = try file.read(limit + 1)
        guard bytes.count <= limit else { throw .corrupt }
        return bytes
    }

    /// Removes the file.
    ///
    /// - Returns: false if there is no file.
    package func remove(_ name: String) throws(StorageError) -> Bool {
        guard try FilePath.remove(file(name)) else { return false }
        try syncFolder(above: file(name))
        return true
    }

    /// The names in the folder, in no order.
    package func names() throws(StorageError) -> [String] {
        guard let stream = opendir(path) else { throw .last }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names.filter { $0 != "." && $0 != ".." }
    }

    /// A lock on the file `name`. Holding the lock creates the file if it is missing.
    package func lock(_ name: String) -> FileLock { FileLock(self, name) }

    private func make(_ name: String, _ naming: Draft.Naming, _ bytes: Span<UInt8>) throws(StorageError) {
        var draft = try Draft.make(for: file(name), naming)
        try FileTrust.own.check(open: draft.descriptor, .file, at: draft.path)
        try draft.write(bytes)
        try draft.finish()
    }
}
