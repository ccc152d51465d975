// The data a verb works on: a file, or standard input.

internal import Glibc
internal import OMSecrets

/// The source of `-i`, read as a stream.
struct InputFile: ~Copyable {
    /// Whether the data comes from standard input, which then no secret can come from.
    let isStandardInput: Bool
    private let name: String
    private let descriptor: Int32

    /// - Parameter path: Nil or `-` for standard input.
    init(_ path: String?) throws(Failure) {
        isStandardInput = Self.isStandardInput(path)
        name = path.map { "\"\($0)\"" } ?? "standard input"
        descriptor = isStandardInput ? STDIN_FILENO : open(path ?? "-", O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw Failure(.io, "cannot open \(name): \(systemMessage(errno))") }
    }

    deinit { if !isStandardInput { close(descriptor) } }

    static func isStandardInput(_ path: String?) -> Bool { path == nil || path == "-" }

    /// The number of bytes still to come, if it is known.
    var count: Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return max(0, status.st_size - max(0, lseek(descriptor, 0, SEEK_CUR)))
    }

    /// Fills `target` from its start with what is there; 0 at the end.
    func read(into target: inout MutableSpan<UInt8>) throws(Failure) -> Int {
        while true {
            let count = target.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else {
                throw Failure(.io, "cannot read \(name): \(systemMessage(errno))")
            }
            if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&waiting, 1, -1)
            }
        }
    }

    /// All of it in locked memory.
    ///
    /// - Parameter hint: What to do when it is too long.
    func readWhole(maximum: Int, hint: String) throws(Failure) -> SecretBytes {
        let tooLong = Failure(.usage, "\(name) is longer than \(maximum >> 20) MiB", hint: hint)
        guard count ?? 0 <= maximum else { throw tooLong }
        var buffer = SecretBuffer(capacity: (count ?? 0) + 64)
        switch readAll(descriptor, into: &buffer, maximum: maximum) {
        case .end: return buffer.finish()
        case .tooLong: throw tooLong
        case .error(let code): throw Failure(.io, "cannot read \(name): \(systemMessage(code))")
        }
    }
}
