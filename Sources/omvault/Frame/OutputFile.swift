// Where a verb's bytes go: standard output, or a file that appears whole, by rename, or not at all.

internal import Glibc
internal import OMSecrets

/// The target of `-o`.
///
///     let target = try OutputFile(out, replacing: force)
///     try target.write(bytes)
///     try target.finish()
///
/// Until `finish` the bytes stand in a file of mode 0600 beside the target. It is made with the first write and removed
/// on every way out, a signal included, so that a failure leaves nothing behind.
struct OutputFile: ~Copyable {
    /// Nil for standard output.
    private let path: String?
    private let replaces: Bool
    private var temporary: Temporary?

    private struct Temporary {
        let path: String
        let descriptor: Int32
    }

    /// - Throws: ``ExitStatus/exists`` for a file that is there and was not to be replaced.
    init(_ path: String?, replacing: Bool) throws(Failure) {
        (self.path, replaces) = (path, replacing)
        guard let path else { return }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        // Attack, or accident: as root, a rename onto /dev/null would put a plain file in its place.
        guard [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) else {
            throw Failure(.usage, "\"\(path)\" is no file", hint: "leave out -o to write to standard output")
        }
        guard replacing else { throw Self.exists(path) }
    }

    var isStandardOutput: Bool { path == nil }

    mutating func write(_ bytes: Span<UInt8>) throws(Failure) {
        let descriptor = try descriptor()
        if let code = writeAll(bytes, to: descriptor) {
            throw Failure(
                .io, "cannot write to \(path.map { "\"\($0)\"" } ?? "standard output"): \(systemMessage(code))")
        }
    }

    mutating func write(_ secret: borrowing SecretBytes) throws(Failure) {
        try secret.withBytes { (bytes: Span<UInt8>) throws(Failure) in try write(bytes) }
    }

    /// Puts the file in its place, even when nothing was written to it.
    consuming func finish() throws(Failure) {
        guard let path else { return }
        _ = try descriptor()
        guard let made = temporary else { return }
        // link(2) never replaces: who made the target meanwhile keeps it. Some file systems have no links.
        if !replaces {
            if link(made.path, path) == 0 { return }
            if errno == EEXIST { throw Self.exists(path) }
            guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno), access(path, F_OK) != 0 else {
                throw Failure(.io, "cannot make \"\(path)\": \(systemMessage(errno))")
            }
        }
        guard rename(made.path, path) == 0 else {
            throw Failure(.io, "cannot make \"\(path)\": \(systemMessage(errno))")
        }
    }

    deinit {
        guard let temporary else { return }
        close(temporary.descriptor)
        unlink(temporary.path)
        TemporaryPath.forget()
    }

    private mutating func descriptor() throws(Failure) -> Int32 {
        guard let path else { return STDOUT_FILENO }
        if let temporary { return temporary.descriptor }
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        let name = "\(folder).omvault-\(Hex.encode(Random.bytes(8)))"
        TemporaryPath.removeOnSignal(name)
        let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(.io, "cannot write beside \"\(path)\": \(systemMessage(errno))")
        }
        temporary = Temporary(path: name, descriptor: descriptor)
        return descriptor
    }

    private static func exists(_ path: String) -> Failure {
        Failure(.exists, "\"\(path)\" is there already", hint: "--force replaces it")
    }
}

/// The one temporary file that a signal has to take away.
enum TemporaryPath {
    static func removeOnSignal(_ path: String) {
        forget()
        temporaryPath = strdup(path)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            var old = sigaction()
            // What nohup had us ignore stays ignored.
            guard sigaction(signal, nil, &old) == 0,
                unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) != 1
            else { continue }
            var caught = sigaction()
            caught.__sigaction_handler.sa_handler = { number in
                if let temporaryPath { unlink(temporaryPath) }
                // Held back until this returns; then it ends the process as it would have without us.
                Glibc.signal(number, SIG_DFL)
                raise(number)
            }
            sigaction(signal, &caught, nil)
        }
    }

    static func forget() {
        let path = temporaryPath
        temporaryPath = nil
        free(path)
    }
}

/// A handler takes no argument but the number, so its path stands here. One command writes one file.
private nonisolated(unsafe) var temporaryPath: UnsafeMutablePointer<CChar>?
