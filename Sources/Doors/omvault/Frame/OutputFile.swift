// Where a verb's bytes go: standard output, or a file that appears whole, by rename, or not at all.

internal import Glibc
internal import OMSecrets
internal import OMSystem

/// The target of `-o`.
///
///     var target = try OutputFile(out, replacing: force)
///     try target.write(bytes)
///     try target.finish()
///
/// Until `finish` the bytes stand in a file beside the target, of mode 0600 unless it is public. It is made with the first
/// write and removed on every way out, a signal included, so that a failure leaves nothing behind. Only SIGKILL leaves it:
/// the next command with `-o` in this folder removes it, once it is a minute old.
struct OutputFile: ~Copyable {
    /// Nil for standard output.
    private let path: String?
    private let naming: Draft.Naming
    private let mode: mode_t
    private var draft: Draft?
    /// Of ``TemporaryPath``, while there is a draft.
    private var slot: Int?
    /// How many bytes were written.
    private(set) var count = 0

    /// - Parameters:
    ///   - path: Nil or `-` for standard output.
    ///   - isPublic: A file that everybody may read, as far as the umask allows.
    /// - Throws: ``ExitStatus/exists`` for a file that is there and was not to be replaced; ``ExitStatus/usage`` for what
    ///   is there and is no file.
    init(_ path: String?, replacing: Bool, isPublic: Bool = false) throws(Failure) {
        let path = path == "-" ? nil : path
        self.path = path
        (naming, mode) = (replacing ? .replacing : .onlyNewAnywhere, isPublic ? 0o644 : 0o600)
        guard let path else { return }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        // Attack, or accident: as root, a rename onto /dev/null would put a plain file in its place, and one onto
        // /dev/stdout, a link, would take that away. Following a link would write where somebody else chose.
        guard status.st_mode & S_IFMT != S_IFLNK else {
            throw Failure(
                .usage, "\"\(path)\" is a symbolic link; omvault does not follow or replace it",
                hint: "name the file itself, or leave out -o to write to standard output")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "\"\(path)\" is not a file", hint: "leave out -o to write to standard output")
        }
        guard replacing else { throw Self.exists(path) }
    }

    var isStandardOutput: Bool { path == nil }

    /// Whether two paths lead to one file, there or not yet.
    static func areSame(_ one: String, _ other: String) -> Bool {
        if let file = FileNumber(following: one), file == FileNumber(following: other) { return true }
        return FilePath.name(of: one) == FilePath.name(of: other)
            && FileNumber(following: FilePath.folder(of: one)) == FileNumber(following: FilePath.folder(of: other))
    }

    /// Makes the file beside the target, so that a folder that takes none is told before the work is done.
    mutating func prepare() throws(Failure) { _ = try descriptor() }

    mutating func write(_ bytes: Span<UInt8>) throws(Failure) {
        let descriptor = try descriptor()
        count += bytes.count
        if let code = writeAll(bytes, to: descriptor) {
            throw Failure(
                .io, "cannot write to \(path.map { "\"\($0)\"" } ?? "standard output"): \(systemMessage(code))")
        }
    }

    mutating func write(_ secret: borrowing SecretBytes) throws(Failure) {
        try secret.withBytes { (bytes: Span<UInt8>) throws(Failure) in try write(bytes) }
    }

    /// Puts the file in its place, even when nothing was written to it.
    ///
    /// - Parameter survivesPowerCut: whether bytes and name are on the disk when this returns.
    consuming func finish(survivesPowerCut: Bool = false) throws(Failure) {
        guard let path else { return }
        try prepare()
        // A power cut must not lose the file that is replaced: the new bytes are on the disk before they get its name.
        let replaces = naming == .replacing && ((try? FilePath.exists(path)) ?? true)
        if survivesPowerCut || replaces {
            do throws(StorageError) { try draft?.sync() } catch {
                throw Failure(.io, "cannot write \"\(path)\" to the disk: \(systemMessage(error.code))")
            }
        }
        do throws(StorageError) { try draft?.takeName() } catch {
            guard error != .exists else { throw Self.exists(path) }
            throw Failure(.io, "cannot make \"\(path)\": \(systemMessage(error.code))")
        }
        guard survivesPowerCut else { return }
        do throws(StorageError) { try syncFolder(above: path) } catch {
            unlink(path)
            throw Failure(error)
        }
    }

    /// The same, and with --json a document about the file: there is no other data to give.
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
            draft = consume made
            return descriptor
        } catch {
            guard error != .exists else { throw Self.exists(path) }
            throw Failure(.io, "cannot make a file beside \"\(path)\": \(systemMessage(error.code))")
        }
    }

    /// Removes a file that was made here and that nothing needs.
    static func remove(_ path: String) { unlink(path) }

    private static func exists(_ path: String) -> Failure {
        Failure(.exists, "\"\(path)\" already exists", hint: "--force replaces it")
    }
}
