// A folder as a remote: a stick, a share, a folder that a tool syncs. Format: docs/formats/sync.md, "Remote".

internal import Glibc
package import OMParcels
package import OMSystem

/// The files of a remote in a folder. Other people and tools can write there too, so a file is read only up to its limit, and only
/// if it is a file and no link.
package struct FolderRemote: RemoteStore {
    /// The remote's own folder: `omvault-sync-…`.
    package let path: String

    /// - Parameters:
    ///   - folder: Where the user keeps the remote. It can be a link.
    ///   - vault: The vault's id. Both have 16 bytes.
    package init(in folder: String, vault: [UInt8], incarnation: [UInt8]) {
        path = "\(folder)/\(RemoteFile.folder(vault: vault, incarnation: incarnation))"
    }

    // MARK: - Reading

    /// - Throws: ``StorageError/missing`` if the remote's folder is not there: it is not mounted, or was never made.
    package func files() throws(StorageError) -> [RemoteFile] {
        var found = RemoteList()
        for name in try names(in: "") {
            if let file = RemoteFile(path: name) {
                try found.add(file)
                continue
            }
            guard Self.isFolder(name) else { continue }
            for inner in try names(in: name) {
                guard let file = RemoteFile(path: "\(name)/\(inner)") else { continue }
                try found.add(file)
            }
        }
        return found.files
    }

    package func bytes(of file: RemoteFile) throws(StorageError) -> [UInt8]? {
        // O_NONBLOCK: a pipe under the name of a file would wait for a writer.
        let descriptor = open(below: file.path, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else {
            try Self.check(errno)
            return nil
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .last }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= file.maximumCount else { return nil }
        return try Self.read(descriptor, upTo: file.maximumCount)
    }

    /// What another user, a sync tool or a disk does to one file must not keep this device from all others: such a file is not
    /// there yet. Only what this process lacks is an error.
    private static func check(_ code: Int32) throws(StorageError) {
        if [EMFILE, ENFILE, ENOMEM].contains(code) { throw .io(code) }
    }

    private static func read(_ descriptor: Int32, upTo limit: Int) throws(StorageError) -> [UInt8]? {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let got = block.withUnsafeMutableBytes { buffer in
                retryingInterrupts { Glibc.read(descriptor, buffer.baseAddress!, buffer.count) }
            }
            guard got >= 0 else {
                try check(errno)
                return nil
            }
            if got == 0 { return bytes }
            bytes += block[..<got]
            // The file grew behind its size.
            guard bytes.count <= limit else { return nil }
        }
    }

    private static func isFolder(_ name: String) -> Bool {
        name == "roll" || name == "mail" || RemoteFile(path: "\(name)/head") != nil
    }

    private func names(in folder: String) throws(StorageError) -> [String] {
        let descriptor = open(below: folder, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else {
            // Below the remote's folder: a file under the name of a folder, or a folder that was just removed.
            guard !folder.isEmpty else { throw .last }
            try Self.check(errno)
            return []
        }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            throw .last
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                // A list that ends early would look like a remote without those files.
                guard errno == 0 else { throw .last }
                break
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
            guard names.count <= RemoteList.maximumCount else { throw .io(EOVERFLOW) }
        }
        return names
    }

    /// Opens a file or folder without following a link below the remote's folder.
    private func open(below name: String, _ flags: Int32) -> Int32 {
        var descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        let parts = FilePath.names(in: name)
        for (index, part) in parts.enumerated() where descriptor >= 0 {
            let isLast = index == parts.count - 1
            let next = openat(descriptor, part, (isLast ? flags : O_RDONLY | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC)
            let code = errno
            close(descriptor)
            errno = code
            descriptor = next
        }
        return descriptor
    }

    // MARK: - Writing

    /// Makes the remote: its folder, with `remote` in it.
    ///
    /// - Throws: ``StorageError/exists`` if it is there already; ``StorageError/missing`` if the folder above it is not there.
    package func make(founding: [UInt8]) throws(StorageError) {
        try makeFolder()
        try found(with: founding)
    }

    /// The first step of ``make(founding:)``, which reads nothing that others wrote. A folder that is there already is kept: a
    /// process that was killed between the steps left it empty.
    package func makeFolder() throws(StorageError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .last }
        try syncFolder(above: path)
    }

    /// The second step of ``make(founding:)``.
    package func found(with founding: [UInt8]) throws(StorageError) {
        guard try bytes(of: .founding) == nil else { throw .exists }
        try write(founding, to: .founding)
    }

    /// - Throws: ``StorageError/missing`` if the remote's folder is not there; ``StorageError/io(_:)`` if it is no folder.
    package func checkIsThere() throws(StorageError) {
        let descriptor = open(below: "", O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw .last }
        close(descriptor)
    }

    /// Writes a file whole: under another name, synced, then renamed, and its folder synced. A reader sees all of it or none.
    ///
    /// - Throws: ``StorageError/missing`` if the remote's folder is not there.
    package func write(_ bytes: [UInt8], to file: RemoteFile) throws(StorageError) {
        precondition(bytes.count <= file.maximumCount, "a file has no more bytes than a reader takes")
        let names = FilePath.names(in: file.path)
        if names.count > 1 { try makeFolder(names[0]) }
        try withFolder(of: names) { folder, name throws(StorageError) in
            var draft = try Draft.makeHidden(for: "\(folder)/\(name)", .replacing)
            try draft.write(bytes.span)
            try draft.finish()
        }
    }

    /// - Returns: false if there is none.
    @discardableResult
    package func remove(_ file: RemoteFile) throws(StorageError) -> Bool {
        do throws(StorageError) {
            return try withFolder(of: FilePath.names(in: file.path)) { folder, name throws(StorageError) in
                try FilePath.remove("\(folder)/\(name)")
            }
        } catch .missing { return false }
    }

    private func makeFolder(_ name: String) throws(StorageError) {
        let descriptor = open(below: "", O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        if mkdirat(descriptor, name, 0o700) == 0 {
            guard fsync(descriptor) == 0 else { throw .last }
        } else if errno != EEXIST {
            throw .last
        }
    }

    /// Lends a path of the file's folder that leads to the folder which was opened, whatever its name means meanwhile.
    ///
    /// Attack: someone who can write into the remote puts a link in the place of a device's folder. Then files would be written
    /// and removed where it leads.
    private func withFolder<R>(
        of names: [String], _ body: (_ folder: String, _ name: String) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        let descriptor = open(below: names.count > 1 ? names[0] : "", O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        return try body("/proc/self/fd/\(descriptor)", names[names.count - 1])
    }
}
