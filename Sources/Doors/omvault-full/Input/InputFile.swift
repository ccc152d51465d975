// The input data of a command: a file, or standard input.

internal import Glibc
internal import OMSecrets
internal import OMShell

/// The source of `-i`, read as a stream.
struct InputFile: ~Copyable {
    /// Whether the data comes from standard input. Then no secret can come from there.
    let isStandardInput: Bool
    private let name: String
    /// Open while this value lives.
    let descriptor: Int32

    /// - Parameter path: Nil or `-` for standard input.
    init(_ path: String?) throws(Failure) {
        descriptor = try Self.open(path)
        isStandardInput = Self.isStandardInput(path)
        name = Self.name(path)
    }

    /// - Parameter descriptor: An open file, which this value closes.
    init(owning descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        isStandardInput = false
        name = Self.name(path)
    }

    private static func open(_ path: String?) throws(Failure) -> Int32 {
        guard !isStandardInput(path) else {
            try StandardInput.claim()
            return STDIN_FILENO
        }
        let descriptor = Glibc.open(path ?? "-", O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw Failure(.io, "cannot open \(name(path))", errno: errno) }
        return descriptor
    }

    private static func name(_ path: String?) -> String {
        isStandardInput(path) ? "standard input" : path.map { "\"\($0)\"" } ?? ""
    }

    deinit { if !isStandardInput { close(descriptor) } }

    static func isStandardInput(_ path: String?) -> Bool { StandardInput.isMeant(by: path) }

    /// The number of bytes that are not yet read, if it is known.
    var count: Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return max(0, status.st_size - max(0, lseek(descriptor, 0, SEEK_CUR)))
    }

    /// Reads available bytes into the start of `target`.
    ///
    /// - Returns: The number of bytes. 0 at the end.
    func read(into target: inout MutableSpan<UInt8>) throws(Failure) -> Int {
        while true {
            let count = target.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else {
                throw Failure(.io, "cannot read \(name)", errno: errno)
            }
            if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&waiting, 1, -1)
            }
        }
    }

    /// The next `count` bytes, or as many as there are, in locked memory.
    func readStart(_ count: Int) throws(Failure) -> SecretBuffer {
        var buffer = SecretBuffer()
        while buffer.count < count {
            let before = buffer.count
            try buffer.append(upTo: count - before) { (free) throws(Failure) in try read(into: &free) }
            if buffer.count == before { break }
        }
        return buffer
    }

    /// All of it in locked memory.
    ///
    /// - Parameters:
    ///   - start: What of it was read already.
    ///   - hint: What to do when it is too long.
    ///   - tooLong: What that comes to, where it is no mistake of usage.
    func readWhole(
        after start: consuming SecretBuffer = SecretBuffer(capacity: 0), maximum: Int, hint: String, tooLong: Failure? = nil
    ) throws(Failure) -> SecretBytes {
        let limit = maximum >= 1 << 20 ? "\(maximum >> 20) MiB" : "\(maximum >> 10) KiB"
        let tooLong = tooLong ?? Failure(.usage, "\(name) is longer than \(limit)", hint: hint)
        guard count ?? 0 <= maximum else { throw tooLong }
        var buffer = SecretBuffer(capacity: start.count + (count ?? 0) + 64)
        start.withBytes { buffer.append($0) }
        switch readAll(descriptor, into: &buffer, maximum: maximum) {
        case .end: return buffer.finish()
        case .tooLong: throw tooLong
        case .error(let code): throw Failure(.io, "cannot read \(name)", errno: code)
        }
    }
}
