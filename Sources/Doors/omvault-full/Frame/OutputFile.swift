// The output of a command: standard output, or a file. A rename makes the file appear as a whole, or not at all.

internal import Glibc
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// The target of `-o`.
///
///     var target = try OutputFile(out, replacing: force)
///     try target.write(bytes)
///     try target.finish()
///
/// Until `finish` the bytes are in a draft beside the target. Its mode is 0600 unless the file is public. The first write
/// makes the draft, and every failure and signal removes it. Only SIGKILL leaves it: the next command with `-o` in this
/// folder removes it, once it is a minute old.
struct OutputFile: ~Copyable {
    /// Nil for standard output.
    private let path: String?
    private let naming: Draft.Naming
    private let mode: mode_t
    /// Whether the umask has no say in the mode.
    private let isModeExact: Bool
    /// What to do if the file exists.
    private let existsHint: String
    private var draft: Draft?
    /// The slot in ``TemporaryPath`` while there is a draft.
    private var slot: Int?
    /// How many bytes were written.
    private(set) var count = 0

    /// - Parameters:
    ///   - path: Nil or `-` for standard output.
    ///   - isPublic: Whether all users may read the file, if the umask allows it.
    ///   - mode: The mode of the file instead, whatever the umask is.
    ///   - existsHint: What to do if the file exists, for commands without `--force`.
    /// - Throws: ``ExitStatus/exists`` if the file exists and `replacing` is false; ``ExitStatus/usage`` if something else
    ///   than a file has that path.
    init(
        _ path: String?, replacing: Bool, isPublic: Bool = false, mode: mode_t? = nil,
        existsHint: String = "--force replaces it"
    ) throws(Failure) {
        let path = path == "-" ? nil : path
        self.path = path
        self.existsHint = existsHint
        naming = replacing ? .replacing : .onlyNewAnywhere
        self.mode = mode ?? (isPublic ? 0o644 : 0o600)
        isModeExact = mode != nil
        guard let path else { return }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        // Attack, or accident: root names /dev/null, and a rename would replace it with a plain file; or /dev/stdout, and a
        // rename would remove that link. Following a link would write to a path that another user chose.
        guard status.st_mode & S_IFMT != S_IFLNK else {
            throw Failure(
                .usage, "\"\(path)\" is a symbolic link; omvault does not follow or replace it",
                hint: "name the file itself, or leave out -o to write to standard output")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "\"\(path)\" is not a file", hint: "leave out -o to write to standard output")
        }
        guard replacing else { throw Self.exists(path, existsHint) }
    }

    var isStandardOutput: Bool { path == nil }

    /// Whether two paths lead to the same file, even if it does not exist yet.
    static func areSame(_ one: String, _ other: String) -> Bool {
        if let file = FileNumber(following: one), file == FileNumber(following: other) { return true }
        return FilePath.name(of: one) == FilePath.name(of: other)
            && FileNumber(following: FilePath.folder(of: one)) == FileNumber(following: FilePath.folder(of: other))
    }

    /// Makes the draft now, so that a folder without write access fails before the work is done.
    mutating func prepare() throws(Failure) { _ = try descriptor() }

    mutating func write(_ bytes: Span<UInt8>) throws(Failure) {
        let descriptor = try descriptor()
        count += bytes.count
        if let code = writeAll(bytes, to: descriptor) {
            guard let path else { throw StandardOutput.failure(code) }
            throw Failure(.io, "cannot write to \"\(path)\"", errno: code)
        }
    }

    mutating func write(_ secret: borrowing SecretBytes) throws(Failure) {
        try secret.withBytes { (bytes: Span<UInt8>) throws(Failure) in try write(bytes) }
    }

    /// Gives the file its name, even if nothing was written to it.
    ///
    /// - Parameter survivesPowerCut: whether bytes and name are on the disk when this returns.
    consuming func finish(survivesPowerCut: Bool = false) throws(Failure) {
        guard let path else { return }
        try prepare()
        // A power cut must not lose the file that is replaced: the new bytes are on the disk before they get its name.
        let replaces = naming == .replacing && ((try? FilePath.exists(path)) ?? true)
        if survivesPowerCut || replaces {
            do throws(StorageError) { try draft?.sync() } catch {
                throw Failure(.io, "cannot write \"\(path)\" to the disk", errno: error.code)
            }
        }
        do throws(StorageError) { try draft?.takeName() } catch {
            guard error != .exists else { throw Self.exists(path, existsHint) }
            throw Failure(.io, "cannot make \"\(path)\"", errno: error.code)
        }
        guard survivesPowerCut else { return }
        do throws(StorageError) { try syncFolder(above: path) } catch {
            unlink(path)
            throw Failure(error)
        }
    }

    /// The same. With --json it also prints a document about the file, since the command has no other data.
    consuming func finish(_ context: CommandContext) throws(Failure) {
        let (path, count) = (path, count)
        try finish()
        guard let path, context.output.format == .json else { return }
        try context.output.done("", ["file": .text(path), "bytes": .number(count)])
    }

    deinit {
        guard let slot else { return }
        // Removed before its path is forgotten, so that no signal in between leaves the draft behind.
        draft?.remove()
        TemporaryPath.release(slot)
    }

    private mutating func descriptor() throws(Failure) -> Int32 {
        guard let path else { return STDOUT_FILENO }
        if let descriptor = draft?.descriptor { return descriptor }
        do throws(StorageError) {
            // The path is noted before the file exists, so that a signal in between removes the file.
            let made = try Draft.makeHidden(for: path, naming, mode: mode) { slot = TemporaryPath.removeOnSignal($0) }
            let descriptor = made.descriptor
            guard !isModeExact || fchmod(descriptor, mode) == 0 else { throw StorageError.last }
            draft = consume made
            return descriptor
        } catch {
            guard error != .exists else { throw Self.exists(path, existsHint) }
            throw Failure(.io, "cannot make a file beside \"\(path)\"", errno: error.code)
        }
    }

    /// Removes a file that was made here and that nothing needs.
    static func remove(_ path: String) { unlink(path) }

    private static func exists(_ path: String, _ hint: String) -> Failure {
        Failure(.exists, "\"\(path)\" already exists", hint: hint)
    }
}
