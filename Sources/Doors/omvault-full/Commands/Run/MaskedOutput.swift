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
    private let ends: ProgramPipe
    /// Closed to end the threads before the output ends.
    private let stop: ProgramPipe
    /// How long a program's output is waited for after a signal that asked for its end, in milliseconds.
    private static let graceAfterSignal: Int32 = 1000
    /// How long it may take then to write what was read, in milliseconds.
    private static let graceForWriting: Int32 = 5000

    /// - Throws: ``ExitStatus/io``.
    init(_ handover: Handover) throws(Failure) {
        ends = try ProgramPipe()
        stop = try ProgramPipe()
        // One pipe if both lead to the same place, so that their lines keep their order.
        let places =
            Self.areSame(STDOUT_FILENO, STDERR_FILENO)
            ? [[STDOUT_FILENO, STDERR_FILENO]] : [[STDOUT_FILENO], [STDERR_FILENO]]
        var streams: [Stream] = []
        for numbers in places {
            let pipe = try ProgramPipe()
            for number in numbers {
                try handover.give(pipe.writing, as: number)
            }
            streams.append(Stream(pipe, to: numbers[0], handover.mask, ends, stop: stop))
        }
        self.streams = streams
    }

    /// Starts the threads. The program's ends of the pipes are those of the handover.
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
    /// - Parameters:
    ///   - signals: The descriptor of signals that end the wait.
    ///   - isEnding: Whether a signal asked for the program's end before. Then the wait is short.
    func waitForEnd(orSignal signals: Int32, isEnding: Bool) {
        var left = streams.count
        wait(&left, signals, limit: isEnding ? Self.graceAfterSignal : -1)
        guard left > 0 else { return }
        // What the threads hold back is written all the same.
        stop.closeWriting()
        wait(&left, -1, limit: Self.graceForWriting)
    }

    private func wait(_ left: inout Int, _ signals: Int32, limit: Int32) {
        while left > 0 {
            var waiting = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&waiting, 2, limit)
            guard count > 0 || count < 0 && errno == EINTR else { return }
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

private final class Stream: Sendable {
    let pipe: ProgramPipe
    private let target: Int32
    private let mask: OutputMask
    private let ends: ProgramPipe
    private let stop: ProgramPipe
    private let failed = Atomic(false)

    var hasFailed: Bool { failed.load(ordering: .acquiring) }

    init(_ pipe: ProgramPipe, to target: Int32, _ mask: OutputMask, _ ends: ProgramPipe, stop: ProgramPipe) {
        (self.pipe, self.target, self.mask, self.ends, self.stop) = (pipe, target, mask, ends, stop)
    }

    /// Reads to the end of the pipe, or until it is to stop. If nothing takes the output any more, the program gets SIGPIPE as without the pipe.
    func pass() {
        var stream = MaskedStream()
        // As much as a pipe holds, so one more read gets all that was written before the stop.
        var piece = SecretScratch(count: 64 << 10)
        var isLast = false
        while true {
            let count =
                isAtEnd(&isLast)
                ? 0
                : piece.withMutableBytes(0..<piece.count) { bytes in
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

    /// Waits until there is something to read, or until it is to stop.
    ///
    /// - Parameter isLast: Whether it was to stop before.
    private func isAtEnd(_ isLast: inout Bool) -> Bool {
        guard !isLast else { return true }
        var waiting = [
            pollfd(fd: stop.reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waiting, 2, -1) < 0, errno == EINTR {}
        isLast = waiting[0].revents != 0
        return isLast && waiting[1].revents == 0
    }

    private func isWritten(_ bytes: Span<UInt8>) -> Bool {
        guard let code = writeAll(bytes, to: target) else { return true }
        // The caller closed it, so that no output can be lost there.
        guard code != EBADF else { return true }
        if code != EPIPE {
            failed.store(true, ordering: .releasing)
            Failure(.io, "the program's output cannot be written", errno: code).report(asJSON: false)
        }
        return false
    }
}
