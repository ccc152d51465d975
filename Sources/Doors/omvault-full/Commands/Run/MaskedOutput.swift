// The standard output and error of a program, on their way through the mask.

internal import COMSystem
internal import Glibc
internal import OMMasking
internal import OMSecrets
internal import OMShell
internal import OMSystem
internal import Synchronization

/// Pipes from a program to this process's own output, each with a thread that replaces the values.
final class MaskedOutput: Sendable {
    private let streams: [Stream]
    /// Gets a byte when a thread has ended.
    private let ends: Pipe

    /// - Throws: ``ExitStatus/io``.
    init(_ handover: Handover) throws(Failure) {
        ends = try Pipe()
        // One pipe if both lead to the same place, so that their lines keep their order.
        let places =
            Self.areSame(STDOUT_FILENO, STDERR_FILENO)
            ? [[STDOUT_FILENO, STDERR_FILENO]] : [[STDOUT_FILENO], [STDERR_FILENO]]
        var streams: [Stream] = []
        for numbers in places {
            let pipe = try Pipe()
            for number in numbers {
                let copy = fcntl(pipe.writing, F_DUPFD_CLOEXEC, 256)
                guard copy >= 0 else { throw Pipe.failure(errno) }
                handover.give(copy, as: number)
            }
            streams.append(Stream(pipe, to: numbers[0], handover.mask, ends))
        }
        self.streams = streams
    }

    /// Starts the threads. Call it when the program has its ends of the pipes.
    ///
    /// - Throws: ``ExitStatus/general`` if there can be no thread.
    func start() throws(Failure) {
        for stream in streams {
            stream.pipe.closeWriting()
            let code = DetachedThread.start { stream.pass() }
            guard code == 0 else { throw Failure(.general, "the program's output cannot be read", errno: code) }
        }
    }

    /// Whether a part of the output was lost, because it could not be written. Then an error was printed.
    var hasFailed: Bool { streams.contains { $0.hasFailed } }

    /// Waits until everything is written, also what other processes write that the program has started.
    ///
    /// - Parameter signals: The descriptor of signals that end the wait.
    func waitForEnd(orSignal signals: Int32) {
        var left = streams.count
        while left > 0 {
            var waiting = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waiting, 2, -1) >= 0 || errno == EINTR else { return }
            if waiting[0].revents != 0, om_child_signal_ends(signals) == 1 { return }
            guard waiting[1].revents != 0 else { continue }
            var bytes: (UInt8, UInt8) = (0, 0)
            left -= max(0, read(ends.reading, &bytes, 2))
        }
    }

    private static func areSame(_ one: Int32, _ other: Int32) -> Bool {
        var (first, second) = (stat(), stat())
        guard fstat(one, &first) == 0, fstat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
}

/// Both ends close with it.
private final class Pipe: Sendable {
    let reading: Int32
    let writing: Int32
    private let isReadingClosed = Atomic(false)
    private let isWritingClosed = Atomic(false)

    init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard om_pipe(&ends) == 0 else { throw Self.failure(errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        closeReading()
        closeWriting()
    }

    func closeReading() {
        if !isReadingClosed.exchange(true, ordering: .relaxed) { close(reading) }
    }

    func closeWriting() {
        if !isWritingClosed.exchange(true, ordering: .relaxed) { close(writing) }
    }

    static func failure(_ code: Int32) -> Failure { Failure(.io, "a pipe cannot be made for the program's output", errno: code) }
}

private final class Stream: Sendable {
    let pipe: Pipe
    private let target: Int32
    private let mask: OutputMask
    private let ends: Pipe
    private let failed = Atomic(false)

    var hasFailed: Bool { failed.load(ordering: .acquiring) }

    init(_ pipe: Pipe, to target: Int32, _ mask: OutputMask, _ ends: Pipe) {
        (self.pipe, self.target, self.mask, self.ends) = (pipe, target, mask, ends)
    }

    /// Reads to the end of the pipe. If nothing takes the output any more, the program gets SIGPIPE as without the pipe.
    func pass() {
        var stream = MaskedStream()
        var piece = SecretScratch(count: 64 << 10)
        while true {
            let count = piece.withMutableBytes(0..<piece.count) { bytes in
                bytes.withUnsafeMutableBytes { read(pipe.reading, $0.baseAddress, $0.count) }
            }
            if count < 0, errno == EINTR { continue }
            let shown = count > 0 ? piece.withBytes(count) { stream.add($0, mask.mask) } : stream.finish(mask.mask)
            guard isWritten(shown.span), count > 0 else { break }
        }
        pipe.closeReading()
        var byte: UInt8 = 0
        _ = write(ends.writing, &byte, 1)
    }

    private func isWritten(_ bytes: Span<UInt8>) -> Bool {
        guard let code = writeAll(bytes, to: target) else { return true }
        if code != EPIPE {
            failed.store(true, ordering: .releasing)
            Failure(.io, "the program's output cannot be written", errno: code).report(asJSON: false)
        }
        return false
    }
}
