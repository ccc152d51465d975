// The user's gpg, which decrypts a file of pass. It asks gpg-agent, which may ask the user.

internal import COMSystem
internal import Glibc
internal import OMSecrets
internal import OMShell

/// One run of `gpg --decrypt`. No shell is used, and no file: the bytes go from pipe to locked memory.
enum GPGProgram {
    /// It reads the file from descriptor 0, and tells its outcome on descriptor 3. With --quiet it would not tell why a key failed.
    // Attack: a file names the file that it once was. With `use-embedded-filename` in the user's options gpg writes the secret
    // into a file of that name.
    private static let command = [
        "gpg", "--batch", "--no-encrypt-to", "--no-use-embedded-filename", "--output=-", "--status-fd=3",
    ]

    /// The most bytes of what gpg tells.
    private static let maximumStatus = 256 << 10

    /// - Parameters:
    ///   - file: Open for reading, and no pipe.
    ///   - most: The most bytes of the decrypted file.
    ///   - failedKeys: The keys for which the user gave no right passphrase. They are not asked for again.
    /// - Throws: ``ExitStatus/unsupported`` without gpg; ``ExitStatus/aborted`` if the user cancels.
    static func decrypt(
        _ file: Int32, atMost most: Int, _ failedKeys: inout Set<String>
    ) throws(Failure) -> DecryptedFile {
        // gpg tells for whom the file is, and asks for nothing.
        guard let listed = try run(["--list-only", "--decrypt"], file, atMost: most).told else { return .tooLong }
        // Attack: each file of a team's store makes gpg ask for a password, in the middle of the import.
        guard !listed.keys.isEmpty else { return listed.isEncrypted ? .ownPassword : .damaged }
        guard !listed.keys.isSubset(of: failedKeys) else { return .unusableKey }
        guard lseek(file, 0, SEEK_SET) == 0 else { return .damaged }
        let ran = try run(["--decrypt"], file, atMost: most)
        guard let told = ran.told else { return .tooLong }
        // Attack: a changed file. gpg has written a part of it, and says only at the end that the whole is not genuine.
        guard ran.code == 0, told.isDecrypted else {
            guard !told.isCancelled else { throw Failure(aborted: "gpg was not given the passphrase; nothing was imported") }
            guard told.hasUnusableKey else { return told.hasNoKey ? .noKey : .damaged }
            failedKeys.formUnion(listed.keys)
            return .unusableKey
        }
        return ran.opened()
    }

    private static func run(
        _ options: [String], _ file: Int32, atMost most: Int
    ) throws(Failure) -> GPGRun {
        let output = try ProgramPipe(), status = try ProgramPipe()
        let child = start(options, reading: file, output.writing, status: status.writing)
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
        let words = isWhole ? GPGStatus(told) : nil
        return GPGRun(plain: plain.finish(), told: words, code: code)
    }

    private static func start(_ options: [String], reading file: Int32, _ output: Int32, status: Int32) -> pid_t {
        let silent = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(silent) }
        var mask = sigset_t()
        sigprocmask(SIG_BLOCK, nil, &mask)
        let from = [file, output, silent, status], to: [Int32] = [0, 1, 2, 3]
        return (command + options).withCArguments { arguments in
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

/// What gpg wrote and told, and how it ended.
private struct GPGRun: ~Copyable {
    let plain: SecretBytes
    /// Nil if it wrote or told more than it may.
    let told: GPGStatus?
    let code: Int32

    consuming func opened() -> DecryptedFile { .opened(plain) }
}

/// What gpg told about one file.
private struct GPGStatus {
    private var words: Set<String> = []
    /// The numbers of the errors that stopped a private key.
    private var keyErrors: Set<UInt32> = []
    /// The keys that the file is encrypted to.
    private(set) var keys: Set<String> = []

    init(_ told: borrowing SecretBuffer) {
        // It has names and numbers of keys, and no secret.
        let text = told.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count > 1, parts[0] == "[GNUPG:]" else { continue }
            words.insert(String(parts[1]))
            if parts.count > 2, parts[1] == "ENC_TO" { keys.insert(String(parts[2])) }
            if parts.count > 3, parts[1] == "ERROR", parts[2].hasPrefix("pkdecrypt"), let number = UInt32(parts[3]) {
                keyErrors.insert(number & 0xFFFF)
            }
        }
    }

    var isEncrypted: Bool { words.contains("BEGIN_DECRYPTION") }
    var isDecrypted: Bool { words.contains("DECRYPTION_OKAY") && !words.contains("DECRYPTION_FAILED") }
    var hasNoKey: Bool { words.contains("NO_SECKEY") }
    var isCancelled: Bool { !keyErrors.isDisjoint(with: [99, 198]) }

    /// libgpg-error's numbers for a wrong passphrase or PIN, for a pinentry, an agent or a card that is missing, and for a question
    /// that nobody answered. With every other number the file is damaged.
    private static let ofKeys: Set<UInt32> = [11, 62, 77, 78, 80, 85, 86, 87, 108, 109, 110, 111, 112, 114, 130]

    var hasUnusableKey: Bool { !keyErrors.isDisjoint(with: Self.ofKeys) }
}
