// The process that clears the clipboard later. It outlives the command and the shell. It has no secret but a digest of the
// copied text under a key of its own.

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
internal import OMCrypto
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// The waiting process, as the command sees it.
struct ClipboardWait {
    /// The only argument of the process.
    static let word = "clear-the-clipboard"

    fileprivate static let descriptor: Int32 = 3
    private let mark: ClipboardMark?
    /// Its other end is in the process.
    private let socket: Int32

    /// Runs `body` while no other command copies. Otherwise each of two commands could end the wait of the other.
    ///
    /// - Throws: What `body` throws, and ``ExitStatus/busy`` if another command copies for a minute.
    static func whileNoOtherCopies<R>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        guard let folder = ClipboardMark.folder() else { return try body() }
        return try folder.lock(".lock").hold(body)
    }

    /// Starts the process before the text is copied, so that no text is copied that would stay.
    ///
    /// - Throws: ``ExitStatus/clipboard``.
    static func start(
        for secret: borrowing SecretBytes, _ program: ClipboardProgram, after seconds: UInt32
    ) throws(Failure) -> ClipboardWait {
        let mark = ClipboardMark(of: program)
        guard let job = ClipboardJob(seconds: seconds, mark: mark?.number ?? "", of: secret), let socket = hand(job) else {
            throw Failure(
                .clipboard, "nothing was copied: the process that clears the clipboard did not start",
                hint: "--clip=0 copies without clearing")
        }
        return ClipboardWait(mark: mark, socket: socket)
    }

    private static func hand(_ job: borrowing ClipboardJob) -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard om_socket_pair(&ends) == 0 else { return nil }
        let child = ["omvault-full", word].withCArguments { om_spawn_detached("/proc/self/exe", $0, environ, ends[1]) }
        close(ends[1])
        var ready: UInt8 = 0
        guard child > 0, job.bytes.withBytes({ writeAll($0, to: ends[0]) }) == nil, read(ends[0], &ready, 1) == 1 else {
            close(ends[0])
            return nil
        }
        return ends[0]
    }

    /// Starts the time. Call it once the text is copied.
    ///
    /// - Returns: Whether the process has found the text in the clipboard. If not, it cannot clear it, and has ended.
    func begin() -> Bool {
        defer { close(socket) }
        var isThere: UInt8 = 0
        return writeAll([1].span, to: socket) == nil && read(socket, &isThere, 1) == 1 && isThere == 1
    }

    /// Ends the process without clearing anything, instead of ``begin()``. Then its mark is gone.
    func stop() {
        _ = writeAll([0].span, to: socket)
        var end: UInt8 = 0
        _ = read(socket, &end, 1)
        close(socket)
    }

    /// Ends the processes that wait to clear the same clipboard: their time would be up earlier.
    static func endOthers(than wait: ClipboardWait?, of program: ClipboardProgram) {
        (wait?.mark ?? ClipboardMark(of: program))?.endOthers()
    }
}

/// A file that tells a later copy of the process that waits. Its name has the clipboard, and a number of the process. A later
/// copy ends the process by another name for the file.
private struct ClipboardMark {
    private let files: PrivateFolder
    private let place: String
    let number: String

    private static let ended = ".ended"
    private var name: String { "\(place).\(number)" }

    /// Nil without a folder for it. Then no process ends early.
    init?(of program: ClipboardProgram, number: String = Hex.encode(Random.bytes(8))) {
        guard let files = Self.folder() else { return nil }
        self.files = files
        place = Hex.encode(Array(PublicHash.hash(Array(program.place.utf8)).prefix(8)))
        self.number = number
    }

    static func folder() -> PrivateFolder? {
        guard let folder = try? RuntimeFolder.ofUser(Environment.text, makes: true) else { return nil }
        return try? PrivateFolder.make("\(folder.path)/clipboard")
    }

    /// The file has the number of this process.
    func make() -> Bool {
        let process = Array("\(getpid())\n".utf8)
        return (try? files.create(name, holding: process.span)) != nil
    }

    func remove() {
        _ = try? files.remove(name)
        _ = try? files.remove(name + Self.ended)
    }

    func endOthers() {
        for other in (try? files.names()) ?? [] where other.hasPrefix("\(place).") && other != name {
            if isLeft(other) {
                _ = try? files.remove(other)
            } else if !other.hasSuffix(Self.ended) {
                _ = rename(files.file(other), files.file(other + Self.ended))
            }
        }
    }

    /// Whether the process of a mark was killed, or was on an earlier boot.
    private func isLeft(_ mark: String) -> Bool {
        guard let bytes = try? files.read(mark, limit: 16),
            let process = pid_t(String(decoding: bytes, as: UTF8.self).dropLast()), process > 0
        else { return false }
        return kill(process, 0) != 0 && errno == ESRCH
    }

    var isThere: Bool { access(files.file(name), F_OK) == 0 }

    /// Whether a later copy ended the process. A removed file, or folder, does not.
    var isEnded: Bool { access(files.file(name + Self.ended), F_OK) == 0 }

    /// Readable after a removal.
    func removals() -> Int32 { om_removals(files.path) }
}

/// What the process gets: seconds (4 bytes, big-endian), key (32), digest (32), and as text the number of its mark, a blank and
/// the folder of the command.
private struct ClipboardJob: ~Copyable {
    let bytes: SecretBytes

    private static let (seconds, key, digest) = (0..<4, 4..<36, 36..<68)
    static let longest = 128 + Int(PATH_MAX)

    init?(seconds: UInt32, mark: String, of secret: borrowing SecretBytes) {
        let key = SecretBytes.random(Self.key.count)
        guard let digest = secret.withBytes({ Self.digest(of: $0, key) }) else { return nil }
        var job = SecretBuffer(capacity: Self.longest)
        withUnsafeBytes(of: seconds.bigEndian) { for byte in $0 { job.append(byte) } }
        job.append(key)
        job.append(digest)
        job.append("\(mark) \(AbsolutePath.absolute("."))".utf8Span.span)
        bytes = job.finish()
    }

    init?(_ bytes: consuming SecretBytes) {
        guard (Self.digest.upperBound...Self.longest).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Without a key, a digest of a short secret would be the secret: each guess can be compared.
    private static func digest(of text: Span<UInt8>, _ key: borrowing SecretBytes) -> SecretBytes? {
        try? HMAC.tag(of: text, .sha256, key: key)
    }

    var time: UInt32 { bytes.withBytes { bytes in Self.seconds.reduce(0) { $0 << 8 | UInt32(bytes[$1]) } } }

    private var texts: [Substring] {
        bytes.withBytes { bytes in String(decoding: (Self.digest.upperBound..<bytes.count).map { bytes[$0] }, as: UTF8.self) }
            .split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    }

    var mark: String { String(texts.first ?? "") }

    /// Where a program or a file with a relative path is.
    var folder: String { String(texts.last ?? "/") }

    /// Whether it is the copied text, perhaps with a newline that the user's own program adds. On Windows that has two bytes.
    func isOf(_ text: borrowing SecretBytes) -> Bool {
        let key = bytes.withBytes { SecretBytes(copying: $0.extracting(Self.key)) }
        let copied = bytes.withBytes { SecretBytes(copying: $0.extracting(Self.digest)) }
        return text.withBytes { text in
            var ends = [text.count]
            for byte in [UInt8(ascii: "\n"), UInt8(ascii: "\r")] {
                guard let end = ends.last, end > 0, text[end - 1] == byte else { break }
                ends.append(end - 1)
            }
            return ends.contains { Self.digest(of: text.extracting(0..<$0), key)?.isEqual(to: copied) == true }
        }
    }
}

extension ClipboardWait {
    /// Whether this is that process. A user who types its word has no such descriptor.
    static func isCalled(by arguments: [String]) -> Bool {
        arguments == [word] && om_socket_is_connected(descriptor) == 1
    }

    /// The process itself.
    static func run() -> Never {
        var bytes = SecretBuffer(capacity: ClipboardJob.longest)
        // The command writes all of it at once, and waits.
        bytes.append(upTo: ClipboardJob.longest) { free in
            max(0, free.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) })
        }
        guard let job = ClipboardJob(bytes.finish()), let program = try? ClipboardProgram.found() else { exit(1) }
        // Watched before it is made, and before the command is told, so that no removal is missed.
        var mark = job.mark.isEmpty ? nil : ClipboardMark(of: program, number: job.mark)
        let removals = mark?.removals() ?? -1
        if mark?.make() == false { mark = nil }
        // A logout ends this process with one of these. The clipboard may outlive it, so it is cleared at once.
        let signals = om_signal_descriptor(), timer = om_boot_timer()
        guard signals >= 0, timer >= 0, writeAll([1].span, to: descriptor) == nil else { exit(1) }
        // A command that was killed may have copied the text.
        var isCopied: UInt8 = 1
        let isTold = read(descriptor, &isCopied, 1) == 1
        if isCopied == 1 {
            // Not a part of a second too early.
            let start = (om_boot_milliseconds() + 999) / 1000
            guard om_boot_timer_set(timer, start + Int64(job.time)) == 0 else { exit(1) }
            let isThere = !isTold || job.isIn(program)
            _ = writeAll([isThere ? 1 : 0].span, to: descriptor)
            close(descriptor)
            if isThere {
                wait(timer, signals, removals, for: mark)
                if job.isIn(program) { job.inFolder { program.empty() } }
            }
        }
        mark?.remove()
        exit(0)
    }

    /// Waits for the time, a signal or the removal of the mark. Ends the process if a later copy says so.
    private static func wait(_ timer: Int32, _ signals: Int32, _ removals: Int32, for mark: ClipboardMark?) {
        while true {
            var waiting = [timer, signals, removals].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&waiting, nfds_t(waiting.count), -1) >= 0 || errno == EINTR else { return }
            if waiting[0].revents != 0 || waiting[1].revents != 0 { return }
            if waiting[2].revents != 0 {
                om_removals_seen(removals)
                guard let mark, !mark.isThere else { continue }
                guard mark.isEnded else { return }
                mark.remove()
                exit(0)
            }
        }
    }
}

extension ClipboardJob {
    /// Whether the clipboard has the text.
    fileprivate func isIn(_ program: ClipboardProgram) -> Bool {
        guard let text = inFolder({ program.text() }) else { return false }
        return isOf(text)
    }

    /// The process holds no folder while it waits.
    fileprivate func inFolder<R: ~Copyable>(_ body: () -> R) -> R {
        chdir(folder)
        defer { chdir("/") }
        return body()
    }
}
