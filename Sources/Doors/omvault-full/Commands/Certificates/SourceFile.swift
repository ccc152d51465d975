// The file of an import, which the user may want deleted afterwards.

internal import Glibc
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// A file that is read once, and deleted only while it is still exactly the file that was read.
///
///     let source = try SourceFile.open("id.p12", deletes: true)
///     let bytes = try source.readWhole(maximum: 1 << 20, hint: "an identity is a short file")
///     … commit …
///     try source.delete()
struct SourceFile: ~Copyable {
    private let path: String
    private let input: InputFile
    /// The file's folder, open, and what the file was before it was read. Nil unless it may be deleted.
    private let deletion: Deletion?

    /// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
    struct Deletion: ~Copyable {
        let folder: Int32
        let name: String
        var status: stat

        deinit { close(folder) }
    }

    private init(_ path: String, _ input: consuming InputFile, _ deletion: consuming Deletion?) {
        self.path = path
        self.input = input
        self.deletion = deletion
    }

    /// - Parameter deletes: Whether ``delete()`` will be called.
    /// - Throws: ``ExitStatus/notFound`` with the SDK's number 10533. With `deletes` ``ExitStatus/permission`` unless it is a
    ///   regular file of this user with one name, in a folder that this user can change.
    static func open(_ path: String, deletes: Bool) throws(Failure) -> SourceFile {
        if deletes { return try openToDelete(path) }
        guard !InputFile.isStandardInput(path) else { return SourceFile(path, try InputFile(path), nil) }
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { throw cannotOpen(path, errno) }
        let input = InputFile(owning: file, path)
        var status = stat()
        guard fstat(file, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else { throw cannotOpen(path, EISDIR) }
        return SourceFile(path, input, nil)
    }

    private static func openToDelete(_ path: String) throws(Failure) -> SourceFile {
        guard !InputFile.isStandardInput(path) else {
            throw Failure(usage: "--delete-source needs a file, and standard input is none")
        }
        let folder = Glibc.open(FilePath.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw cannotOpen(path, errno) }
        var deletion = Deletion(folder: folder, name: FilePath.name(of: path), status: stat())
        let file = openat(folder, deletion.name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            let code = errno
            throw code == ELOOP ? refused(path, "is a symbolic link") : cannotOpen(path, code)
        }
        let input = InputFile(owning: file, path)
        guard fstat(file, &deletion.status) == 0 else { throw cannotOpen(path, errno) }
        let status = deletion.status
        // Attack: another user gives a second name to a file of this user, or puts a link there, and this user deletes the file.
        guard status.st_mode & S_IFMT == S_IFREG else { throw refused(path, "is not a regular file") }
        guard status.st_uid == geteuid() else { throw refused(path, "belongs to another user") }
        guard status.st_nlink == 1 else { throw refused(path, "has more than one name") }
        guard faccessat(folder, ".", W_OK, AT_EACCESS) == 0 else {
            throw refused(path, "is in a folder that you cannot change")
        }
        return SourceFile(path, input, deletion)
    }

    /// The open file, for a process that reads it instead of this one.
    var descriptor: Int32 { input.descriptor }

    func readWhole(maximum: Int, hint: String) throws(Failure) -> SecretBytes {
        try input.readWhole(maximum: maximum, hint: hint)
    }

    /// Deletes the file. Its blocks may remain on the disk.
    ///
    /// - Throws: ``ExitStatus/conflict`` if the name means another file by now, or if the file was changed since it was opened.
    func delete() throws(Failure) {
        switch deletion {
        case .none: return
        case .some(let deletion):
            var now = stat()
            guard fstatat(deletion.folder, deletion.name, &now, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw Failure(.io, "the import is done, but \"\(path)\" cannot be deleted", errno: errno)
            }
            // Accident: another program has written a new key into the file meanwhile.
            guard Self.isSame(now, deletion.status) else {
                throw Failure(
                    .conflict, "the import is done, but \"\(path)\" was changed meanwhile and is not deleted",
                    hint: "look at the file, then delete it yourself")
            }
            guard unlinkat(deletion.folder, deletion.name, 0) == 0 else {
                throw Failure(.io, "the import is done, but \"\(path)\" cannot be deleted", errno: errno)
            }
        }
    }

    private static func isSame(_ one: stat, _ other: stat) -> Bool {
        one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_nlink == 1 && one.st_size == other.st_size
            && one.st_ctim.tv_sec == other.st_ctim.tv_sec && one.st_ctim.tv_nsec == other.st_ctim.tv_nsec
            && one.st_mtim.tv_sec == other.st_mtim.tv_sec && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec
    }

    private static func cannotOpen(_ path: String, _ code: Int32) -> Failure {
        guard code == ENOENT || code == ENOTDIR else { return Failure(.io, "cannot open \"\(path)\"", errno: code) }
        return Failure(.notFound, "there is no file \"\(path)\"", hint: "check the path: ls -l shows what is there")
            .with(sdkCode: 10533)
    }

    private static func refused(_ path: String, _ reason: String) -> Failure {
        Failure(
            .permission, "--delete-source: \"\(path)\" \(reason), so omvault would not delete it; nothing was imported",
            hint: "leave out --delete-source, and delete the file yourself")
    }
}
