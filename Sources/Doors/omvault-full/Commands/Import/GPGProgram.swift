// The user's gpg, which decrypts a file of pass. It asks gpg-agent, which may ask the user.

internal import COMSystem
internal import Glibc
internal import OMSecrets
internal import OMShell

/// One run of `gpg --decrypt`. No shell is used, and no file: the bytes go from pipe to locked memory.
enum GPGProgram {
    /// It reads the file from descriptor 0, and tells its outcome on descriptor 3. With --quiet it would not tell why a key failed.
    private static let command = [
        "gpg", "--batch", "--no-encrypt-to", "--status-fd=3", "--decrypt",
    ]

    /// The most bytes of what gpg tells.
    private static let maximumStatus = 256 << 10

    /// - Parameters:
    ///   - file: Open for reading.
    ///   - most: The most bytes of the decrypted file.
    /// - Throws: ``ExitStatus/unsupported`` without gpg; ``ExitStatus/aborted`` if the user does not give the passphrase;
    ///   ``ExitStatus/badSecret`` if the private key cannot be used for another reason.
    static func decrypt(_ file: Int32, atMost most: Int) throws(Failure) -> DecryptedFile {
        let output = try ProgramPipe(), status = try ProgramPipe()
        let child = start(file, output.writing, status.writing)
        let startError = errno
        output.closeWriting()
        status.closeWriting()
        guard child > 0 else {
            guard startError == ENOENT else { throw Failure(.io, "gpg does not start", errno: startError) }
            throw Failure(
                .unsupported, "gpg is not installed, and the store's files are encrypted with it",
                hint: "install it: apt install gnupg")
        }
        var plain = SecretBuffer(capacity: 4096), told = SecretBuffer(capacity: 4096)
        let isWhole = read([(output.reading, most), (status.reading, maximumStatus)], &plain, &told)
        // A gpg that still writes ends, because the pipes are gone.
        output.closeReading()
        status.closeReading()
        let code = om_wait(child)
        guard isWhole else { return .tooLong }
        let words = GPGStatus(told)
        // Attack: a changed file. gpg has written a part of it, and says only at the end that the whole is not genuine.
        guard code == 0, words.isDecrypted else { return try words.failure() }
        return .opened(plain.finish())
    }

    private static func start(_ file: Int32, _ output: Int32, _ status: Int32) -> pid_t {
        let silent = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(silent) }
        var mask = sigset_t()
        sigprocmask(SIG_BLOCK, nil, &mask)
        let from = [file, output, silent, status], to: [Int32] = [0, 1, 2, 3]
        return command.withCArguments { arguments in
            withTerminal { environment in
                withUnsafeBytes(of: &mask) { om_child_start(arguments, environment, from, to, from.count, $0.baseAddress) }
            }
        }
    }

    /// The user's environment, with `GPG_TTY` if it is not set: a pinentry without a window needs the terminal's name.
    private static func withTerminal<R>(_ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
        var variables: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let entry = next.pointee {
            variables.append(entry)
            next += 1
        }
        guard Environment.text("GPG_TTY") == nil, let name = terminal() else { return body(variables + [nil]) }
        let own = strdup("GPG_TTY=" + name)
        defer { free(own) }
        return body(variables + [own, nil])
    }

    private static func terminal() -> String? {
        for descriptor in [STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO] where isatty(descriptor) == 1 {
            if let name = ttyname(descriptor) { return String(cString: name) }
        }
        return nil
    }

    /// Reads both pipes to their ends. False if there is more than either may give.
    private static func read(
        _ pipes: [(descriptor: Int32, most: Int)], _ plain: inout SecretBuffer, _ told: inout SecretBuffer
    ) -> Bool {
        var waiting = pipes.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while waiting.contains(where: { $0.fd >= 0 }) {
            guard poll(&waiting, nfds_t(waiting.count), -1) >= 0 || errno == EINTR else { return false }
            for index in waiting.indices where waiting[index].fd >= 0 && waiting[index].revents != 0 {
                let descriptor = waiting[index].fd
                let count = index == 0 ? append(descriptor, &plain) : append(descriptor, &told)
                if count == 0 { waiting[index].fd = -1 }
                guard count >= 0, (index == 0 ? plain.count : told.count) <= pipes[index].most else { return false }
            }
        }
        return true
    }

    private static func append(_ descriptor: Int32, _ buffer: inout SecretBuffer) -> Int {
        var count = 0
        buffer.append(upTo: 16 << 10) { free in
            count = free.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            return max(count, 0)
        }
        // An interrupted read is tried again with the next poll.
        return count < 0 && errno == EINTR ? 1 : count
    }
}

/// What gpg told about one file.
private struct GPGStatus {
    private var words: Set<String> = []
    /// The numbers of the errors that stopped a private key.
    private var keyErrors: [UInt32] = []

    init(_ told: borrowing SecretBuffer) {
        // It has names and numbers of keys, and no secret.
        let text = told.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count > 1, parts[0] == "[GNUPG:]" else { continue }
            words.insert(String(parts[1]))
            if parts.count > 3, parts[1] == "ERROR", parts[2].hasPrefix("pkdecrypt"), let number = UInt32(parts[3]) {
                keyErrors.append(number & 0xFFFF)
            }
        }
    }

    var isDecrypted: Bool { words.contains("DECRYPTION_OKAY") && !words.contains("DECRYPTION_FAILED") }

    /// libgpg-error's numbers: 99 and 198, the user cancelled.
    private static let cancelled: Set<UInt32> = [99, 198]

    /// - Throws: If the next file would fail for the same reason, and the user would be asked again.
    func failure() throws(Failure) -> DecryptedFile {
        guard keyErrors.isEmpty else {
            guard keyErrors.contains(where: Self.cancelled.contains) else {
                throw Failure(
                    .badSecret, "gpg cannot use your private key: a wrong passphrase, or no pinentry; nothing was imported",
                    hint: "try one file by itself: pass show NAME", "export GPG_TTY=$(tty) lets gpg ask at this terminal")
            }
            throw Failure(aborted: "gpg was not given the passphrase; nothing was imported")
        }
        return words.contains("NO_SECKEY") ? .noKey : .damaged
    }
}
