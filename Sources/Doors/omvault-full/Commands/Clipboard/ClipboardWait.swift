// The process that clears the clipboard later. It outlives the command and the shell. It has no secret but a digest of the
// copied text under a key of its own.

internal import COMSystem
internal import Glibc
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

    /// Starts the process before the text is copied, so that no text is copied that would stay.
    ///
    /// - Throws: ``ExitStatus/clipboard``.
    static func start(
        for secret: borrowing SecretBytes, _ program: ClipboardProgram, after seconds: UInt32
    ) throws(Failure) -> ClipboardWait {
        let mark = ClipboardMark(of: program)
        guard let job = ClipboardJob(seconds: seconds, mark: mark?.number ?? "", of: secret), hand(job) else {
            throw Failure(
                .clipboard, "nothing was copied: the process that clears the clipboard did not start",
                hint: "--clip=0 copies without clearing")
        }
        return ClipboardWait(mark: mark)
    }

    private static func hand(_ job: borrowing ClipboardJob) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard om_socket_pair(&ends) == 0 else { return false }
        defer { close(ends[0]) }
        let child = ["omvault-full", word].withCArguments { om_spawn_detached("/proc/self/exe", $0, environ, ends[1]) }
        close(ends[1])
        var ready: UInt8 = 0
        return child > 0 && job.bytes.withBytes { writeAll($0, to: ends[0]) } == nil && read(ends[0], &ready, 1) == 1
    }

    /// Ends it without clearing anything.
    func stop() { mark?.remove() }

    /// Ends the processes that wait to clear the same clipboard: their time would be up earlier.
    func replaceOthers() { mark?.removeOthers() }
}

/// A file whose removal ends the process that waits. Its name has the clipboard, and a number of the process.
private struct ClipboardMark {
    private let folder: PrivateFolder
    private let place: String
    let number: String

    private var name: String { "\(place).\(number)" }

    /// Nil without a folder for it. Then no process ends early.
    init?(of program: ClipboardProgram, number: String = Hex.encode(Random.bytes(8))) {
        guard let runtime = Environment.text("XDG_RUNTIME_DIR"), FilePath.isAbsolute(runtime),
            (try? PrivateFolder(runtime)) != nil,
            let folder = try? PrivateFolder.make("\(runtime)/omvault/clipboard")
        else { return nil }
        self.folder = folder
        place = Hex.encode(Array(PublicHash.hash(Array(program.place.utf8)).prefix(8)))
        self.number = number
    }

    /// The file has the number of this process.
    func make() -> Bool {
        let process = Array("\(getpid())\n".utf8)
        return (try? folder.create(name, holding: process.span)) != nil
    }

    func remove() { _ = try? folder.remove(name) }

    func removeOthers() {
        for other in (try? folder.names()) ?? [] where other.hasPrefix("\(place).") && other != name {
            _ = try? folder.remove(other)
        }
    }

    var isThere: Bool { access(folder.file(name), F_OK) == 0 }

    /// Readable after a removal.
    func removals() -> Int32 { om_removals(folder.path) }
}

/// What the process gets: seconds (4 bytes, big-endian), key (32), digest (32), and the number of its mark as text.
private struct ClipboardJob: ~Copyable {
    let bytes: SecretBytes

    private static let (seconds, key, digest) = (0..<4, 4..<36, 36..<68)
    static let longest = 128

    init?(seconds: UInt32, mark: String, of secret: borrowing SecretBytes) {
        let key = SecretBytes.random(Self.key.count)
        guard let digest = secret.withBytes({ Self.digest(of: $0, key) }) else { return nil }
        var job = SecretBuffer(capacity: Self.longest)
        withUnsafeBytes(of: seconds.bigEndian) { for byte in $0 { job.append(byte) } }
        job.append(key)
        job.append(digest)
        job.append(mark.utf8Span.span)
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

    var mark: String {
        bytes.withBytes { bytes in String(decoding: (Self.digest.upperBound..<bytes.count).map { bytes[$0] }, as: UTF8.self) }
    }

    /// Whether it is the copied text, perhaps with a newline that the user's own program adds.
    func isOf(_ text: borrowing SecretBytes) -> Bool {
        let key = bytes.withBytes { SecretBytes(copying: $0.extracting(Self.key)) }
        let copied = bytes.withBytes { SecretBytes(copying: $0.extracting(Self.digest)) }
        return text.withBytes { text in
            let ends = text.count > 0 && text[text.count - 1] == UInt8(ascii: "\n") ? [text.count, text.count - 1] : [text.count]
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
        guard signals >= 0, timer >= 0, om_boot_timer_set(timer, om_boot_milliseconds() / 1000 + Int64(job.time)) == 0,
            writeAll([1].span, to: descriptor) == nil
        else { exit(1) }
        close(descriptor)
        wait(timer, signals, removals, for: mark)
        // A program that shows the clipboard may never end.
        alarm(10)
        if let text = program.text(), job.isOf(text) { program.empty() }
        mark?.remove()
        exit(0)
    }

    /// Waits for the time or a signal. Ends the process if its mark is gone.
    private static func wait(_ timer: Int32, _ signals: Int32, _ removals: Int32, for mark: ClipboardMark?) {
        while true {
            var waiting = [timer, signals, removals].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&waiting, nfds_t(waiting.count), -1) >= 0 || errno == EINTR else { return }
            if waiting[0].revents != 0 || waiting[1].revents != 0 { return }
            if waiting[2].revents != 0 {
                om_removals_seen(removals)
                if mark?.isThere == false { exit(0) }
            }
        }
    }
}
