// Reading a secret from a descriptor, a file or a program.

internal import COMSystem
internal import Glibc
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMSystem
internal import OMVault

/// Reads one secret to its end, up to its maximum.
struct SecretReader {
    let option: String
    /// The longest secret in memory.
    let maximum: Int
    let keepsNewline: Bool
    /// How a longer value is taken in. Nil if it is refused.
    var spool: Spool?

    struct Spool {
        /// The path of the vault that the value is for.
        let vault: String
        let isQuiet: Bool
    }

    func read(descriptor: Int32) throws(Failure) -> SourceValue {
        let name = descriptor == STDIN_FILENO ? "standard input" : "descriptor \(descriptor)"
        guard isatty(descriptor) == 0 else {
            throw Failure(
                .usage, "\(option): \(name) is a terminal, which would show the secret as you type it", hints: terminalHints)
        }
        if descriptor == STDIN_FILENO { try StandardInput.claim() }
        var buffer = SecretBuffer(capacity: 4096)
        let end = readAll(descriptor, into: &buffer, maximum: maximum + 2)
        if end == .error(EBADF) { throw Failure(usage: "\(option): \(name) is not open for reading") }
        return try whole(buffer, end, descriptor, of: name)
    }

    /// Symbolic links are followed, since systemd and Kubernetes provide credentials in that way.
    func read(file path: String) throws(Failure) -> SourceValue {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            let failure = cannotRead(path, errno)
            guard path.hasPrefix("~/") else { throw failure }
            // A shell expands it at the start of a word only.
            throw failure.with(hints: ["~ stands for your home only at the start of a word: file:\"$HOME\"\(path.dropFirst())"])
        }
        defer { close(descriptor) }
        guard isatty(descriptor) == 0 else {
            throw Failure(
                .usage, "\(option): \(path) is a terminal, which would show the secret as you type it", hints: terminalHints)
        }
        var buffer = SecretBuffer(capacity: 4096)
        let end = readAll(descriptor, into: &buffer, maximum: maximum + 2)
        return try whole(buffer, end, descriptor, of: path)
    }

    func read(credential name: String) throws(Failure) -> SourceValue {
        guard let folder = Environment.text("CREDENTIALS_DIRECTORY") else {
            throw Failure(
                .usage, "\(option): CREDENTIALS_DIRECTORY is not set",
                hint: "cred:NAME works in a systemd unit with LoadCredential=NAME:…")
        }
        return try read(file: "\(folder)/\(name)")
    }

    func read(command words: [String]) throws(Failure) -> SourceValue {
        let program = words[0]
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw cannotRead(program, errno) }
        defer { close(ends[0]) }
        let child = words.withCArguments { om_spawn($0, ends[1], STDERR_FILENO) }
        let startError = errno
        close(ends[1])
        guard child > 0 else { throw Failure(.io, "\(option): cannot start \(program)", errno: startError) }
        var buffer = SecretBuffer(capacity: 4096)
        let end = readAll(ends[0], into: &buffer, maximum: maximum + 2)
        let value: SourceValue
        do throws(Failure) { value = try whole(buffer, end, ends[0], of: program) } catch {
            // If the secret is too long, closing the pipe stops a program that is still writing.
            close(ends[0])
            ends[0] = -1
            _ = om_wait(child)
            throw error
        }
        let code = om_wait(child)
        guard code == 0 else {
            throw Failure(
                .general, "\(option): \(program) failed with exit code \(code)", hint: "run the program by itself to see why")
        }
        return value
    }

    /// The secret without its one trailing newline.
    func trimmed(_ buffer: consuming SecretBuffer) throws(Failure) -> SecretBytes {
        let secret = keepsNewline ? buffer.finish() : buffer.withoutNewline()
        guard secret.count <= maximum else { throw tooLong }
        return secret
    }

    private func whole(
        _ buffer: consuming SecretBuffer, _ end: ReadResult, _ descriptor: Int32, of name: String
    ) throws(Failure) -> SourceValue {
        if case .error(let code) = end { throw cannotRead(name, code) }
        if let spool, end == .tooLong || buffer.count > maximum {
            return .spooled(try spooled(buffer, end == .tooLong ? descriptor : nil, of: name, spool))
        }
        guard end == .end else { throw tooLong }
        return .secret(try trimmed(buffer))
    }

    /// Takes in a long value, with the newline at its end: it is a file, and no typed secret.
    ///
    /// - Parameters:
    ///   - start: What of it was read already.
    ///   - descriptor: Gives the rest. Nil if nothing is left.
    private func spooled(
        _ start: borrowing SecretBuffer, _ descriptor: Int32?, of name: String, _ spool: Spool
    ) throws(Failure) -> SpooledValue {
        var bar = ByteProgress(total: descriptor.flatMap(Self.size), isQuiet: spool.isQuiet)
        defer { bar.end() }
        do {
            var value = try ValueSpool(besideVault: spool.vault)
            try start.withBytes { (bytes: Span<UInt8>) throws(VaultError) in try value.append(bytes) }
            bar.add(start.count)
            var block = SecretBuffer(capacity: Self.blockCount + 4096)
            while let descriptor {
                block.removeAll()
                let end = readAll(descriptor, into: &block, maximum: Self.blockCount)
                if case .error(let code) = end { throw cannotRead(name, code) }
                try block.withBytes { (bytes: Span<UInt8>) throws(VaultError) in try value.append(bytes) }
                bar.add(block.count)
                if end == .end { break }
            }
            return try value.finish()
        } catch let failure as Failure {
            throw failure
        } catch VaultError.tooLarge {
            throw Failure(usage: "\(option): the value is longer than \(Item.maximumFieldCount >> 20) MiB")
        } catch let error as VaultError {
            throw Failure(error, vault: FilePath.name(of: spool.vault))
        } catch {
            throw .unexpectedReply
        }
    }

    private static let blockCount = 256 << 10

    /// The number of bytes of a regular file.
    private static func size(_ descriptor: Int32) -> Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    private var terminalHints: [String] {
        [
            "\(SecretSource.spelled("tty", for: option)) asks for one line without showing it",
            "\(SecretSource.spelled("lines", for: option)) asks for several lines, and shows them as you type",
        ]
    }

    var tooLong: Failure { Failure(usage: "\(option): the secret is longer than \(maximum) bytes") }

    private func cannotRead(_ name: String, _ code: Int32) -> Failure {
        Failure(.io, "\(option): cannot read \(name)", errno: code)
    }
}

extension SecretBuffer {
    init(copying secret: borrowing SecretBytes) {
        self.init(capacity: secret.count)
        append(secret)
    }
}
